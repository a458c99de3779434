//! Brings arguments of polynomials to the interval [-2, 2], where evaluation needs no level for it, if what makes the argument
//! takes the factor for nothing: [`crate::passes::absorb_scales`] then moves it there.

use crate::approximate::scheme::needs_map;
use crate::ir::{Graph, NodeId, Op};
use crate::passes::absorb_scales::Facts;
use crate::passes::rewrite::Rewrite;
use grammar::Span;
use plan::{LinearStep, TensorOp};

/// The same program with mapped arguments.
pub fn fit_arguments(g: &Graph) -> Graph {
    let facts = Facts::new(g);
    Rewrite::each(g, |r, id| {
        let node = g.node(id);
        let Op::Tensor(TensorOp::Chebyshev { coefficients, low, high }) = &node.op else { return r.copy(id) };
        if !needs_map(coefficients, *low, *high) || !facts.accepts(g.args(id)[0]) {
            return r.copy(id);
        }
        let u = mapped(r, r.args(id)[0], *low, *high, node.span);
        let op = TensorOp::Chebyshev { coefficients: coefficients.clone(), low: -2.0, high: 2.0 };
        r.tensor(op, &[u], node.span)
    })
}

/// The argument times a factor, plus a constant: `[low, high]` goes to [-2, 2].
fn mapped(r: &mut Rewrite, x: NodeId, low: f64, high: f64, span: Option<Span>) -> NodeId {
    let factor = 4.0 / (high - low);
    let steps = vec![LinearStep::ScaleBy { factor }];
    let scaled = r.tensor(TensorOp::Linear { steps }, &[x], span);
    let shift = -factor * (low + high) / 2.0;
    if shift == 0.0 {
        return scaled;
    }
    let shape = r.graph().shape(x).to_vec();
    let constant = r.uniform(&shape, shift, span);
    r.tensor(TensorOp::Add, &[scaled, constant], span)
}
