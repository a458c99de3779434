//! Repeated timing.

use crate::usage::cpu_seconds;
use runtime::exec::OpError;
use std::time::Instant;

// at least so many runs, and until so many seconds are spent, but not more than the last number of runs
const MIN_RUNS: usize = 3;
const MIN_SECONDS: f64 = 1.0;
const MAX_RUNS: usize = 1000;

/// Wall-clock seconds of one run, and CPU seconds of all threads.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub runs: usize,
    pub median: f64,
    pub min: f64,
    pub max: f64,
    pub cpu: Option<f64>,
}

/// Runs something once to warm up, then repeatedly; gives its last result.
pub fn measure<T>(mut run: impl FnMut() -> Result<T, OpError>) -> Result<(Measured, T), OpError> {
    let mut result = run()?;
    let (mut times, begin, cpu) = (Vec::new(), Instant::now(), cpu_seconds());
    while times.len() < MIN_RUNS || (begin.elapsed().as_secs_f64() < MIN_SECONDS && times.len() < MAX_RUNS) {
        let start = Instant::now();
        result = run()?;
        times.push(start.elapsed().as_secs_f64());
    }
    let runs = times.len();
    let cpu = cpu.zip(cpu_seconds()).map(|(before, after)| (after - before) / runs as f64);
    times.sort_unstable_by(f64::total_cmp);
    Ok((Measured { runs, median: times[runs / 2], min: times[0], max: times[runs - 1], cpu }, result))
}
