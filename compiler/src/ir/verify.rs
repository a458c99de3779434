//! Checks of a graph: what every pass may rely on, also in hand-written text.

use crate::ir::graph::{Graph, NodeId};
use crate::ir::op::Op;
use plan::TensorOp;

/// A broken rule of the graph, at a node. A mistake of the compiler or of hand-written text, never of a program.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{node}: {rule}")]
pub struct VerifyError {
    /// where
    pub node: NodeId,
    /// what is broken
    pub rule: Rule,
}

/// A rule of the graph.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Rule {
    /// Two inputs have the same number or one is read twice under two nodes.
    #[error("input {0} has a second node")]
    InputTwice(usize),
    /// A number in an operation is NaN or infinite.
    #[error("a number of the operation is not finite")]
    NotFinite,
    /// An interval is empty, or reversed.
    #[error("the interval [{low:?}, {high:?}] is empty")]
    Interval {
        /// start
        low: f64,
        /// end
        high: f64,
    },
    /// `Div` or an exact function has an encrypted operand.
    #[error("{0} is only for clear operands")]
    NotForCipher(&'static str),
    /// A linear chain has an encrypted operand beside the first one.
    #[error("operand {0} of a linear chain is encrypted: only the first one may be")]
    EncryptedStep(usize),
    /// An operation that the arithmetic form does not have.
    #[error("{0} of an encrypted value is left in the arithmetic form")]
    NotArithmetic(&'static str),
}

/// Checks every node of a graph of any stage.
pub fn verify(g: &Graph) -> Result<(), VerifyError> {
    let mut seen = vec![false; g.inputs.len()];
    for node in g.ids() {
        check(g, node, &mut seen).map_err(|rule| VerifyError { node, rule })?;
    }
    Ok(())
}

/// Checks that a graph is in the arithmetic form: see [`crate::passes::arithmetic`].
pub fn verify_arithmetic(g: &Graph) -> Result<(), VerifyError> {
    verify(g)?;
    for node in g.ids().filter(|&n| g.is_cipher(n)) {
        check_arithmetic(g, node).map_err(|rule| VerifyError { node, rule })?;
    }
    Ok(())
}

fn check(g: &Graph, id: NodeId, seen: &mut [bool]) -> Result<(), Rule> {
    let (op, args) = (&g.node(id).op, g.args(id));
    finite(op)?;
    match op {
        Op::Input(i) if std::mem::replace(&mut seen[*i], true) => Err(Rule::InputTwice(*i)),
        Op::Assume { low, high, .. } | Op::Approximated { low, high, .. } => interval(*low, *high),
        Op::Function { wish, .. } => wish.on.map_or(Ok(()), |(low, high)| interval(low, high)),
        Op::Tensor(TensorOp::Chebyshev { low, high, .. }) => interval(*low, *high),
        Op::Tensor(op @ (TensorOp::Div | TensorOp::Apply { .. })) if g.is_cipher(id) => {
            Err(Rule::NotForCipher(op.name()))
        }
        Op::Tensor(TensorOp::Linear { .. }) => match args.iter().skip(1).position(|&a| g.is_cipher(a)) {
            Some(at) => Err(Rule::EncryptedStep(at)),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

fn interval(low: f64, high: f64) -> Result<(), Rule> {
    if low <= high { Ok(()) } else { Err(Rule::Interval { low, high }) }
}

fn finite(op: &Op) -> Result<(), Rule> {
    let numbers: Vec<f64> = match op {
        Op::Assume { low, high, .. } => vec![*low, *high],
        Op::Approximated { error, low, high } => vec![*error, *low, *high],
        Op::Combine { coefficients, constant } => [&coefficients[..], &[*constant]].concat(),
        Op::Function { wish, .. } => {
            let on = wish.on.map_or(vec![], |(low, high)| vec![low, high]);
            on.into_iter().chain(wish.within).chain(wish.gap).collect()
        }
        Op::Tensor(TensorOp::Polynomial { coefficients }) => coefficients.clone(),
        Op::Tensor(TensorOp::Chebyshev { coefficients, low, high }) => {
            [&coefficients[..], &[*low, *high]].concat()
        }
        _ => vec![],
    };
    if numbers.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Rule::NotFinite) }
}

fn check_arithmetic(g: &Graph, id: NodeId) -> Result<(), Rule> {
    let args = g.args(id);
    let all_cipher = args.iter().all(|&a| g.is_cipher(a));
    match &g.node(id).op {
        Op::Input(_) | Op::Assume { .. } => Ok(()),
        Op::Combine { .. } if all_cipher => Ok(()),
        Op::Combine { .. } => Err(Rule::NotArithmetic("a combination")),
        Op::Constant(_) => Err(Rule::NotArithmetic("a constant")),
        Op::Function { function, .. } => Err(Rule::NotArithmetic(function.name())),
        Op::Approximated { .. } => Err(Rule::NotArithmetic("an approximated function")),
        Op::Tensor(op) => match op {
            TensorOp::Neg => Ok(()),
            TensorOp::Add | TensorOp::Linear { .. } if g.is_cipher(args[0]) => Ok(()),
            TensorOp::Sub | TensorOp::Mul | TensorOp::MatMul if all_cipher => Ok(()),
            other => Err(Rule::NotArithmetic(other.name())),
        },
    }
}
