//! From the syntax tree to the graph: names, constants, shapes, ranges; functions inlined and loops unrolled.
//!
//! The graph is in a normal form that passes can rely on:
//! * element-wise operations have operands of equal shape; broadcasting is a step of its own;
//! * `Mul` and `MatMul` have two encrypted operands or two clear ones; a product of an encrypted and a clear tensor is
//!   `Linear` on the encrypted one, and so is every operation that moves or sums elements;
//! * what is known at compile time is folded in f64; constant nodes stand only where another node reads them;
//! * `Assume` without a name states a fact (a maximum lies between its operands, a softmax between 0 and 1) rather than
//!   an assumption of the program.
//!
//! All mistakes of a program are reported in one run: what depends on a mistake is silent.

mod arguments;
mod arithmetic;
mod builder;
mod builtins;
mod expression;
mod functions;
mod indexing;
mod names;
mod products;
mod recursion;
mod reductions;
mod resolve;
mod scope;
mod shaping;
mod statements;
mod value;

use crate::analysis::interval::show_number;
use crate::analysis::range::Ranges;
use crate::diag::{Code, Diagnostic, Diagnostics, Label};
use crate::ir::{Graph, Op};
use crate::source::{FileId, Loader, Sources};
use builder::Builder;
use grammar::ast::*;
use scope::{Function, ScopeId};

pub use statements::DEFAULT_PRECISION;

/// A file without a model, or a model without outputs.
pub const NO_MODEL: Code = Code("E0408");
/// A `within` above the precision of an output that depends on it.
pub const COARSE: Code = Code("W0601");

/// What the model says about its evaluation; None leaves the choice to the compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// `scheme`
    pub scheme: Option<SchemeChoice>,
    /// `security`, in bits
    pub security: Option<u32>,
    /// `bootstrap`
    pub bootstrap: Option<BootstrapChoice>,
    /// `memory`, in bytes
    pub memory: Option<u64>,
}

/// A program that was found right.
#[derive(Clone, Debug)]
pub struct Program {
    /// what it computes
    pub graph: Graph,
    /// the interval of every node
    pub ranges: Ranges,
    /// what it says about its evaluation
    pub directives: Settings,
    /// warnings
    pub warnings: Diagnostics,
}

/// Builds the graph of a program that was read. `found` are the mistakes in its texts ([`Sources::read`]); they are part
/// of the diagnostics of a refusal, with everything else that is wrong.
///
/// Overflow is not judged here: a caller that goes on, to find more mistakes, adds [`crate::analysis::range::overflows`].
pub fn build(sources: &Sources, found: Diagnostics, loader: &dyn Loader) -> Result<Program, Diagnostics> {
    let names = resolve::resolve(sources);
    let mut all = found;
    all.extend(names.errors);
    let Some(model) = sources.get(FileId::MAIN).and_then(|f| f.ast.model.as_ref()) else {
        if !all.has_errors() {
            let end = sources.get(FileId::MAIN).map_or(0, |f| f.text.len());
            let label = Label::main(grammar::Span::new(end, end), "expected `model name { .. }`");
            all.push(Diagnostic::error(NO_MODEL, "the program has no model", label));
        }
        return Err(all);
    };
    let mut builder = Builder::new(sources, loader, &model.name.text);
    builder.model(model);
    builder.check_withins();
    let text_is_right = !all.has_errors();
    all.extend(std::mem::take(&mut builder.found));
    if builder.graph.outputs.is_empty() && text_is_right && !all.has_errors() {
        let label = Label::main(model.name.span, "nothing comes out of it");
        let message = format!("the model `{}` has no output", model.name.text);
        all.push(
            Diagnostic::error(NO_MODEL, message, label).with_help("write `output y;` or `output y = ..;`"),
        );
    }
    if all.has_errors() {
        return Err(all);
    }
    all.extend(names.unused);
    all.extend(unused_inputs(&builder.graph));
    Ok(Program { graph: builder.graph, ranges: builder.ranges, directives: settings(model), warnings: all })
}

/// Warns of every input on which no output depends.
fn unused_inputs(graph: &Graph) -> Diagnostics {
    let mut found = Diagnostics::new();
    let live = graph.live();
    for id in graph.ids().filter(|id| !live[id.index()]) {
        if let Op::Input(i) = graph.node(id).op {
            let decl = &graph.inputs[i];
            let label = Label::main(decl.span.unwrap_or_default(), "no output depends on it");
            let message = format!("unused input `{}`", decl.name);
            let help = "it stays in the signature; remove it if nobody is to send it";
            found.push(Diagnostic::warning(names::UNUSED, message, label).with_help(help));
        }
    }
    found
}

fn settings(model: &Model) -> Settings {
    let mut settings = Settings::default();
    for directive in &model.directives {
        match directive.kind {
            DirectiveKind::Scheme(choice) => settings.scheme = Some(choice),
            DirectiveKind::Security(bits) => settings.security = Some(bits),
            DirectiveKind::Bootstrap(choice) => settings.bootstrap = Some(choice),
            DirectiveKind::Memory(bytes) => settings.memory = Some(bytes),
        }
    }
    settings
}

impl<'a> Builder<'a> {
    fn model(&mut self, model: &'a Model) {
        let mut known = vec![None; self.sources.iter().count()];
        let top = self.file_scope(FileId::MAIN, &mut known);
        self.file = FileId::MAIN;
        self.scope = top;
        self.block(|b| {
            b.model = Some(b.scope);
            b.statements(&model.body);
        });
    }

    /// The scope of a file: its functions and constants with those it imports. Scopes of files stay.
    fn file_scope(&mut self, id: FileId, known: &mut Vec<Option<ScopeId>>) -> ScopeId {
        if let Some(scope) = known[id.0 as usize] {
            return scope;
        }
        let file = self.sources.get(id);
        let imports: Vec<_> = file.into_iter().flat_map(|f| &f.imports).copied().collect();
        for (target, _) in &imports {
            self.file_scope(*target, known);
        }
        let scope = ScopeId(self.scopes.len());
        known[id.0 as usize] = Some(scope);
        self.scopes.push(Default::default());
        (self.scope, self.file) = (scope, id);
        for (target, span) in imports {
            self.import(target, span.start, known[target.0 as usize]);
        }
        let items = file.map_or(&[][..], |f| &f.ast.items);
        self.hoist(items.iter().filter_map(|i| if let Item::Fn(def) = i { Some(def) } else { None }));
        for item in items {
            match item {
                Item::Const(c) => self.constant(c),
                Item::Error(broken) => self.broken(broken),
                Item::Fn(_) => {}
            }
        }
        scope
    }

    fn import(&mut self, target: FileId, position: usize, scope: Option<ScopeId>) {
        let (Some(file), Some(scope)) = (self.sources.get(target), scope) else { return };
        for item in &file.ast.items {
            match item {
                Item::Fn(def) => self.define_function(Function { def, file: target, scope }),
                Item::Const(c) => {
                    let slot = self.scopes[scope.0].values.get(&c.name.text);
                    let value = slot.map_or(Err(value::Poisoned), |s| s.value.clone());
                    self.define(&c.name.text, position, value);
                }
                Item::Error(broken) => self.broken(broken),
            }
        }
    }

    /// Warns of every `within` that is above the precision of an output it reaches.
    fn check_withins(&mut self) {
        if self.withins.is_empty() {
            return;
        }
        let mut finest: Vec<Option<usize>> = vec![None; self.graph.len()];
        let precision = |outputs: &Graph, o: usize| outputs.outputs[o].precision;
        for (o, output) in self.graph.outputs.iter().enumerate() {
            let at = &mut finest[output.node.index()];
            if at.is_none_or(|other| precision(&self.graph, o) < precision(&self.graph, other)) {
                *at = Some(o);
            }
        }
        for id in self.graph.ids().rev() {
            let Some(o) = finest[id.index()] else { continue };
            for arg in self.graph.args(id) {
                let at = &mut finest[arg.index()];
                if at.is_none_or(|other| precision(&self.graph, o) < precision(&self.graph, other)) {
                    *at = Some(o);
                }
            }
        }
        for within in std::mem::take(&mut self.withins) {
            let Some(output) = finest[within.node.index()].map(|o| &self.graph.outputs[o]) else { continue };
            if within.value > output.precision {
                let message = format!(
                    "`within` {} is coarser than the precision {} of the output `{}`, which depends on it",
                    show_number(within.value),
                    show_number(output.precision),
                    output.name
                );
                let mut diagnostic =
                    Diagnostic::warning(COARSE, message, Label { text: "too coarse".into(), ..within.label });
                if let Some(span) = output.span {
                    diagnostic = diagnostic.with_label(Label::main(span, "this output"));
                }
                self.found.push(diagnostic);
            }
        }
    }
}
