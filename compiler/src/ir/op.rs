//! What a node of the graph does. Closed: every pass matches on all of it.

use plan::{Function, Tensor, TensorOp, op::OpError};

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
        /// name of the value in the program; empty for a fact that holds by construction and is no assumption
        name: String,
        /// smallest value
        low: f64,
        /// largest value
        high: f64,
    },
    /// The operand, which stands for an exact value between `low` and `high` and misses it by `error` at most.
    Approximated {
        /// largest absolute error
        error: f64,
        /// smallest exact value
        low: f64,
        /// largest exact value
        high: f64,
    },
    /// `sum c_i x_i + constant` on operands of equal shape, at least one: a linear combination with one rescale.
    Combine {
        /// c_i, one per operand
        coefficients: Vec<f64>,
        /// added to every element
        constant: f64,
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
            Op::Assume { .. } | Op::Approximated { .. } => TensorOp::Neg.output_shape(args),
            Op::Combine { coefficients, .. } => combine_shape(coefficients, args),
            Op::Input(_) | Op::Constant(_) => {
                Err(OpError::Arity { op: "input or constant", expected: 0, found: args.len() })
            }
        }
    }

    /// Meaning in f64 of everything but inputs and constants, which the caller knows.
    pub fn eval(&self, args: &[&Tensor]) -> Result<Tensor, OpError> {
        let shapes: Vec<&[usize]> = args.iter().map(|t| t.shape()).collect();
        self.output_shape(&shapes)?;
        match self {
            Op::Tensor(op) => op.eval(args),
            Op::Function { function, .. } => Ok(args[0].map(|x| function.eval(x))),
            Op::Combine { coefficients, constant } => {
                let start = Tensor::full(shapes[0], *constant);
                let terms = coefficients.iter().zip(args);
                Ok(terms.fold(start, |sum, (&c, &x)| sum.zip(x, |s, v| s + c * v)))
            }
            Op::Assume { .. } | Op::Approximated { .. } => Ok(args[0].clone()),
            Op::Input(_) | Op::Constant(_) => {
                Err(OpError::Arity { op: "input or constant", expected: 0, found: 1 })
            }
        }
    }
}

fn combine_shape(coefficients: &[f64], args: &[&[usize]]) -> Result<Vec<usize>, OpError> {
    let op = "combine";
    if args.is_empty() || args.len() != coefficients.len() {
        return Err(OpError::Arity { op, expected: coefficients.len().max(1), found: args.len() });
    }
    match args.iter().find(|a| **a != args[0]) {
        Some(other) => Err(OpError::Shapes { op, a: args[0].to_vec(), b: other.to_vec() }),
        None => Ok(args[0].to_vec()),
    }
}
