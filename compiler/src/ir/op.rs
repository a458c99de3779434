//! What a node of the graph does. Closed: every pass matches on all of it.

use plan::{Function, TensorOp, op::OpError};

/// An operation of the graph.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Input number `0` of the graph.
    Input(usize),
    /// Constant number `0` of the graph.
    Constant(usize),
    /// An operation on tensors; operands of element-wise operations have equal shapes.
    Tensor(TensorOp),
    /// A scalar function with the wishes of the program about its approximation. Its meaning is exact.
    Function {
        /// which function
        function: Function,
        /// interval, wishes
        wish: Approximation,
    },
    /// The operand, with a range that is trusted instead of the analysed one (`in [low, high]`).
    Assume {
        /// name of the value in the program
        name: String,
        /// smallest value
        low: f64,
        /// largest value
        high: f64,
    },
}

/// Named arguments of an approximated function; None leaves the choice to the compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Approximation {
    /// interval, trusted instead of the analysed range of the operand
    pub on: Option<(f64, f64)>,
    /// largest absolute error on the interval
    pub within: Option<f64>,
    /// degree of the polynomial
    pub degree: Option<u32>,
    /// half width of the zone around a jump where anything is allowed
    pub gap: Option<f64>,
}

impl Op {
    /// Shape of the result of an operation with operands.
    pub fn output_shape(&self, args: &[&[usize]]) -> Result<Vec<usize>, OpError> {
        match self {
            Op::Tensor(op) => op.output_shape(args),
            Op::Function { function, .. } => TensorOp::Apply { function: *function }.output_shape(args),
            Op::Assume { .. } => TensorOp::Neg.output_shape(args),
            Op::Input(_) | Op::Constant(_) => {
                Err(OpError::Arity { op: "input or constant", expected: 0, found: args.len() })
            }
        }
    }
}
