//! Shorter chains of linear steps with the same matrix.

use plan::{LinearStep, Operand};

/// An equivalent chain for an operand of shape `input` without steps that move nothing, and with neighbours of a kind merged.
/// `uniform` knows the clear operands that are one number repeated.
pub(crate) fn simplify_steps(
    steps: &[LinearStep],
    input: &[usize],
    uniform: impl Fn(Operand) -> Option<f64>,
) -> Vec<LinearStep> {
    let mut chain: Vec<(LinearStep, Vec<usize>)> = vec![];
    let mut shape = input.to_vec();
    for step in steps {
        let mut step = plainer(step, &shape, &uniform);
        let mut before = shape.clone();
        if let Ok(after) = step.output_shape(&shape) {
            shape = after;
        }
        while let Some((last, earlier)) = chain.last() {
            let Some(merged) = merge(last, &step, &before) else { break };
            (step, before) = (merged, earlier.clone());
            chain.pop();
        }
        if !is_identity(&step, &before) {
            chain.push((step, before));
        }
    }
    chain.into_iter().map(|c| c.0).collect()
}

/// The step in the terms of a simpler kind.
fn plainer(step: &LinearStep, x: &[usize], uniform: &impl Fn(Operand) -> Option<f64>) -> LinearStep {
    match step {
        LinearStep::Scale { by } => match uniform(*by) {
            Some(factor) => LinearStep::ScaleBy { factor },
            None => step.clone(),
        },
        LinearStep::Sum { axes } if axes.iter().all(|&a| x[a] == 1) => {
            let kept = (0..x.len()).filter(|a| !axes.contains(a)).map(|a| x[a]).collect();
            LinearStep::Reshape { shape: kept }
        }
        LinearStep::Broadcast { shape } if shape.iter().product::<usize>() == x.iter().product::<usize>() => {
            LinearStep::Reshape { shape: shape.clone() }
        }
        LinearStep::AvgPool2d { kernel: [1, 1], stride: [1, 1], padding: [0, 0] } => {
            LinearStep::ScaleBy { factor: 1.0 }
        }
        other => other.clone(),
    }
}

/// Whether a step gives back its operand of shape `x`.
fn is_identity(step: &LinearStep, x: &[usize]) -> bool {
    match step {
        LinearStep::Transpose { perm } => perm.iter().copied().eq(0..x.len()),
        LinearStep::Reshape { shape } | LinearStep::Broadcast { shape } => shape == x,
        LinearStep::Slice { start, step, count } => {
            start.iter().all(|&s| s == 0) && count == x && step.iter().zip(x).all(|(&s, &n)| s == 1 || n == 1)
        }
        LinearStep::Pad { before, after } => before.iter().chain(after).all(|&p| p == 0),
        LinearStep::Roll { axis, shift } => shift % x[*axis] == 0,
        LinearStep::Sum { axes } => axes.is_empty(),
        LinearStep::ScaleBy { factor } => *factor == 1.0,
        _ => false,
    }
}

/// One step for two, if there is one; `x` is the shape between them.
fn merge(first: &LinearStep, second: &LinearStep, x: &[usize]) -> Option<LinearStep> {
    use LinearStep as S;
    match (first, second) {
        (S::Transpose { perm: p }, S::Transpose { perm: q }) => {
            Some(S::Transpose { perm: q.iter().map(|&a| p[a]).collect() })
        }
        (S::Reshape { .. }, S::Reshape { shape }) => Some(S::Reshape { shape: shape.clone() }),
        (S::Broadcast { .. }, S::Broadcast { shape }) => Some(S::Broadcast { shape: shape.clone() }),
        (S::ScaleBy { factor: f }, S::ScaleBy { factor: g }) => Some(S::ScaleBy { factor: f * g }),
        (S::Roll { axis: a, shift: s }, S::Roll { axis: b, shift: t }) if a == b => {
            let n = x[*a];
            Some(S::Roll { axis: *a, shift: (s % n + t % n) % n })
        }
        (S::Slice { start: a, step: p, .. }, S::Slice { start: b, step: q, count }) => Some(S::Slice {
            start: (0..a.len()).map(|i| (a[i] as i64 + b[i] as i64 * p[i]) as usize).collect(),
            step: p.iter().zip(q).map(|(p, q)| p * q).collect(),
            count: count.clone(),
        }),
        (S::Pad { before: a, after: b }, S::Pad { before: c, after: d }) => {
            let add = |u: &[usize], v: &[usize]| u.iter().zip(v).map(|(u, v)| u + v).collect();
            Some(S::Pad { before: add(a, c), after: add(b, d) })
        }
        _ => None,
    }
}
