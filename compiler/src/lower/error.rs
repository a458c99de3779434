//! Why a program has no plan. Every error carries what is needed and what is available, and the place it comes from.

use crate::diag::{Code, Diagnostic, Label};
use grammar::Span;
use plan::{Bytes, Scheme, verify::VerifyError};

/// The program needs more levels than the largest modulus has.
pub const TOO_DEEP: Code = Code("E0901");
/// A value is larger than a ciphertext can carry.
pub const OVERFLOW: Code = Code("E0902");
/// Matrices are larger than a frame of the scheme.
pub const TOO_WIDE: Code = Code("E0903");
/// A linear map has too many coefficients.
pub const TOO_LARGE: Code = Code("E0904");
/// The plan needs more memory than allowed.
pub const MEMORY: Code = Code("E0905");
/// No parameters at the wanted security.
pub const NO_PARAMETERS: Code = Code("E0906");
/// A plan of ours breaks a rule.
pub const INTERNAL: Code = Code("E0999");

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The modulus for the levels is beyond every secure ring.
    #[error(
        "the program needs {needed_levels} levels ({needed_bits:.0} bits of modulus) in {}, {available_levels} levels \
         ({available_bits:.0} bits) are available without a bootstrap", .scheme.name()
    )]
    TooDeep {
        /// scheme that was tried
        scheme: Scheme,
        /// levels from inputs to outputs, at least
        needed_levels: u32,
        /// levels the largest ring has at the same scale
        available_levels: u32,
        /// log2(PQ) of the program, at least
        needed_bits: f64,
        /// largest log2(PQ)
        available_bits: f64,
        /// ring dimension the limit is about
        degree: usize,
        /// bits of security asked for
        security: u32,
        /// whether bootstraps are switched off
        off: bool,
        /// places of the operations on the deepest path, last one first
        path: Vec<Span>,
    },
    /// An operation needs more levels than there are after a bootstrap.
    #[error(
        "this needs a value at level {needed}, bootstraps or not, the highest that can be had is {available}"
    )]
    OutOfReach {
        /// level of its operands
        needed: u32,
        /// highest they can have
        available: u32,
        /// the operation
        span: Option<Span>,
    },
    /// A value cannot be carried at the smallest useful scale.
    #[error(
        "overflow: a value can reach {value:.3e} here; ciphertexts carry at most {limit:.3e} at the smallest useful scale"
    )]
    Overflow {
        /// largest absolute value
        value: f64,
        /// what fits
        limit: f64,
        /// where it is computed
        span: Option<Span>,
    },
    /// The matrices of an encrypted product do not fit a frame.
    #[error(
        "an encrypted product of matrices up to {rows} x {cols} does not fit a ciphertext of {}, at most {limit} {what}",
        .scheme.name()
    )]
    TooWide {
        /// scheme that was tried
        scheme: Scheme,
        /// rows of the frame it would need
        rows: usize,
        /// columns of the frame it would need
        cols: usize,
        /// what there is
        limit: usize,
        /// unit of the limit
        what: &'static str,
        /// the product
        span: Option<Span>,
    },
    /// A linear map has too many coefficients to lay out.
    #[error("a linear map has up to {entries} coefficients, at most {limit} can be laid out")]
    TooLarge {
        /// coefficients
        entries: usize,
        /// limit
        limit: usize,
        /// the map
        span: Option<Span>,
    },
    /// The plan needs more memory than allowed.
    #[error("the plan needs {needed} of memory, {available} are allowed")]
    Memory {
        /// estimate
        needed: Bytes,
        /// limit given
        available: Bytes,
    },
    /// There are no primes for the ring and the scale.
    #[error("no primes of about {bits:.1} bits that are 1 modulo {step} for a ring of dimension {degree}")]
    NoPrimes {
        /// size asked for
        bits: f64,
        /// what the ring needs
        step: u64,
        /// ring dimension
        degree: usize,
    },
    /// A graph that is not in arithmetic form, or a security level without a table.
    #[error("{0}")]
    Unsupported(String, Option<Span>),
    /// The plan breaks a rule: an error of the compiler.
    #[error("the compiler made a plan that breaks a rule: {0}")]
    Verify(#[from] VerifyError),
}

/// What makes a program fit that is too deep, the cheapest first.
fn ways_out(needed: u32, available: u32, scheme: Scheme, off: bool) -> Vec<String> {
    let refresh = match (scheme, off) {
        (_, true) => "let values be bootstrapped with `bootstrap auto` or --bootstrap auto, in CKKS",
        (Scheme::Gl, false) => "take CKKS, which can bootstrap, with `scheme ckks` or --scheme ckks",
        (Scheme::Ckks, false) => {
            "cut the program in parts that decrypt between them: bootstraps would take days"
        }
    };
    let over = needed.saturating_sub(available);
    vec![
        "ask for a coarser precision: smaller scales leave room for more levels".to_string(),
        refresh.to_string(),
        format!("save {over} levels: fewer products in a row, approximations of a lower degree"),
    ]
}

impl PlanError {
    fn place(&self) -> (Code, Option<Span>) {
        match self {
            PlanError::TooDeep { path, .. } => (TOO_DEEP, path.first().copied()),
            PlanError::OutOfReach { span, .. } => (TOO_DEEP, *span),
            PlanError::Overflow { span, .. } => (OVERFLOW, *span),
            PlanError::TooWide { span, .. } => (TOO_WIDE, *span),
            PlanError::TooLarge { span, .. } => (TOO_LARGE, *span),
            PlanError::Memory { .. } => (MEMORY, None),
            PlanError::NoPrimes { .. } => (NO_PARAMETERS, None),
            PlanError::Unsupported(_, span) => (NO_PARAMETERS, *span),
            PlanError::Verify(_) => (INTERNAL, None),
        }
    }

    /// The message for the user: place, labels, what would help.
    pub fn diagnostic(&self) -> Diagnostic {
        let (code, span) = self.place();
        let primary = Label::main(span.unwrap_or_default(), self.label());
        let mut diagnostic = Diagnostic::error(code, self.to_string(), primary);
        match self {
            PlanError::TooDeep {
                path,
                degree,
                security,
                needed_levels,
                available_levels,
                scheme,
                off,
                ..
            } => {
                let mut distinct: Vec<Span> = Vec::new();
                path.iter().filter(|s| Some(**s) != span).for_each(|s| {
                    if !distinct.contains(s) {
                        distinct.push(*s);
                    }
                });
                for s in distinct.into_iter().take(4) {
                    diagnostic = diagnostic.with_label(Label::main(s, "on the deepest path"));
                }
                diagnostic = diagnostic
                    .with_note(format!("largest ring: dimension {degree} at {security} bits of security"));
                for way in ways_out(*needed_levels, *available_levels, *scheme, *off) {
                    diagnostic = diagnostic.with_help(way);
                }
            }
            PlanError::Overflow { .. } => {
                diagnostic =
                    diagnostic.with_help("scale the data down, or state a tighter range with `in [a, b]`");
            }
            PlanError::OutOfReach { .. } => {
                diagnostic = diagnostic
                    .with_help("state a tighter range with `in [a, b]`: large values need high levels, and beyond 2^20 no bootstrap")
                    .with_help("approximate with a lower degree, which takes fewer levels at once");
            }
            PlanError::TooWide { .. } => diagnostic = diagnostic.with_help("cut the product into blocks"),
            PlanError::Memory { .. } => {
                diagnostic = diagnostic
                    .with_help("allow more with --memory")
                    .with_help("take the other scheme with --scheme: `fhec explain` says what it needs")
                    .with_help("cut the batch: keys stay as large, values and masks shrink with it");
            }
            _ => {}
        }
        diagnostic
    }

    fn label(&self) -> &'static str {
        match self {
            PlanError::TooDeep { .. } => "this operation sets the depth",
            PlanError::OutOfReach { .. } => "this operation",
            PlanError::Overflow { .. } => "this value overflows",
            PlanError::TooWide { .. } => "this product",
            PlanError::TooLarge { .. } => "this map",
            _ => "",
        }
    }
}
