//! The loop between ring, layout, levels and parameters: which rings are tried, and what a trial finds.

use super::draft::{self, Choices, Draft};
use super::error::PlanError;
use super::geometry::{self, Extent, Lanes};
use super::levels::{Levels, Placed, rough_cost};
use super::linear::Kernels;
use super::schedule::{self, Schedule};
use super::{Planned, Target, estimate, orientation, tiling};
use crate::analysis::level::depth_bound;
use crate::analysis::noise::{self, NOMINAL_LOG_SCALE, NoiseModel};
use crate::cost::CostModel;
use crate::ir::Op as IrOp;
use crate::params::{self, moduli};
use crate::passes::ArithmeticGraph;
use crate::placement::MAX_LEVEL;
use crate::placement::{Cost, check};
use grammar::Span;
use plan::plan::Optimality;
use plan::{Geometry, RingSpec, Scheme, security};

/// log2 of the dimension of toy rings of CKKS.
const TOY_LOG_N: std::ops::RangeInclusive<u32> = 10..=12;
/// Values beyond this many bits overflow whatever the level.
const HOPELESS_BITS: f64 = 128.0;
/// Bits of scale given up when the scale that the precision asks for does not fit any ring: the plan then says what precision
/// it predicts.
const COARSER: u32 = 5;
/// Products larger than a tile whose tilings are compared; the others are tiled by default.
const MAX_CHOICES: usize = 8;
/// Sides and numbers of lanes of GL that are planned to the end.
const MAX_FRAMES: usize = 2;
/// Levels beyond which a program is not bootstrapped: hundreds of bootstraps.
const MAX_DEPTH: u32 = 4096;
/// Rings tried for one side of GL.
const MAX_RINGS: usize = 6;

/// Plans one program in one scheme.
pub(super) struct Planner<'a> {
    pub(super) program: &'a ArithmeticGraph,
    pub(super) source: &'a str,
    scheme: Scheme,
    pub(super) target: &'a Target,
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

impl<'a> Planner<'a> {
    pub(super) fn new(
        program: &'a ArithmeticGraph,
        source: &'a str,
        scheme: Scheme,
        target: &'a Target,
    ) -> Planner<'a> {
        Planner { program, source, scheme, target, max_log_scale: params::MAX_LOG_SCALE }
    }

    /// The plan in the smallest ring that is secure, with less scale than precision asks for if none is.
    pub(super) fn plan(mut self) -> Result<Planned, PlanError> {
        let extent = geometry::extent(&self.program.graph);
        if self.is_deep() && self.may_bootstrap() {
            return self.bootstrapped(&extent);
        }
        loop {
            let planned = match self.scheme {
                Scheme::Ckks => self.ckks(&extent),
                Scheme::Gl => self.gl(&extent),
            };
            match planned {
                Err(PlanError::TooDeep { needed_levels, .. }) if self.fits_coarser(needed_levels) => {
                    self.max_log_scale -= COARSER;
                }
                Err(PlanError::TooDeep { .. }) if self.may_bootstrap() => return self.bootstrapped(&extent),
                other => return other,
            }
        }
    }

    /// Whether there are bootstraps: in CKKS, at real parameters, for programs that end within days.
    fn may_bootstrap(&self) -> bool {
        let (depth, _) = depth_bound(&self.program.graph, self.scheme);
        self.scheme == Scheme::Ckks && self.target.bootstrap && !self.target.toy && depth <= MAX_DEPTH
    }

    /// Whether no ring has the levels, whatever the layout.
    fn is_deep(&self) -> bool {
        let (depth, _) = depth_bound(&self.program.graph, self.scheme);
        let needed = least_bits(depth, params::MIN_LOG_SCALE);
        !self.target.toy && needed > self.bound(1 << self.target.max_log_degree)
    }

    /// Line of a place in the program; 0 where there is none.
    pub(super) fn line(&self, span: Option<Span>) -> u32 {
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

    /// See [`super::hopeless`].
    pub(super) fn hopeless(&self) -> Vec<PlanError> {
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
        let deep = (self.is_deep() && !self.may_bootstrap())
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
            off: !self.target.bootstrap,
            path: path
                .iter()
                .filter(|&&id| !matches!(graph.node(id).op, IrOp::Input(_)))
                .filter_map(|&id| graph.node(id).span)
                .collect(),
        }
    }

    /// The error of a program that is too deep, at the smallest scale.
    pub(super) fn deep(&self) -> PlanError {
        let (depth, _) = depth_bound(&self.program.graph, self.scheme);
        self.too_deep(depth, params::LOW_LOG_SCALE, least_bits(depth, params::MIN_LOG_SCALE))
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
        Err(last.unwrap_or_else(|| self.deep()))
    }

    /// The cheapest of the best sides and numbers of lanes by rough cost.
    fn gl(&self, extent: &Extent) -> Result<Planned, PlanError> {
        let mut best: Option<Planned> = None;
        let mut last = None;
        for (n, lanes) in self.gl_frames(extent)? {
            match self.gl_side(n, lanes, extent) {
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

    /// Sides and lanes to plan with, the most promising first.
    fn gl_frames(&self, extent: &Extent) -> Result<Vec<(usize, Lanes)>, PlanError> {
        let sides = geometry::gl_sides(extent, self.target.max_side);
        let wanted = |&n: &usize| {
            geometry::lanes_wanted(&self.program.graph, n).into_iter().map(move |lanes| (n, lanes))
        };
        let frames: Vec<(usize, Lanes)> = sides.iter().flat_map(wanted).collect();
        if self.target.toy || frames.len() <= MAX_FRAMES {
            return Ok(frames);
        }
        let (levels, _) = depth_bound(&self.program.graph, self.scheme);
        let log_pq = least_bits(levels, params::LOW_LOG_SCALE);
        let mut ranked: Vec<(Cost, RingSpec, usize, Lanes)> = Vec::new();
        for (n, lanes) in frames {
            let limit = 1 << self.target.max_log_degree;
            let Some(ring) = geometry::secure_gl(n, lanes, log_pq, self.target.security, limit) else {
                continue;
            };
            let RingSpec::Gl { p, .. } = ring else { continue };
            if ranked.iter().any(|r| r.1 == ring) {
                continue;
            }
            let frame = geometry::gl(n, p);
            let cost = CostModel::new(&frame, &self.target.rates);
            ranked.push((rough_cost(&self.draft(frame, cost)?, &cost)?, ring, n, lanes));
        }
        ranked.sort_by_key(|r| r.0);
        Ok(ranked.into_iter().take(MAX_FRAMES).map(|(_, _, n, lanes)| (n, lanes)).collect())
    }

    fn gl_side(&self, n: usize, lanes: Lanes, extent: &Extent) -> Result<Planned, PlanError> {
        let (mut levels, _) = depth_bound(&self.program.graph, self.scheme);
        let (mut log_pq, mut log_scale) = (least_bits(levels, params::MIN_LOG_SCALE), params::LOW_LOG_SCALE);
        let limit = 1 << self.target.max_log_degree;
        for _ in 0..MAX_RINGS {
            let ring = if self.target.toy {
                let tiles = extent.rows.div_ceil(n) * extent.cols.div_ceil(n);
                geometry::toy_gl(n, tiles)
            } else {
                geometry::secure_gl(n, lanes, log_pq, self.target.security, limit)
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
        let cost = CostModel::new(&frame, &self.target.rates);
        let draft = self.draft(frame, cost)?;
        let (placed, s) = self.schedule(&draft, &cost)?;
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
        let inputs = self.inputs();
        let noise = NoiseModel {
            degree: ring.degree() as f64,
            scale: libm::exp2(NOMINAL_LOG_SCALE),
            digits: f64::from(s.top + 1),
            bootstrap: 0.0,
        };
        let sim = noise::simulate(&s, &inputs, &noise)?;
        let log_scale = params::log_scale(&self.wishes(&s, &sim), &largest).min(self.max_log_scale);
        if params::least_log_pq(&demand(log_scale)) > bound {
            return Ok(needs(log_scale));
        }
        let switches = estimate::switches_by_level(&s, &cost);
        let parameters = match params::select(&demand(log_scale), &switches, &cost) {
            Err(PlanError::NoPrimes { .. }) if !self.target.toy => return Ok(needs(log_scale)),
            other => other?,
        };
        // with the digits known, costs are; q_0 stays as it is
        let model = cost.with(&parameters);
        let base = |s: &Schedule| moduli::base_bits(f64::from(log_scale), &s.largest_by_level());
        let (again, fitted) = self.schedule(&draft, &model)?;
        let (s, sim) = if fitted.nodes == s.nodes {
            (fitted, sim)
        } else if base(&fitted) <= base(&s) {
            let sim = noise::simulate(&fitted, &inputs, &noise)?;
            (fitted, sim)
        } else {
            let cost = check(&again.levels.graph, &placed.placement).unwrap_or(placed.placement.cost);
            (Schedule { optimality: Optimality { cost, ..fitted.optimality }, ..s }, sim)
        };
        self.finish(s, sim, parameters, inputs, &model).map(|p| Trial::Fits(Box::new(p)))
    }

    /// The program in the operations of the scheme, laid out in a frame.
    pub(super) fn draft(&self, frame: Geometry, cost: CostModel) -> Result<Draft, PlanError> {
        let graph = &self.program.graph;
        let mut kernels = Kernels::new(graph, &self.program.ranges, frame, cost);
        let orientation = orientation::choose(graph, &mut kernels)?;
        let mut lay_out = |choices: &Choices| draft::draft(self.program, &orientation, choices, &mut kernels);
        let mut choices = Choices::initial(graph, &frame);
        let mut best = lay_out(&choices)?;
        let mut least = rough_cost(&best, &cost)?;
        for id in tiling::large_products(graph, &frame).take(MAX_CHOICES) {
            for other in choices.others(graph, id) {
                if let Ok(draft) = lay_out(&other)
                    && let Ok(cost) = rough_cost(&draft, &cost)
                    && cost < least
                {
                    least = cost;
                    (best, choices) = (draft, other);
                }
            }
        }
        Ok(best)
    }

    /// A draft with levels, without bootstraps.
    fn schedule(&self, draft: &Draft, model: &CostModel) -> Result<(Placed, Schedule), PlanError> {
        let levels = Levels::new(draft, model, None);
        if levels.top > MAX_LEVEL {
            let log_scale = params::MIN_LOG_SCALE;
            return Err(self.too_deep(levels.top, log_scale, least_bits(levels.top, log_scale)));
        }
        let placed = levels.place(draft, self.target.policy)?;
        let s = schedule::schedule(draft.clone(), &placed, None, |node| self.line(node.span));
        Ok((placed, s))
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
