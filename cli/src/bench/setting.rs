//! Secure parameters for a primitive, its keys and operands.

use crate::console::Console;
use crate::failure::Failure;
use compiler::cost::CostModel;
use compiler::params::{moduli::Demand, select};
use plan::plan::{Estimate, FORMAT, Optimality};
use plan::prime::{is_prime, nearest_prime};
use plan::{Bytes, Geometry, Key, KeyKind, Level, Params, Plan, RingSpec, Scheme as SchemeName};
use runtime::exec::scheme::generate_keys;
use runtime::exec::{EncryptionKey, Scheme};
use runtime::math::sampler::Sampler;
use runtime::rlwe::{EvaluationKeys, Gadget, SecretKey};
use serde_json::{Value, json};

/// log2 of the scale of all operations.
pub const LOG_SCALE: f64 = 40.0;
/// Largest special prime in bits, for the kernels without reductions in between.
const SPECIAL_BITS: f64 = 46.9;
/// log2 of P / D.
const MARGIN_BITS: f64 = 3.5;
/// log2 of q_l P / D where the division by P is also by q_l: the digits stay below the rounding.
const FUSED_MARGIN_BITS: f64 = 4.0;
const SECURITY: u32 = 128;
/// Largest value of the operands and results, for the size of q_0.
const LARGEST: f64 = 64.0;
/// Largest value of GL operations: that of a sum of 64 products of two uniform numbers, five deviations away from zero.
const GL_LARGEST: f64 = 15.0;

/// Parameters and layout, as a plan without nodes.
pub struct Problem {
    pub plan: Plan,
    /// matrix pairs in one operation, where it has any
    pub pairs: usize,
}

impl Problem {
    /// GL for pairs of matrices: the smallest ring that holds them and is secure.
    pub fn gl([batch, rows, cols]: [usize; 3], level: usize) -> Result<Problem, Failure> {
        let n = rows.max(cols).next_power_of_two().max(4);
        let smallest = batch.max(2) + 1;
        let primes = (smallest..1 << 16).filter(|&p| p % 2 == 1 && is_prime(p as u64));
        let rings = primes.map(|p| RingSpec::Gl { n, p }).take_while(|r| r.degree() <= 1 << 17);
        let geometry = |ring| match ring {
            RingSpec::Gl { n, p } => Geometry { scheme: SchemeName::Gl, lanes: p - 1, rows: n, cols: n },
            RingSpec::PowerOfTwo { .. } => Geometry { scheme: SchemeName::Gl, lanes: 0, rows: 0, cols: 0 },
        };
        Problem::smallest(rings, geometry, level, batch, GL_LARGEST)
    }

    /// CKKS: the smallest secure ring, or that of dimension 2^`log_n`.
    pub fn ckks(level: usize, log_n: Option<u32>) -> Result<Problem, Failure> {
        let rings = (12..=17).filter(|&n| log_n.is_none_or(|log_n| n == log_n));
        let rings = rings.map(|log_n| RingSpec::PowerOfTwo { log_n });
        let geometry = |ring: RingSpec| Geometry {
            scheme: SchemeName::Ckks,
            lanes: ring.degree() / 2,
            rows: 1,
            cols: 1,
        };
        Problem::smallest(rings, geometry, level, 1, 1.0)
    }

    /// CKKS with frames for matrices; as many pairs as fit one ciphertext.
    pub fn ckks_frames(batch: usize, rows: usize, cols: usize, level: usize) -> Result<Problem, Failure> {
        let (rows, cols) = (rows.next_power_of_two(), cols.next_power_of_two());
        let fits = move |r: &RingSpec| r.degree() / 2 >= rows * cols;
        let rings = (12..=17).map(|log_n| RingSpec::PowerOfTwo { log_n }).filter(fits);
        let geometry = move |ring: RingSpec| Geometry {
            scheme: SchemeName::Ckks,
            lanes: ring.degree() / 2 / (rows * cols),
            rows,
            cols,
        };
        let mut problem = Problem::smallest(rings, geometry, level, batch, LARGEST)?;
        problem.pairs = batch.min(problem.plan.geometry.lanes);
        Ok(problem)
    }

    fn smallest(
        rings: impl Iterator<Item = RingSpec>,
        geometry: impl Fn(RingSpec) -> Geometry,
        level: usize,
        pairs: usize,
        largest: f64,
    ) -> Result<Problem, Failure> {
        let largest = vec![largest; level + 1];
        for ring in rings {
            let geometry = geometry(ring);
            let demand = Demand {
                ring,
                security: SECURITY,
                log_scale: LOG_SCALE,
                largest: largest.clone(),
                insecure: false,
            };
            let mut switches = vec![0; level + 1];
            switches[level] = 1;
            if let Ok(params) = select(&demand, &switches, &CostModel::of(&geometry)) {
                return Ok(Problem { plan: empty_plan(params, geometry), pairs });
            }
        }
        Err(Failure::Usage(format!(
            "no ring of the dimensions asked for, up to 2^17, is secure for this shape at level {level}"
        )))
    }

    pub fn describe(&self, level: usize) -> Value {
        let p = &self.plan.params;
        let g = &self.plan.geometry;
        json!({
            "ring": p.ring.to_string(), "dimension": p.ring.degree(), "security_bits": p.security.bits, "level": level,
            "limbs": level + 1, "special": p.special.len(), "digit": p.digit, "log_pq": p.log_pq(),
            "log_scale": LOG_SCALE, "shape": [g.lanes, g.rows, g.cols],
        })
    }
}

/// Special primes for digits of `alpha` primes, where the ring has as many; `fused` when the division by P is also by q_l.
pub fn gadget(params: &Params, alpha: usize, fused: bool) -> Option<Gadget> {
    let bits = |primes: &[u64]| primes.iter().map(|&q| (q as f64).log2()).sum::<f64>();
    let digit = bits(&params.q[..alpha.min(params.q.len())]);
    let last = params.q.last().map_or(0.0, |&q| (q as f64).log2());
    let wanted = if fused { digit - last + FUSED_MARGIN_BITS } else { digit + MARGIN_BITS };
    let count = (wanted / SPECIAL_BITS).ceil().max(1.0);
    let (step, mut taken) = (params.ring.modulus_step(), params.q.clone());
    for _ in 0..count as usize {
        let target = (wanted / count).max(30.0).exp2() as u64;
        taken.push(nearest_prime(target, step, 1 << 48, &taken)?);
    }
    Some(Gadget { special: taken.split_off(params.q.len()), alpha })
}

pub fn empty_plan(params: Params, geometry: Geometry) -> Plan {
    let none = Bytes(0);
    Plan {
        format: FORMAT,
        program: "bench".into(),
        params,
        geometry,
        inputs: vec![],
        constants: vec![],
        nodes: vec![],
        outputs: vec![],
        keys: vec![],
        assumptions: vec![],
        estimate: Estimate {
            key_switches: 0,
            key_bytes: none,
            peak_bytes: none,
            levels_used: 0,
            optimality: Optimality::default(),
        },
    }
}

/// A scheme with keys and two encrypted operands with values in [-1, 1].
pub struct Setting<S: Scheme> {
    pub scheme: S,
    pub secret: SecretKey,
    pub operands: [S::Ciphertext; 2],
    pub values: [Vec<f64>; 2],
}

impl<S: Scheme> Setting<S> {
    pub fn new(
        problem: &Problem,
        keys: &[KeyKind],
        level: Level,
        console: &Console,
    ) -> Result<Setting<S>, Failure> {
        let mut plan = problem.plan.clone();
        plan.keys = keys.iter().map(|&kind| Key { kind, level }).collect();
        let client = S::new(&plan, EvaluationKeys::new())?;
        let mut sampler = Sampler::from_seed([1; 32]);
        let secret = SecretKey::generate(client.chain(), &mut sampler);
        let bar = console.bar(1, "keys");
        let keys = generate_keys(&client, &plan, &secret, &mut sampler, &mut |done, _| bar.step(done, ""))?;
        let slots = plan.geometry.slots();
        let wave = |k: f64| (0..slots).map(|i| (i as f64 * k).sin()).collect::<Vec<f64>>();
        let values = [wave(0.37), wave(0.73)];
        let key = EncryptionKey::Secret(&secret);
        let first = client.encrypt(&values[0], level, &key, &mut sampler)?;
        let second = client.encrypt(&values[1], level, &key, &mut sampler)?;
        Ok(Setting { scheme: S::new(&plan, keys)?, secret, operands: [first, second], values })
    }

    /// Bytes of the operands and the keys; masks of keys that come from seeds are not counted.
    pub fn bytes(&self) -> usize {
        let operands = self.operands.iter().flat_map(S::parts).flat_map(|c| c.parts());
        let keys = self.scheme.keys().iter().flat_map(|(_, key)| key.bodies());
        operands.chain(keys).map(|p| size_of_val(p.words())).sum()
    }
}
