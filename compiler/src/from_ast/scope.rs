//! Scopes while the tree is evaluated: a stack of blocks, each with its parent. The body of a function has the scope of
//! its definition as parent, not that of the caller, and sees there only what was defined before it.

use crate::from_ast::Builder;
use crate::from_ast::value::{Eval, Poisoned};
use crate::source::FileId;
use grammar::ast::FnDef;
use std::collections::BTreeMap;

/// A scope on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScopeId(pub(super) usize);

/// A value with the place of its name in the text of its scope.
pub(super) struct Slot {
    pub(super) value: Eval,
    pub(super) position: usize,
}

/// A function with its file and the scope of its definition.
#[derive(Clone, Copy)]
pub(super) struct Function<'a> {
    pub(super) def: &'a FnDef,
    pub(super) file: FileId,
    pub(super) scope: ScopeId,
}

/// A function; None if two share the name, which was reported.
pub(super) type Definition<'a> = Option<Function<'a>>;

/// One block.
#[derive(Default)]
pub(super) struct Scope<'a> {
    pub(super) values: BTreeMap<String, Slot>,
    pub(super) functions: BTreeMap<String, Definition<'a>>,
    parent: Option<ScopeId>,
    /// values of parents defined from here on are out of sight
    horizon: Option<usize>,
}

impl<'a> Builder<'a> {
    /// Runs `f` in a new scope; with a horizon it is the body of a function defined in `parent` at that place.
    pub(super) fn scoped<T>(
        &mut self,
        parent: Option<ScopeId>,
        horizon: Option<usize>,
        f: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.scope;
        self.scope = ScopeId(self.scopes.len());
        self.scopes.push(Scope { parent, horizon, ..Scope::default() });
        let result = f(self);
        self.scopes.truncate(self.scope.0);
        self.scope = outer;
        result
    }

    /// Runs `f` in a block inside the present scope.
    pub(super) fn block<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.scoped(Some(self.scope), None, f)
    }

    /// Defines a value in the present scope.
    pub(super) fn define(&mut self, name: &str, position: usize, value: Eval) {
        self.scopes[self.scope.0].values.insert(name.to_string(), Slot { value, position });
    }

    /// The scope that holds a value, as seen from the present scope.
    pub(super) fn holder(&self, name: &str) -> Option<ScopeId> {
        let (mut at, mut horizon) = (Some(self.scope), usize::MAX);
        while let Some(id) = at {
            let scope = &self.scopes[id.0];
            if scope.values.get(name).is_some_and(|slot| slot.position < horizon) {
                return Some(id);
            }
            horizon = horizon.min(scope.horizon.unwrap_or(usize::MAX));
            at = scope.parent;
        }
        None
    }

    /// A value; poisoned if there is none, which was reported when names were resolved.
    pub(super) fn lookup(&self, name: &str) -> Eval {
        let slot = self.holder(name).and_then(|id| self.scopes[id.0].values.get(name));
        slot.map_or(Err(Poisoned), |slot| slot.value.clone())
    }

    /// A function, if the program defines one of that name.
    pub(super) fn find_function(&self, name: &str) -> Option<Definition<'a>> {
        let mut at = Some(self.scope);
        while let Some(id) = at {
            let scope = &self.scopes[id.0];
            if let Some(definition) = scope.functions.get(name) {
                return Some(*definition);
            }
            at = scope.parent;
        }
        None
    }

    /// Makes functions known in the whole present scope.
    pub(super) fn hoist(&mut self, functions: impl Iterator<Item = &'a FnDef>) {
        for def in functions {
            let function = Function { def, file: self.file, scope: self.scope };
            self.define_function(function);
        }
    }

    /// Makes a function known in the present scope.
    pub(super) fn define_function(&mut self, function: Function<'a>) {
        let functions = &mut self.scopes[self.scope.0].functions;
        let name = &function.def.name.text;
        let twice = functions.contains_key(name);
        functions.insert(name.clone(), (!twice).then_some(function));
    }
}
