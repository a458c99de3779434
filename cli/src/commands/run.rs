//! `fhec run`: the whole job on this machine.

use super::{make_folder, system_sampler};
use crate::accuracy::{Accuracy, labels};
use crate::args::{Mode, RunArgs};
use crate::console::Console;
use crate::failure::Failure;
use crate::program::Program;
use crate::report::{OutputReport, RunReport, Sizes, Times, plan_text};
use crate::{inputs, usage};
use plan::{Plan, Scheme as SchemeName, Tensor};
use runtime::data::write_npy;
use runtime::exec::ckks::CkksScheme;
use runtime::exec::clear::simulate;
use runtime::exec::client::{decrypt_outputs, encrypt_inputs};
use runtime::exec::gl::GlScheme;
use runtime::exec::scheme::{generate_keys, wanted_keys};
use runtime::exec::{EncryptionKey, Precision, Required, Scheme, Step, execute, memory};
use runtime::rlwe::{EvaluationKeys, PublicKey, SecretKey};
use std::time::Instant;

/// Seed of the noise of a simulated run: the same every time.
const SIMULATION_SEED: [u8; 32] = *b"fhec simulated noise, seed no. 1";

pub fn run(args: &RunArgs, console: &Console) -> Result<(), Failure> {
    let program = Program::open(&args.file, &args.plan, console)?;
    let plan = &program.plan;
    let data = inputs::read_all(plan, &args.inputs, Some(program.folder()))?;
    program.check_data(&data)?;
    let data = inputs::check(plan, &data, &args.file, Required::All)?;
    console.say(&plan_text(plan));
    if console.verbose() {
        console.say(&plan.to_string());
    }
    if plan.params.insecure {
        console.warn("INSECURE toy ring: nothing is protected");
    }
    let start = Instant::now();
    let clear = program.clear(&data, args.allow_out_of_range, console)?;
    let mut seconds =
        Times { compile: program.seconds, clear: start.elapsed().as_secs_f64(), ..Times::default() };
    let mut bytes = Sizes::default();
    let results = match args.mode {
        Mode::Clear => clear.clone(),
        Mode::Simulate => {
            let start = Instant::now();
            let results = simulate(plan, &data, Some(SIMULATION_SEED), &mut |_| {})?;
            seconds.evaluate = start.elapsed().as_secs_f64();
            results
        }
        Mode::Encrypted => {
            memory::check(plan)?;
            let mut job = Job { plan, data: &data, console, seconds: &mut seconds, bytes: &mut bytes };
            match plan.geometry.scheme {
                SchemeName::Ckks => job.encrypted::<CkksScheme>()?,
                SchemeName::Gl => job.encrypted::<GlScheme>()?,
            }
        }
    };
    bytes.peak = usage::peak_bytes();
    let outputs = compare(args, plan, results, clear)?;
    let rows = outputs.iter().map(|o| (o.name.as_str(), &o.result, &o.clear));
    let accuracy = labels(program.folder()).and_then(|labels| Accuracy::of(&labels, rows));
    let (mode, reference) = (args.mode.name(), program.reference());
    let report = RunReport { plan, mode, reference, outputs, accuracy, seconds, bytes };
    console.result(&report.to_text());
    console.object(&report.to_json());
    Ok(())
}

fn compare(
    args: &RunArgs,
    plan: &Plan,
    results: Vec<Tensor>,
    clear: Vec<Tensor>,
) -> Result<Vec<OutputReport>, Failure> {
    if let Some(folder) = &args.out {
        make_folder(folder)?;
    }
    let mut outputs = Vec::new();
    for ((output, result), clear) in plan.outputs.iter().zip(results).zip(clear) {
        let path = args.out.as_ref().map(|folder| folder.join(format!("{}.npy", output.name)));
        if let Some(path) = &path {
            write_npy(path, &result)?;
        }
        let precision = Precision::of(&result, &clear).ok_or_else(|| {
            Failure::Compiler(format!("the output `{}` has another shape than in the clear run", output.name))
        })?;
        outputs.push(OutputReport {
            name: output.name.clone(),
            result,
            clear,
            precision,
            predicted_error: output.predicted_error,
            expected_error: output.expected_error,
            wanted: output.precision,
            path,
        });
    }
    Ok(outputs)
}

/// An encrypted run and what it took.
struct Job<'a> {
    plan: &'a Plan,
    data: &'a [Option<Tensor>],
    console: &'a Console,
    seconds: &'a mut Times,
    bytes: &'a mut Sizes,
}

impl Job<'_> {
    fn encrypted<S: Scheme>(&mut self) -> Result<Vec<Tensor>, Failure> {
        let plan = self.plan;
        let start = Instant::now();
        let client = S::new(plan, EvaluationKeys::new())?;
        let mut sampler = system_sampler()?;
        let secret = SecretKey::generate(client.chain(), &mut sampler);
        let public = PublicKey::generate(client.chain(), &secret, &mut sampler);
        let bar = self.console.bar(wanted_keys(&client, plan).len(), "keys");
        let keys = generate_keys(&client, plan, &secret, &mut sampler, &mut |done, _| bar.step(done, ""))?;
        drop(bar);
        self.bytes.keys =
            keys.iter().flat_map(|(_, k)| k.bodies()).map(|b| size_of_val(b.words()) as u64).sum();
        let server = S::new(plan, keys)?;
        self.seconds.keygen = start.elapsed().as_secs_f64();

        let start = Instant::now();
        // under the public key, which has the noise that plans predict; the secret key gives less
        let key = EncryptionKey::Public(&public);
        let encrypted = encrypt_inputs(&client, plan, self.data, &key, &mut sampler)?;
        self.bytes.input = encrypted.cipher.values().flatten().map(ciphertext_bytes::<S>).sum();
        self.seconds.encrypt = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let bar = self.console.bar(plan.nodes.len(), "evaluate");
        let mut times = Vec::new();
        let mut progress = |step: Step| {
            bar.step(step.node.index() + 1, &plan::text::operation(step.op));
            times.push(step.time);
        };
        let run = execute(plan, &server, &encrypted, &mut progress)?;
        drop(bar);
        self.seconds.evaluate = start.elapsed().as_secs_f64();
        if self.console.verbose() {
            for (i, (node, time)) in plan.nodes.iter().zip(&times).enumerate() {
                let time = crate::bench::seconds(time.as_secs_f64());
                self.console.say(&format!("{time:>10}  n{i} {}", plan::text::operation(&node.op)));
            }
        }

        let start = Instant::now();
        let results = decrypt_outputs(&client, plan, &secret, run.outputs)?;
        self.seconds.decrypt = start.elapsed().as_secs_f64();
        Ok(results)
    }
}

fn ciphertext_bytes<S: Scheme>(ct: &S::Ciphertext) -> u64 {
    S::parts(ct).into_iter().flat_map(|c| c.parts()).map(|p| size_of_val(p.words()) as u64).sum()
}
