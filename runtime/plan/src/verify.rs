//! Checks a plan that anybody may have written: operand order, shapes, levels, layouts, keys. A verified plan executes or
//! returns an error; it never computes a wrong number because of the plan.

use crate::bootstrap::{MAX_LOG_BOUND, SLOTS_TO_COEFFS};
use crate::layout::{Geometry, Shift, Split};
use crate::linear::{self, LinearStep, Operand};
use crate::params::{ParamsError, Scheme};
use crate::plan::{FORMAT, Form, Key, KeyKind, Node, Op, Plan, Secrecy};
use crate::product::{Product, clear_product};
use crate::ring::RingSpec;
use crate::units::{Level, NodeId};

/// What is wrong with a plan.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Another format version.
    #[error("the plan has format {found}, this program reads format {FORMAT}")]
    Format {
        /// version found
        found: u32,
    },
    /// The parameters are wrong.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The layout does not fit the ring.
    #[error("layout of {lanes} lanes of {rows} x {cols} does not fit the ring with {slots} slots")]
    Geometry {
        /// lanes of the plan
        lanes: usize,
        /// rows of the plan
        rows: usize,
        /// columns of the plan
        cols: usize,
        /// slots the ring has
        slots: usize,
    },
    /// A node breaks a rule.
    #[error("{node}: {rule}")]
    Node {
        /// the node
        node: NodeId,
        /// the rule it breaks
        rule: String,
    },
    /// An output names no node.
    #[error("output {name} names node {node}, the plan has {count}")]
    Output {
        /// name of the output
        name: String,
        /// number it names
        node: NodeId,
        /// nodes of the plan
        count: usize,
    },
    /// A key is missing.
    #[error("{node} needs a key the plan does not list: {kind:?} up to level {level}")]
    MissingKey {
        /// the node
        node: NodeId,
        /// kind of the key
        kind: KeyKind,
        /// level it is used at
        level: Level,
    },
}

/// Verifies a plan completely.
pub fn verify(plan: &Plan) -> Result<(), VerifyError> {
    if plan.format != FORMAT {
        return Err(VerifyError::Format { found: plan.format });
    }
    plan.params.check()?;
    geometry(plan)?;
    for i in 0..plan.nodes.len() {
        let id = NodeId(i as u32);
        node(plan, id).map_err(|rule| VerifyError::Node { node: id, rule })?;
    }
    for o in &plan.outputs {
        if o.node.index() >= plan.nodes.len() {
            return Err(VerifyError::Output { name: o.name.clone(), node: o.node, count: plan.nodes.len() });
        }
    }
    keys(plan)
}

fn geometry(plan: &Plan) -> Result<(), VerifyError> {
    let g: Geometry = plan.geometry;
    let fits = match (g.scheme, plan.params.ring) {
        (Scheme::Ckks, RingSpec::PowerOfTwo { .. }) => {
            g.rows.is_power_of_two() && g.cols.is_power_of_two() && g.slots() == plan.params.ring.degree() / 2
        }
        (Scheme::Gl, RingSpec::Gl { n, p }) => g.rows == n && g.cols == n && g.lanes == p - 1,
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let slots = plan.params.ring.degree() / 2;
    Err(VerifyError::Geometry { lanes: g.lanes, rows: g.rows, cols: g.cols, slots })
}

fn node(plan: &Plan, id: NodeId) -> Result<(), String> {
    let n = plan.node(id);
    if let Some(a) = n.args.iter().find(|a| **a >= id) {
        return Err(format!("operand {a} does not come before it"));
    }
    crate::tensor::size_of(&n.shape).map_err(|e| e.to_string())?;
    let args: Vec<&Node> = n.args.iter().map(|&a| plan.node(a)).collect();
    placement(plan, n)?;
    match n.form {
        Form::Clear => clear_node(plan, n, &args),
        Form::Cipher { level, .. } if level > plan.params.top() => {
            Err(format!("level {level} is above the highest level {}", plan.params.top()))
        }
        Form::Cipher { level, transposed, .. } => cipher_node(plan, n, &args, level, transposed),
    }
}

/// Most ciphertexts of one value.
const MAX_CIPHERTEXTS: usize = 1 << 16;

/// A placement fits the grid of tiles, and no two tiles share a position. Placements are of GL, whose tiles are square.
fn placement(plan: &Plan, n: &Node) -> Result<(), String> {
    let Some(p) = &n.placement else { return Ok(()) };
    same("scheme of a placement is GL", &Scheme::Gl, &plan.geometry.scheme)?;
    same("placement of a clear value", &false, &(n.form == Form::Clear))?;
    let layout = n.layout();
    let grid = plan.geometry.grid(&layout);
    same("number of strides", &grid.len(), &p.strides.len())?;
    let limit = MAX_CIPHERTEXTS.saturating_mul(plan.geometry.lanes);
    let reach = |count: usize, stride: usize| count.saturating_sub(1).saturating_mul(stride);
    let axes = grid.iter().zip(&p.strides).map(|(&n, &s)| reach(n, s));
    let copies = p.copies.iter().map(|c| reach(c.count, c.stride));
    let tiles = grid.iter().copied().chain(p.copies.iter().map(|c| c.count)).fold(1, usize::saturating_mul);
    if axes.chain(copies).fold(0, usize::saturating_add) >= limit || tiles > limit {
        return Err(format!("tiles by {:?} take more than {MAX_CIPHERTEXTS} ciphertexts", p.strides));
    }
    let taken = plan.geometry.contents(&layout).into_iter().flatten().count();
    same("tiles with a position of their own", &tiles, &taken)
}

fn clear_node(plan: &Plan, n: &Node, args: &[&Node]) -> Result<(), String> {
    if args.iter().any(|a| a.form != Form::Clear) {
        return Err("a clear result of an encrypted operand".into());
    }
    let shapes: Vec<&[usize]> = args.iter().map(|a| a.shape.as_slice()).collect();
    let shape = match &n.op {
        Op::Input(i) => plan
            .inputs
            .get(*i)
            .filter(|i| i.secrecy == Secrecy::Plain)
            .map(|i| i.shape.clone())
            .ok_or("it is no plain input of the plan")?,
        Op::Constant(c) => {
            plan.constants.get(*c).map(|c| c.value.shape().to_vec()).ok_or("there is no such constant")?
        }
        Op::Clear(op) => op.output_shape(&shapes).map_err(|e| e.to_string())?,
        _ => return Err("the operation gives a ciphertext, the node says clear".into()),
    };
    same("shape", &shape, &n.shape)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found {
        Ok(())
    } else {
        Err(format!("{what} is {found:?}, its operands give {expected:?}"))
    }
}

/// Level after an operation from the level of its operands, and whether operands must share shape and orientation.
fn cipher_node(plan: &Plan, n: &Node, args: &[&Node], level: Level, transposed: bool) -> Result<(), String> {
    let ct = |i: usize| -> Result<(Level, bool), String> {
        match args.get(i).map(|a| a.form) {
            Some(Form::Cipher { level, transposed, .. }) => Ok((level, transposed)),
            Some(Form::Clear) => Err(format!("operand {i} must be encrypted")),
            None => Err(format!("operand {i} is missing")),
        }
    };
    let pt = |i: usize| match args.get(i).map(|a| a.form) {
        Some(Form::Clear) => Ok(()),
        Some(_) => Err(format!("operand {i} must be clear")),
        None => Err(format!("operand {i} is missing")),
    };
    let spend = |from: Level, cost: u32| -> Result<(), String> {
        let after =
            from.after_rescales(cost).ok_or(format!("it needs {cost} levels, its operand has {from}"))?;
        same("level", &after, &level)
    };
    let elementwise = |count: usize, encrypted: usize, cost: u32| -> Result<(), String> {
        arity(args, count)?;
        let (from, held) = ct(0)?;
        for (i, arg) in args.iter().enumerate() {
            same("operand shape", &args[0].shape, &arg.shape)?;
            if i < encrypted {
                same("placement of the operand", &args[0].placement, &arg.placement)?;
                same("operand level and orientation", &(from, held), &ct(i)?)?;
            } else {
                pt(i)?;
            }
        }
        same("shape", &args[0].shape, &n.shape)?;
        same("orientation", &held, &transposed)?;
        same("placement", &args[0].placement, &n.placement)?;
        spend(from, cost)
    };
    let gl = plan.geometry.scheme == Scheme::Gl;
    match &n.op {
        Op::Input(i) => {
            arity(args, 0)?;
            let input = plan
                .inputs
                .get(*i)
                .filter(|i| i.secrecy == Secrecy::Cipher)
                .ok_or("it is no cipher input of the plan")?;
            same("shape", &input.shape, &n.shape)
        }
        Op::Constant(_) | Op::Clear(_) => {
            Err("the operation gives a clear value, the node says encrypted".into())
        }
        Op::Add | Op::Sub => elementwise(2, 2, 0),
        Op::Neg | Op::MulInteger(_) => elementwise(1, 1, 0),
        Op::AddClear => elementwise(2, 1, 0),
        Op::MulClear => elementwise(2, 1, 1),
        Op::Mul => elementwise(2, 2, 1),
        Op::Combine { coefficients, .. } => elementwise(coefficients.len(), coefficients.len(), 1),
        Op::Adjust => {
            arity(args, 1)?;
            let (from, held) = ct(0)?;
            same("shape", &args[0].shape, &n.shape)?;
            same("orientation", &held, &transposed)?;
            same("placement", &args[0].placement, &n.placement)?;
            if from > level {
                Ok(())
            } else {
                Err(format!("adjusts level {from} to {level}, which is not below"))
            }
        }
        Op::Bootstrap { log_bound } => {
            arity(args, 1)?;
            if plan.params.bootstrap.is_none() {
                return Err("the parameters have no primes to bootstrap with".into());
            }
            if *log_bound > MAX_LOG_BOUND {
                return Err(format!("bootstraps values up to 2^{log_bound}, at most 2^{MAX_LOG_BOUND} are"));
            }
            same("shape", &args[0].shape, &n.shape)?;
            let (from, held) = ct(0)?;
            same("orientation", &held, &transposed)?;
            same("operand level", &Level(SLOTS_TO_COEFFS), &from)?;
            if level > from {
                Ok(())
            } else {
                Err(format!("bootstraps level {from} to {level}, which is not above"))
            }
        }
        Op::Linear { steps, .. } | Op::LinearRows { steps } => {
            let (from, _) = ct(0)?;
            (1..args.len()).try_for_each(pt)?;
            let shape = linear::output_shape(steps, &args[0].shape).map_err(|e| e.to_string())?;
            same("shape", &shape, &n.shape)?;
            match n.op {
                Op::Linear { split, .. } => split_fits(split, gl)?,
                _ => same("scheme is GL", &true, &gl)?,
            }
            spend(from, n.op.level_cost().unwrap_or(0))
        }
        Op::MaskedMatMul | Op::MatMul => {
            arity(args, 2)?;
            let shapes = [args[0].shape.as_slice(), args[1].shape.as_slice()];
            let shape = crate::op::TensorOp::MatMul.output_shape(&shapes).map_err(|e| e.to_string())?;
            same("shape", &shape, &n.shape)?;
            same("scheme is GL", &(n.op == Op::MatMul), &gl)?;
            product_fits(plan, args, n)?;
            let (from, held) = ct(0)?;
            same("orientation of operand 0", &false, &held)?;
            same("level and orientation of operand 1", &(from, gl), &ct(1)?)?;
            if !gl {
                same("orientation", &false, &transposed)?;
            }
            spend(from, n.op.level_cost().unwrap_or(0))
        }
        Op::MatMulClear => {
            arity(args, 2)?;
            let weight = args[1].shape.clone();
            let step = LinearStep::MatMulRight { weight: Operand(0), shape: weight.clone() };
            let shape = step.output_shape(&args[0].shape).map_err(|e| e.to_string())?;
            same("shape", &shape, &n.shape)?;
            same("scheme is GL", &true, &gl)?;
            if clear_product(&args[0].layout(), &weight, &n.layout(), &plan.geometry).is_none() {
                return Err(
                    "tiles of the result do not share their lanes with the tiles they are made of".into()
                );
            }
            let (from, held) = ct(0)?;
            same("orientation of operand 0", &false, &held)?;
            same("orientation", &false, &transposed)?;
            pt(1)?;
            spend(from, 1)
        }
        Op::Flip => {
            arity(args, 1)?;
            let (from, held) = ct(0)?;
            same("scheme is GL", &true, &gl)?;
            same("shape", &args[0].shape, &n.shape)?;
            same("orientation", &!held, &transposed)?;
            same("placement", &args[0].placement, &n.placement)?;
            same("level", &from, &level)
        }
    }
}

fn arity(args: &[&Node], count: usize) -> Result<(), String> {
    if args.len() == count { Ok(()) } else { Err(format!("it takes {count} operands, {} given", args.len())) }
}

/// Baby steps are at least one, and cut what the scheme rotates.
fn split_fits(split: Split, gl: bool) -> Result<(), String> {
    match split {
        Split::Slots { baby: 1.. } if !gl => Ok(()),
        Split::Rows { baby: 1.. } | Split::Lanes { baby: 1.. } if gl => Ok(()),
        other => Err(format!("{other:?} cuts no rotation of the scheme into baby and giant steps")),
    }
}

/// Matrices of CKKS fit one tile; in GL the placements make the product.
fn product_fits(plan: &Plan, args: &[&Node], n: &Node) -> Result<(), String> {
    let g = &plan.geometry;
    let ((i, k), (_, j)) = (Geometry::matrix_of(&args[0].shape), Geometry::matrix_of(&args[1].shape));
    let fits = match g.scheme {
        Scheme::Ckks => i <= g.rows && k <= g.cols && k <= g.rows && j <= g.cols,
        Scheme::Gl => product_of(plan, n).is_some(),
    };
    let tiles = format!("tiles of {} x {}", g.rows, g.cols);
    if fits {
        Ok(())
    } else {
        Err(format!("a product of {i} x {k} by {k} x {j} does not fit {tiles} as placed"))
    }
}

/// How an encrypted product of GL is made, if its placements allow it.
fn product_of(plan: &Plan, n: &Node) -> Option<Product> {
    let [a, b] = n.args[..] else { return None };
    Product::new(&plan.node(a).layout(), &plan.node(b).layout(), &n.layout(), &plan.geometry)
}

fn keys(plan: &Plan) -> Result<(), VerifyError> {
    let has = |node: NodeId, Key { kind, level }: Key| {
        let found = plan.keys.iter().any(|k: &Key| k.kind == kind && k.level >= level);
        if found { Ok(()) } else { Err(VerifyError::MissingKey { node, kind, level }) }
    };
    for (i, n) in plan.nodes.iter().enumerate() {
        let Some(level) = n.level() else { continue };
        if matches!(n.op, Op::Bootstrap { .. }) {
            plan.params.bootstrap_keys().into_iter().try_for_each(|key| has(NodeId(i as u32), key))?;
        }
        let level = n.args.first().and_then(|&a| plan.node(a).level()).unwrap_or(level);
        let all = |kinds: Vec<KeyKind>| {
            kinds.into_iter().try_for_each(|kind| has(NodeId(i as u32), Key { kind, level }))
        };
        for kind in static_keys(plan, n) {
            let steps = keys_in_steps(kind, &plan.geometry);
            all(vec![kind]).or_else(|missing| steps.and_then(|s| all(s).ok()).ok_or(missing))?;
        }
    }
    Ok(())
}

/// Keys an operation needs whatever its constants are. Rotations of linear maps are checked when their masks are made.
fn static_keys(plan: &Plan, n: &Node) -> Vec<KeyKind> {
    match n.op {
        Op::Mul => vec![KeyKind::Relinearize],
        Op::MatMul => {
            let turns = product_of(plan, n).map_or(vec![], |p| p.rotations());
            [KeyKind::Product]
                .into_iter()
                .chain(turns.into_iter().map(|(shift, _)| KeyKind::Rotate(shift)))
                .collect()
        }
        Op::Flip => vec![KeyKind::Flip],
        Op::MaskedMatMul => masked_matmul_keys(&plan.geometry),
        _ => vec![],
    }
}

/// Keys that can stand for those of a GL product or flip, with more key switches: rotations of rows by powers of two, and for
/// the product conjugation and relinearization. `None` for other kinds.
pub fn keys_in_steps(kind: KeyKind, g: &Geometry) -> Option<Vec<KeyKind>> {
    let mut kinds = match kind {
        KeyKind::Product => vec![KeyKind::Relinearize, KeyKind::Conjugate],
        KeyKind::Flip => vec![],
        _ => return None,
    };
    let powers = (0..g.rows.trailing_zeros()).map(|bit| Shift::Grid { lane: 0, row: 1 << bit, col: 0 });
    kinds.extend(powers.map(KeyKind::Rotate));
    Some(kinds)
}

/// Keys of the masked product: spreading over columns and rows by doublings, and relinearization.
pub fn masked_matmul_keys(g: &Geometry) -> Vec<KeyKind> {
    let mut kinds = vec![KeyKind::Relinearize];
    let all = masked_matmul_shifts(g);
    kinds.extend(all.into_iter().map(KeyKind::Rotate));
    kinds
}

/// Rotations of the masked product: column `k` moves to column 0 and is spread over `cols` columns, row `k` over `rows` rows.
/// Moving is folded into the doublings: column `k` held at offset `k` is spread cyclically inside its row by steps
/// `+-2^i`, chosen by the bits of `k`, so only `2 log2` rotations of each kind occur.
pub fn masked_matmul_shifts(g: &Geometry) -> Vec<Shift> {
    let slots = g.slots();
    let mut shifts: Vec<Shift> = Vec::new();
    let doublings = |extent: usize, stride: usize, shifts: &mut Vec<Shift>| {
        let mut step = 1;
        while step < extent {
            let s = step * stride % slots;
            shifts.extend([Shift::Slots(s), Shift::Slots((slots - s) % slots)]);
            step *= 2;
        }
    };
    doublings(g.cols, 1, &mut shifts);
    doublings(g.rows, g.cols, &mut shifts);
    shifts.retain(|s| !s.is_identity());
    shifts.sort_unstable();
    shifts.dedup();
    shifts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use crate::plan::{Estimate, Input, Optimality, Output};
    use crate::security::SecurityLevel;
    use crate::units::Bytes;
    use crate::{LinearStep, Operand, Tensor, plan::Constant};

    const TOY_RING: RingSpec = RingSpec::Gl { n: 4, p: 5 };

    fn toy_params() -> Params {
        let step = TOY_RING.modulus_step();
        let q0 = crate::prime::nearest_prime(1 << 50, step, 1 << 61, &[]).unwrap();
        let q1 = crate::prime::nearest_prime(1 << 40, step, 1 << 61, &[]).unwrap();
        let special = crate::prime::prime_below(1 << 60, step, &[]).unwrap();
        let q = vec![q0, q1];
        let scale = Params::canonical_scales(&q, (1u64 << 40) as f64);
        let security = SecurityLevel { bits: 128 };
        Params {
            ring: TOY_RING,
            q,
            special: vec![special],
            digit: 1,
            scale,
            security,
            insecure: true,
            bootstrap: None,
        }
    }

    /// `x` at level 1, a constant, and one operation on them.
    fn plan_of(op: Op, args: &[u32], shape: &[usize], level: u32, transposed: bool, keys: Vec<Key>) -> Plan {
        let cipher = |level, transposed| Form::Cipher { level: Level(level), transposed, noise: 0.0 };
        let node = |op, args: &[u32], shape: &[usize], form| Node {
            op,
            args: args.iter().map(|&a| NodeId(a)).collect(),
            shape: shape.to_vec(),
            form,
            placement: None,
            line: 0,
        };
        let input = Input {
            name: "x".into(),
            secrecy: Secrecy::Cipher,
            shape: vec![9, 4],
            low: -1.0,
            high: 1.0,
            line: 1,
        };
        let output = Output {
            name: "y".into(),
            node: NodeId(2),
            precision: 1e-3,
            predicted_error: 1e-6,
            expected_error: 1e-7,
            approximation_error: 0.0,
            max_abs: 1.0,
        };
        Plan {
            format: FORMAT,
            program: "t".into(),
            params: toy_params(),
            geometry: Geometry { scheme: Scheme::Gl, lanes: 4, rows: 4, cols: 4 },
            inputs: vec![input],
            constants: vec![Constant { name: "w".into(), value: Tensor::full(&[4, 2], 0.5) }],
            nodes: vec![
                node(Op::Input(0), &[], &[9, 4], cipher(1, false)),
                node(Op::Constant(0), &[], &[4, 2], Form::Clear),
                node(op, args, shape, cipher(level, transposed)),
            ],
            outputs: vec![output],
            keys,
            assumptions: vec![],
            estimate: Estimate {
                key_switches: 0,
                key_bytes: Bytes(0),
                peak_bytes: Bytes(0),
                levels_used: 1,
                optimality: Optimality::default(),
            },
        }
    }

    #[test]
    fn clear_products_take_row_tiles() {
        let good = plan_of(Op::MatMulClear, &[0, 1], &[9, 2], 0, false, vec![]);
        verify(&good).unwrap();
        assert_eq!(Plan::from_json(&good.to_json()).unwrap(), good);
        assert!(verify(&plan_of(Op::MatMulClear, &[0, 1], &[9, 2], 1, false, vec![])).is_err());
        assert!(verify(&plan_of(Op::MatMulClear, &[0, 1], &[9, 2], 0, true, vec![])).is_err());
        let steps = vec![LinearStep::MatMulRight { weight: Operand(0), shape: vec![4, 2] }];
        verify(&plan_of(Op::LinearRows { steps: steps.clone() }, &[0, 1], &[9, 2], 0, true, vec![])).unwrap();
        assert!(verify(&plan_of(Op::LinearRows { steps }, &[0, 1], &[9, 2], 1, true, vec![])).is_err());
    }

    #[test]
    fn keys_reach_the_level_of_the_operand() {
        let key = |level| vec![Key { kind: KeyKind::Relinearize, level: Level(level) }];
        verify(&plan_of(Op::Mul, &[0, 0], &[9, 4], 0, false, key(1))).unwrap();
        let low = verify(&plan_of(Op::Mul, &[0, 0], &[9, 4], 0, false, key(0)));
        assert!(matches!(low, Err(VerifyError::MissingKey { level: Level(1), .. })));
    }
}
