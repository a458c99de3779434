//! Operations on tensors and what they mean in f64. The interpreter, constant folding and clear parts of a plan
//! all evaluate them here, so there is one meaning.

use crate::function::Function;
use crate::linear::{self, LinearError, LinearStep};
use crate::tensor::{Tensor, show};
use serde::{Deserialize, Serialize};

/// An operation on tensors. Element-wise operands have equal shapes: broadcasting is a linear step before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TensorOp {
    /// a + b
    Add,
    /// a - b
    Sub,
    /// a * b, element-wise
    Mul,
    /// a / b, element-wise; only between clear tensors
    Div,
    /// -a
    Neg,
    /// a to a non-negative integer power
    Pow {
        /// the exponent
        exponent: u32,
    },
    /// a @ b, `[.., I, K] @ [.., K, J]` with equal batch axes
    MatMul,
    /// A chain of linear steps on the first operand; the others are the clear operands of the steps.
    Linear {
        /// the chain, first step first
        steps: Vec<LinearStep>,
    },
    /// An exact scalar function.
    Apply {
        /// which function
        function: Function,
    },
    /// `sum c_i x^i`
    Polynomial {
        /// c_0, c_1, ..
        coefficients: Vec<f64>,
    },
    /// `sum c_i T_i(u)` with `u` mapping `[low, high]` to [-1, 1]
    Chebyshev {
        /// c_0, c_1, ..
        coefficients: Vec<f64>,
        /// start of the interval
        low: f64,
        /// end of the interval
        high: f64,
    },
}

/// Why an operation does not apply to its operands.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OpError {
    /// Wrong number of operands.
    #[error("{op} takes {expected} operands, {found} given")]
    Arity {
        /// name of the operation
        op: &'static str,
        /// operands it takes
        expected: usize,
        /// operands given
        found: usize,
    },
    /// Operand shapes do not fit each other.
    #[error("{op} does not apply to shapes {} and {}", show(.a), show(.b))]
    Shapes {
        /// name of the operation
        op: &'static str,
        /// first shape
        a: Vec<usize>,
        /// second shape
        b: Vec<usize>,
    },
    /// A linear step does not apply.
    #[error(transparent)]
    Linear(#[from] LinearError),
}

impl TensorOp {
    /// Name in the text form.
    pub fn name(&self) -> &'static str {
        match self {
            TensorOp::Add => "add",
            TensorOp::Sub => "sub",
            TensorOp::Mul => "mul",
            TensorOp::Div => "div",
            TensorOp::Neg => "neg",
            TensorOp::Pow { .. } => "pow",
            TensorOp::MatMul => "matmul",
            TensorOp::Linear { .. } => "linear",
            TensorOp::Apply { function } => function.name(),
            TensorOp::Polynomial { .. } => "poly",
            TensorOp::Chebyshev { .. } => "cheb",
        }
    }

    /// Number of operands.
    pub fn arity(&self) -> usize {
        match self {
            TensorOp::Add | TensorOp::Sub | TensorOp::Mul | TensorOp::Div | TensorOp::MatMul => 2,
            TensorOp::Linear { steps } => {
                1 + steps.iter().filter_map(|s| s.operand()).map(|o| o.0 + 1).max().unwrap_or(0)
            }
            _ => 1,
        }
    }

    /// Shape of the result.
    pub fn output_shape(&self, args: &[&[usize]]) -> Result<Vec<usize>, OpError> {
        if args.len() != self.arity() {
            return Err(OpError::Arity { op: self.name(), expected: self.arity(), found: args.len() });
        }
        match self {
            TensorOp::Linear { steps } => Ok(linear::output_shape(steps, args[0])?),
            TensorOp::MatMul => {
                let (a, b) = (args[0], args[1]);
                let fits = a.len() >= 2
                    && a.len() == b.len()
                    && a[..a.len() - 2] == b[..b.len() - 2]
                    && a[a.len() - 1] == b[b.len() - 2];
                if !fits {
                    return Err(OpError::Shapes { op: self.name(), a: a.to_vec(), b: b.to_vec() });
                }
                Ok([&a[..a.len() - 1], &b[b.len() - 1..]].concat())
            }
            _ if self.arity() == 2 && args[0] != args[1] => {
                Err(OpError::Shapes { op: self.name(), a: args[0].to_vec(), b: args[1].to_vec() })
            }
            _ => Ok(args[0].to_vec()),
        }
    }

    /// The value in f64. Division by zero and domain errors give infinities and NaN, as IEEE has it: callers check.
    pub fn eval(&self, args: &[&Tensor]) -> Result<Tensor, OpError> {
        let shapes: Vec<&[usize]> = args.iter().map(|t| t.shape()).collect();
        let shape = self.output_shape(&shapes)?;
        Ok(match self {
            TensorOp::Add => args[0].zip(args[1], |x, y| x + y),
            TensorOp::Sub => args[0].zip(args[1], |x, y| x - y),
            TensorOp::Mul => args[0].zip(args[1], |x, y| x * y),
            TensorOp::Div => args[0].zip(args[1], |x, y| x / y),
            TensorOp::Neg => args[0].map(|x| -x),
            TensorOp::Pow { exponent } => args[0].map(|x| power(x, *exponent)),
            TensorOp::MatMul => matmul(args[0], args[1], shape),
            TensorOp::Linear { steps } => linear::apply(steps, args[0], &args[1..])?,
            TensorOp::Apply { function } => args[0].map(|x| function.eval(x)),
            TensorOp::Polynomial { coefficients } => {
                args[0].map(|x| coefficients.iter().rev().fold(0.0, |s, c| s * x + c))
            }
            TensorOp::Chebyshev { coefficients, low, high } => {
                args[0].map(|x| chebyshev(coefficients, (2.0 * x - low - high) / (high - low)))
            }
        })
    }
}

/// `x^e` by squaring: the same multiplications on every machine.
pub fn power(x: f64, mut e: u32) -> f64 {
    let (mut base, mut result) = (x, 1.0);
    while e > 0 {
        if e & 1 == 1 {
            result *= base;
        }
        base *= base;
        e >>= 1;
    }
    result
}

/// `sum c_i T_i(u)` by Clenshaw's recurrence; u in [-1, 1] for full accuracy.
pub fn chebyshev(c: &[f64], u: f64) -> f64 {
    let (mut b1, mut b2) = (0.0, 0.0);
    for &ci in c.iter().skip(1).rev() {
        (b1, b2) = (2.0 * u * b1 - b2 + ci, b1);
    }
    c.first().copied().unwrap_or(0.0) + u * b1 - b2
}

fn matmul(a: &Tensor, b: &Tensor, shape: Vec<usize>) -> Tensor {
    let rank = shape.len();
    let (rows, inner, columns) = (shape[rank - 2], a.shape()[rank - 1], shape[rank - 1]);
    let mut data = vec![0.0; shape.iter().product()];
    for (i, out) in data.chunks_exact_mut(columns).enumerate() {
        let batch = i / rows;
        for k in 0..inner {
            let x = a.data()[i * inner + k];
            let row = &b.data()[(batch * inner + k) * columns..][..columns];
            out.iter_mut().zip(row).for_each(|(o, y)| *o += x * y);
        }
    }
    Tensor::new(shape, data).expect("shape and data agree by construction")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matmul_is_batched() {
        let a = Tensor::new(vec![2, 1, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        let b = Tensor::new(vec![2, 2, 1], vec![5.0, 6.0, 7.0, 8.0]).unwrap();
        let c = TensorOp::MatMul.eval(&[&a, &b]).unwrap();
        assert_eq!((c.shape(), c.data()), (&[2, 1, 1][..], &[17.0, 53.0][..]));
        assert!(TensorOp::MatMul.eval(&[&a, &a]).is_err());
    }

    #[test]
    fn chebyshev_matches_its_definition() {
        let c = [0.25, 0.5, 0.0, 0.25, -0.125];
        for i in 0..=10 {
            let u = -1.0 + 0.2 * i as f64;
            let t =
                [1.0, u, 2.0 * u * u - 1.0, 4.0 * u * u * u - 3.0 * u, 8.0 * u.powi(4) - 8.0 * u * u + 1.0];
            let expect: f64 = c.iter().zip(t).map(|(c, t)| c * t).sum();
            assert!((chebyshev(&c, u) - expect).abs() < 1e-14);
        }
        assert_eq!(power(-1.5, 3), -3.375);
    }
}
