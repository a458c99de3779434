//! From a graph in arithmetic form to a plan.
//!
//! Geometry, levels and parameters depend on each other: the ring sets the frame, the frame sets which linear maps need a
//! level, levels set the modulus, the modulus sets the ring. The loop is bounded and visible in [`plan_scheme`]: rings are tried
//! from small to large, each is laid out, scheduled and given parameters, and the first that is secure is taken; in GL the
//! cheapest of the sides that are worth trying.

pub mod draft;
pub mod error;
pub mod estimate;
pub mod geometry;
pub mod linear;
pub mod orientation;
pub mod schedule;
pub mod vector_products;

use crate::analysis::level::depth_bound;
use crate::analysis::noise::{self, NOMINAL_LOG_SCALE, NoiseModel, Simulation};
use crate::cost::CostModel;
use crate::ir::{Graph, InputDecl, Op as IrOp};
use crate::params::{self, Wish, moduli};
use crate::passes::ArithmeticGraph;
use error::PlanError;
use geometry::Extent;
use grammar::Span;
use linear::Kernels;
use plan::plan::{Assumption, FORMAT};
use plan::{Form, Geometry, Input, Output, Params, Plan, RingSpec, Scheme, security};
use schedule::Schedule;

/// What a plan must obey.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// bits of security: 128, 192 or 256
    pub security: u32,
    /// log2 of the largest ring dimension
    pub max_log_degree: u32,
    /// a small ring without any security, for trials
    pub toy: bool,
}

impl Default for Target {
    fn default() -> Target {
        Target { security: 128, max_log_degree: 16, toy: false }
    }
}

/// A plan with its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// the plan, verified; the functions' `on` are gone from the graph, so [`crate::driver`] states them
    pub plan: Plan,
    /// cost of a run in multiply-adds
    pub cost: f64,
}

/// A program and the text it comes from, for lines.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// the program
    pub program: &'a ArithmeticGraph,
    /// its text; may be empty
    pub source: &'a str,
}

/// log2 of the dimension of toy rings of CKKS.
const TOY_LOG_N: std::ops::RangeInclusive<u32> = 10..=12;
/// Values beyond this many bits overflow whatever the level.
const HOPELESS_BITS: f64 = 128.0;
/// Bits of scale given up when the scale that the precision asks for does not fit any ring: the plan then says what precision
/// it predicts.
const COARSER: u32 = 5;
/// Rings tried for one side of GL.
const MAX_RINGS: usize = 6;

/// The plan of a program in a scheme.
///
/// # Errors
/// When the program is too deep, a value overflows, matrices do not fit, or memory for laying out linear maps does not suffice.
pub fn plan_scheme(subject: Subject, scheme: Scheme, target: &Target) -> Result<Planned, PlanError> {
    let rewritten;
    let program = match scheme {
        Scheme::Gl => subject.program,
        Scheme::Ckks => {
            rewritten = vector_products::rewrite_vector_products(subject.program)
                .map_err(|e| PlanError::Unsupported(e.to_string(), None))?;
            &rewritten
        }
    };
    let mut planner =
        Planner { program, source: subject.source, scheme, target, max_log_scale: params::MAX_LOG_SCALE };
    if let Some(e) = planner.hopeless().into_iter().next() {
        return Err(e);
    }
    let extent = geometry::extent(&program.graph);
    loop {
        let planned = match scheme {
            Scheme::Ckks => planner.ckks(&extent),
            Scheme::Gl => planner.gl(&extent),
        };
        match planned {
            Err(PlanError::TooDeep { needed_levels, .. }) if planner.fits_coarser(needed_levels) => {
                planner.max_log_scale -= COARSER;
            }
            other => return other,
        }
    }
}

/// What rules a program out in a scheme at first sight, without laying anything out: values beyond any modulus, and more
/// levels than any ring has.
pub fn hopeless(subject: Subject, scheme: Scheme, target: &Target) -> Vec<PlanError> {
    let Subject { program, source } = subject;
    Planner { program, source, scheme, target, max_log_scale: params::MAX_LOG_SCALE }.hopeless()
}

struct Planner<'a> {
    program: &'a ArithmeticGraph,
    source: &'a str,
    scheme: Scheme,
    target: &'a Target,
    /// largest scale to take, whatever precision asks for
    max_log_scale: u32,
}

/// A ring that was tried.
enum Trial {
    Fits(Box<Planned>),
    /// log2(PQ) that the program needs at the scale it needs
    Needs {
        log_pq: f64,
        log_scale: u32,
        levels: u32,
    },
}

impl Planner<'_> {
    fn line(&self, span: Option<Span>) -> u32 {
        span.map_or(0, |s| s.line_column(self.source).0 as u32)
    }

    fn bound(&self, degree: usize) -> f64 {
        if self.target.toy {
            f64::INFINITY
        } else {
            security::max_log_pq(degree, self.target.security).unwrap_or(0.0)
        }
    }

    /// Whether a smaller scale is left to try, and the levels fit the largest ring at the smallest one.
    fn fits_coarser(&self, levels: u32) -> bool {
        self.max_log_scale >= params::LOW_LOG_SCALE + COARSER
            && self.bound(1 << self.target.max_log_degree) >= least_bits(levels, params::LOW_LOG_SCALE)
    }

    fn hopeless(&self) -> Vec<PlanError> {
        let graph = &self.program.graph;
        let live = graph.live();
        let limit = libm::exp2(HOPELESS_BITS);
        let size = |i: usize| self.program.ranges[i].0.abs().max(self.program.ranges[i].1.abs());
        let mut ciphers = graph.ids().filter(|&id| live[id.index()] && graph.is_cipher(id));
        let overflow = ciphers.find(|id| size(id.index()) > limit).map(|id| PlanError::Overflow {
            value: size(id.index()),
            limit: params::largest_value(),
            span: graph.node(id).span,
        });
        let (depth, _) = depth_bound(graph, self.scheme);
        let needed = least_bits(depth, params::MIN_LOG_SCALE);
        let deep = (!self.target.toy && needed > self.bound(1 << self.target.max_log_degree))
            .then(|| self.too_deep(depth, params::MIN_LOG_SCALE, needed));
        overflow.into_iter().chain(deep).collect()
    }

    fn too_deep(&self, levels: u32, log_scale: u32, log_pq: f64) -> PlanError {
        let graph = &self.program.graph;
        let degree = 1usize << self.target.max_log_degree;
        let available_bits = self.bound(degree);
        let beyond_levels = log_pq - f64::from(levels * log_scale);
        let available = ((available_bits - beyond_levels) / f64::from(log_scale)).max(0.0);
        let (_, path) = depth_bound(graph, self.scheme);
        PlanError::TooDeep {
            scheme: self.scheme,
            needed_levels: levels,
            available_levels: available as u32,
            needed_bits: log_pq,
            available_bits,
            degree,
            security: self.target.security,
            path: path
                .iter()
                .filter(|&&id| !matches!(graph.node(id).op, IrOp::Input(_)))
                .filter_map(|&id| graph.node(id).span)
                .collect(),
        }
    }

    fn ckks(&self, extent: &Extent) -> Result<Planned, PlanError> {
        let rings = if self.target.toy { TOY_LOG_N } else { 11..=self.target.max_log_degree };
        let (depth, _) = depth_bound(&self.program.graph, self.scheme);
        let mut last = None;
        for log_n in rings {
            let ring = RingSpec::PowerOfTwo { log_n };
            if least_bits(depth, params::MIN_LOG_SCALE) > self.bound(ring.degree()) {
                continue;
            }
            let frame = match geometry::ckks(extent, log_n) {
                Ok(frame) if self.target.toy && log_n < *TOY_LOG_N.end() && !covers(&frame, extent) => {
                    continue;
                }
                Ok(frame) => frame,
                Err(e) => {
                    last = Some(e);
                    continue;
                }
            };
            match self.fit(ring, frame)? {
                Trial::Fits(planned) => return Ok(*planned),
                Trial::Needs { log_pq, log_scale, levels } => {
                    last = Some(self.too_deep(levels, log_scale, log_pq))
                }
            }
        }
        Err(last.unwrap_or_else(|| {
            self.too_deep(depth, params::LOW_LOG_SCALE, least_bits(depth, params::MIN_LOG_SCALE))
        }))
    }

    fn gl(&self, extent: &Extent) -> Result<Planned, PlanError> {
        let mut best: Option<Planned> = None;
        let mut last = None;
        for n in geometry::gl_sides(extent)? {
            match self.gl_side(n, extent) {
                Ok(planned) if best.as_ref().is_none_or(|b| planned.cost < b.cost) => best = Some(planned),
                Ok(_) => {}
                Err(e) => last = Some(e),
            }
            if self.target.toy && best.is_some() {
                break;
            }
        }
        best.ok_or_else(|| last.unwrap_or_else(|| self.too_deep(0, params::LOW_LOG_SCALE, 0.0)))
    }

    fn gl_side(&self, n: usize, extent: &Extent) -> Result<Planned, PlanError> {
        let (mut levels, _) = depth_bound(&self.program.graph, self.scheme);
        let (mut log_pq, mut log_scale) = (least_bits(levels, params::MIN_LOG_SCALE), params::LOW_LOG_SCALE);
        let limit = 1 << self.target.max_log_degree;
        for _ in 0..MAX_RINGS {
            let ring = if self.target.toy {
                let tiles = extent.rows.div_ceil(n) * extent.cols.div_ceil(n);
                geometry::toy_gl(n, tiles)
            } else {
                geometry::secure_gl(n, log_pq, self.target.security, limit)
                    .ok_or_else(|| self.too_deep(levels, log_scale, log_pq))?
            };
            let RingSpec::Gl { p, .. } = ring else { break };
            match self.fit(ring, geometry::gl(n, p))? {
                Trial::Fits(planned) => return Ok(*planned),
                Trial::Needs { log_pq: needed, log_scale: scale, levels: depth } => {
                    // a ring whose primes do not suit counts as a little too small
                    log_pq = needed.max(self.bound(ring.degree()) + 1.0);
                    (log_scale, levels) = (scale, depth);
                }
            }
        }
        Err(self.too_deep(levels, log_scale, log_pq))
    }

    /// Lays the program out in a ring and looks for parameters.
    fn fit(&self, ring: RingSpec, frame: Geometry) -> Result<Trial, PlanError> {
        let cost = CostModel::of(&frame);
        let s = self.schedule(frame, cost)?;
        let largest = s.largest_by_level();
        self.check_overflow(&s, &largest)?;
        let demand = |log_scale: u32| moduli::Demand {
            ring,
            security: self.target.security,
            log_scale: f64::from(log_scale),
            largest: largest.clone(),
            insecure: self.target.toy,
        };
        let needs = |log_scale: u32| Trial::Needs {
            log_pq: params::least_log_pq(&demand(log_scale)),
            log_scale,
            levels: s.top,
        };
        let bound = self.bound(ring.degree());
        if params::least_log_pq(&demand(params::MIN_LOG_SCALE)) > bound {
            return Ok(needs(params::LOW_LOG_SCALE));
        }
        let inputs: Vec<Input> = self.program.graph.inputs.iter().map(|i| self.input(i)).collect();
        let model = NoiseModel {
            degree: ring.degree() as f64,
            scale: libm::exp2(NOMINAL_LOG_SCALE),
            digits: f64::from(s.top + 1),
        };
        let sim = noise::simulate(&s, &inputs, &model)?;
        let log_scale = params::log_scale(&self.wishes(&s, &sim), &largest).min(self.max_log_scale);
        if params::least_log_pq(&demand(log_scale)) > bound {
            return Ok(needs(log_scale));
        }
        let switches = estimate::switches_by_level(&s, &cost);
        let parameters = match params::select(&demand(log_scale), &switches, &cost) {
            Err(PlanError::NoPrimes { .. }) if !self.target.toy => return Ok(needs(log_scale)),
            other => other?,
        };
        self.finish(s, sim, parameters, inputs, &cost).map(|p| Trial::Fits(Box::new(p)))
    }

    fn schedule(&self, frame: Geometry, cost: CostModel) -> Result<Schedule, PlanError> {
        let graph = &self.program.graph;
        let mut kernels = Kernels::new(graph, &self.program.ranges, frame, cost);
        let orientation = orientation::choose(graph, &mut kernels)?;
        let draft = draft::draft(self.program, &orientation, frame, &mut kernels)?;
        Ok(schedule::schedule(draft, |node| self.line(node.span)))
    }

    /// The largest value must fit at the smallest useful scale.
    fn check_overflow(&self, s: &Schedule, largest: &[f64]) -> Result<(), PlanError> {
        let base = |largest: &[f64]| moduli::base_bits(f64::from(params::MIN_LOG_SCALE), largest);
        if base(largest) <= moduli::MAX_PRIME_BITS {
            return Ok(());
        }
        let worst = (0..s.nodes.len()).find(|&i| {
            let Some(level) = s.nodes[i].level() else { return false };
            let mut alone = vec![0.0; level.limbs()];
            alone[level.0 as usize] = s.origin(i).max_abs();
            base(&alone) > moduli::MAX_PRIME_BITS
        });
        let origin = worst.map(|i| s.origin(i));
        let (value, span) = origin.map_or((0.0, None), |o| (o.max_abs(), o.span));
        Err(PlanError::Overflow { value, limit: params::largest_value(), span })
    }

    fn wishes(&self, s: &Schedule, sim: &Simulation) -> Vec<Wish> {
        let outputs = self.program.graph.outputs.iter().zip(&s.outputs);
        let encrypted = outputs.filter(|(_, id)| s.nodes[id.index()].level().is_some());
        let wish = |(o, id): (&crate::ir::OutputDecl, &plan::NodeId)| Wish {
            precision: o.precision,
            approximation: sim.approximation[id.index()],
            noise_at_one: predicted(s, sim, id.index()) * libm::exp2(NOMINAL_LOG_SCALE),
        };
        encrypted.map(wish).collect()
    }

    fn input(&self, i: &InputDecl) -> Input {
        Input {
            name: i.name.clone(),
            secrecy: i.secrecy,
            shape: i.shape.clone(),
            low: i.low,
            high: i.high,
            line: self.line(i.span),
        }
    }

    fn finish(
        &self,
        s: Schedule,
        sim: Simulation,
        parameters: Params,
        inputs: Vec<Input>,
        cost: &CostModel,
    ) -> Result<Planned, PlanError> {
        let factor = libm::exp2(NOMINAL_LOG_SCALE) / parameters.scale_at(parameters.top());
        let model =
            CostModel { special: parameters.special.len() as f64, digit: parameters.digit as f64, ..*cost };
        let keys = estimate::keys(&s);
        let mut nodes = s.nodes.clone();
        for (i, node) in nodes.iter_mut().enumerate() {
            if let Form::Cipher { noise, .. } = &mut node.form {
                *noise = sim.noise[i] * factor;
            }
        }
        let plan = Plan {
            format: FORMAT,
            program: self.program.graph.name.clone(),
            geometry: s.draft.geometry,
            inputs,
            constants: s.draft.constants.clone(),
            nodes,
            outputs: self.outputs(&s, &sim, factor),
            estimate: estimate::estimate(&s, &keys, &parameters, &model),
            keys,
            assumptions: assumptions(&self.program.graph, self.source),
            params: parameters,
        };
        plan::verify::verify(&plan)?;
        Ok(Planned { cost: estimate::cost(&s, &model), plan })
    }

    fn outputs(&self, s: &Schedule, sim: &Simulation, factor: f64) -> Vec<Output> {
        let graph = &self.program.graph;
        let output = |(o, &id): (&crate::ir::OutputDecl, &plan::NodeId)| {
            let approximation_error = sim.approximation[id.index()];
            let (low, high) = self.program.ranges[o.node.index()];
            Output {
                name: o.name.clone(),
                node: id,
                precision: o.precision,
                predicted_error: approximation_error + factor * predicted(s, sim, id.index()),
                expected_error: noise::expected(sim, &s.nodes[id.index()].shape, id.index(), factor),
                approximation_error,
                max_abs: low.abs().max(high.abs()),
            }
        };
        graph.outputs.iter().zip(&s.outputs).map(output).collect()
    }
}

/// What the program trusts: `in` of values, `on` of functions, each once.
pub fn assumptions(graph: &Graph, source: &str) -> Vec<Assumption> {
    let mut all: Vec<Assumption> = Vec::new();
    for node in graph.ids().map(|id| graph.node(id)) {
        let (name, (low, high)) = match &node.op {
            IrOp::Assume { name, low, high } if !name.is_empty() => (name.clone(), (*low, *high)),
            IrOp::Function { function, wish } => match wish.on {
                Some(on) => (function.name().to_string(), on),
                None => continue,
            },
            _ => continue,
        };
        let line = node.span.map_or(0, |s| s.line_column(source).0 as u32);
        let assumption = Assumption { name, low, high, line };
        if !all.contains(&assumption) {
            all.push(assumption);
        }
    }
    all
}

/// Largest error by noise of a node, at the nominal scale, at the stated failure probability.
fn predicted(s: &Schedule, sim: &Simulation, i: usize) -> f64 {
    let elements = s.nodes[i].shape.iter().product();
    noise::deviations(elements) * sim.noise[i]
}

/// The least log2(PQ) of that many levels at a scale: values up to one, one prime a digit.
fn least_bits(levels: u32, log_scale: u32) -> f64 {
    let scale = f64::from(log_scale);
    moduli::log_pq(scale + 1.0 + moduli::VALUE_MARGIN_BITS, scale, levels as usize + 1, 1)
}

/// Whether a frame has every matrix in one tile.
fn covers(frame: &Geometry, extent: &Extent) -> bool {
    frame.rows >= extent.rows && frame.cols >= extent.cols
}
