//! A plan from a schedule, its simulation and its parameters.

use super::error::PlanError;
use super::planner::Planner;
use super::schedule::Schedule;
use super::{Planned, assumptions, estimate};
use crate::analysis::noise::{self, NOMINAL_LOG_SCALE, Simulation};
use crate::cost::CostModel;
use crate::ir::InputDecl;
use crate::params::Wish;
use plan::plan::FORMAT;
use plan::{Form, Input, Output, Params, Plan};

impl Planner<'_> {
    /// What the encrypted outputs want.
    pub(super) fn wishes(&self, s: &Schedule, sim: &Simulation) -> Vec<Wish> {
        let outputs = self.program.graph.outputs.iter().zip(&s.outputs);
        let encrypted = outputs.filter(|(_, id)| s.nodes[id.index()].level().is_some());
        let wish = |(o, id): (&crate::ir::OutputDecl, &plan::NodeId)| Wish {
            precision: o.precision,
            approximation: sim.approximation[id.index()],
            noise_at_one: predicted(s, sim, id.index()) * libm::exp2(NOMINAL_LOG_SCALE),
        };
        encrypted.map(wish).collect()
    }

    /// The inputs as plans declare them.
    pub(super) fn inputs(&self) -> Vec<Input> {
        self.program.graph.inputs.iter().map(|i| self.input(i)).collect()
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

    /// The plan, verified.
    pub(super) fn finish(
        &self,
        s: Schedule,
        sim: Simulation,
        parameters: Params,
        inputs: Vec<Input>,
        model: &CostModel,
    ) -> Result<Planned, PlanError> {
        let factor = libm::exp2(NOMINAL_LOG_SCALE) / parameters.scale_at(parameters.top());
        let keys = estimate::fitting(estimate::keys(&s, &parameters), &parameters, &s.draft.geometry);
        let costs = estimate::costs(&s, &parameters, model);
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
            estimate: estimate::estimate(&s, &keys, &parameters, model),
            keys,
            assumptions: assumptions(&self.program.graph, self.source),
            params: parameters,
        };
        plan::verify::verify(&plan)?;
        Ok(Planned { cost: s.optimality.cost as f64, costs, plan })
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

/// Largest error by noise of a node, at the nominal scale, at the stated failure probability.
fn predicted(s: &Schedule, sim: &Simulation, i: usize) -> f64 {
    let elements = s.nodes[i].shape.iter().product();
    noise::deviations(elements) * sim.noise[i]
}
