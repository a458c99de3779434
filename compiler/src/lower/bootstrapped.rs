//! Plans with bootstraps, for programs too deep without: every set of bootstrapping parameters with every number of levels it
//! has room for is placed, and the cheapest placement wins.
//!
//! More levels make every operation and every bootstrap dearer, and make fewer bootstraps necessary; the cost decides. A set
//! whose plan meets the precision of all outputs goes before one whose plan does not.

use super::draft::Draft;
use super::error::PlanError;
use super::geometry::{self, Extent};
use super::levels::{Levels, Placed};
use super::planner::Planner;
use super::refresh::Refresh;
use super::{Planned, schedule};
use crate::analysis::noise::{self, NOMINAL_LOG_SCALE, NoiseModel};
use crate::cost::CostModel;
use crate::placement::{Cost, least_cost};
use plan::bootstrap::{BootstrapSet, SETS};
use plan::{Params, RingSpec};

impl Planner<'_> {
    /// The best plan over all sets.
    ///
    /// # Errors
    /// When no set has a placement: the error of the last one.
    pub(super) fn bootstrapped(&self, extent: &Extent) -> Result<Planned, PlanError> {
        let mut best: Option<Planned> = None;
        let mut last = None;
        for set in SETS.iter().filter(|s| s.log_n <= self.target.max_log_degree) {
            match self.in_set(set, extent) {
                Ok(planned) if best.as_ref().is_none_or(|b| better(&planned, b)) => best = Some(planned),
                Ok(_) => {}
                Err(e) => last = Some(e),
            }
        }
        best.ok_or_else(|| last.unwrap_or_else(|| self.deep()))
    }

    fn in_set(&self, set: &BootstrapSet, extent: &Extent) -> Result<Planned, PlanError> {
        let ring = RingSpec::PowerOfTwo { log_n: set.log_n };
        let frame = geometry::ckks(extent, set.log_n)?;
        let draft = self.draft(frame, CostModel::new(&frame, &self.target.rates))?;
        let (params, model, placed) = self.cheapest_levels(set, &draft)?;
        let refresh = Refresh::new(&draft, &params);
        let s = schedule::schedule(draft.clone(), &placed, Some(&refresh), |node| self.line(node.span));
        let inputs = self.inputs();
        let noise = NoiseModel {
            degree: ring.degree() as f64,
            scale: libm::exp2(NOMINAL_LOG_SCALE),
            digits: params.raised().limbs().div_ceil(params.digit) as f64,
            bootstrap: set.error * params.scale_at(params.top()) / libm::exp2(NOMINAL_LOG_SCALE),
        };
        let sim = noise::simulate(&s, &inputs, &noise)?;
        self.finish(s, sim, params, inputs, &model)
    }

    /// The number of levels in a set whose placement costs least. Those that promise most are placed first; one whose least cost
    /// is above the cost of another is not placed at all.
    fn cheapest_levels(
        &self,
        set: &BootstrapSet,
        draft: &Draft,
    ) -> Result<(Params, CostModel, Placed), PlanError> {
        let security = self.target.security;
        let mut all = Vec::new();
        // a number of levels without primes is none to try
        for params in (1..=set.max_levels(security)).filter_map(|l| set.params(l, security).ok()) {
            let model = CostModel::new(&draft.geometry, &self.target.rates).with(&params);
            let levels = Levels::new(draft, &model, Some(&Refresh::new(draft, &params)));
            all.push((least_cost(&levels.graph), params, model, levels));
        }
        all.sort_by_key(|a| a.0);
        let mut best: Option<(Params, CostModel, Placed)> = None;
        let mut last = None;
        for (least, params, model, levels) in all {
            let cost = best.as_ref().map_or(Cost::MAX, |b| b.2.placement.cost);
            if least >= cost {
                break;
            }
            match levels.place(draft, self.target.policy) {
                Ok(p) if p.placement.cost < cost => best = Some((params, model, p)),
                Ok(_) => {}
                Err(e) => last = Some(e),
            }
        }
        best.ok_or_else(|| last.unwrap_or_else(|| self.deep()))
    }
}

/// Whether a plan meets its precision where the other does not, or at least costs less.
fn better(a: &Planned, b: &Planned) -> bool {
    let meets = |p: &Planned| p.plan.outputs.iter().all(|o| o.predicted_error <= o.precision);
    match (meets(a), meets(b)) {
        (true, false) => true,
        (false, true) => false,
        _ => a.cost < b.cost,
    }
}
