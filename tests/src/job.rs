//! One program in one scheme: compiled, interpreted, simulated, encrypted.

use compiler::diag::{Diagnostic, Diagnostics};
use compiler::driver::{Compiled, Options, compile};
use compiler::interpret::{OutOfRange, interpret};
use compiler::source::Sources;
use fhec_cli::FileLoader;
use grammar::ast::SchemeChoice;
use plan::{Plan, Scheme as SchemeName, Tensor};
use runtime::exec::ckks::CkksScheme;
use runtime::exec::clear::simulate;
use runtime::exec::client::{decrypt_outputs, encrypt_inputs};
use runtime::exec::gl::GlScheme;
use runtime::exec::scheme::generate_keys;
use runtime::exec::{EncryptionKey, Required, Scheme, check_inputs, execute};
use runtime::math::sampler::Sampler;
use runtime::rlwe::{EvaluationKeys, PublicKey, SecretKey};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Whether tests at real sizes are asked for: `FHEC_SLOW=1`.
pub fn slow() -> bool {
    std::env::var_os("FHEC_SLOW").is_some_and(|v| v == "1")
}

/// Why a program is refused.
#[derive(Debug)]
pub struct Refusal {
    /// line, and everything that is said there: message, labels, help, notes
    pub messages: Vec<(u64, String)>,
}

impl Refusal {
    fn new(diagnostics: &Diagnostics, sources: &Sources) -> Refusal {
        let message = |d: &Diagnostic| {
            let labels = d.secondary.iter().chain([&d.primary]).map(|l| l.text.clone());
            let text = labels.chain(d.help.clone()).chain(d.notes.clone());
            let text: Vec<String> = std::iter::once(d.message.clone()).chain(text).collect();
            (sources.line(d.primary.file, d.primary.span) as u64, text.join(" "))
        };
        Refusal { messages: diagnostics.iter().map(message).collect() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.messages.iter().try_for_each(|(line, text)| write!(f, "line {line}: {text}; "))
    }
}

/// A compiled program with data.
#[derive(Debug)]
pub struct Job {
    /// what the compiler made
    pub compiled: Compiled,
    inputs: BTreeMap<String, Tensor>,
}

impl Job {
    /// Compiles a program.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(
        file: &Path,
        scheme: SchemeName,
        toy: bool,
        inputs: &BTreeMap<String, Tensor>,
    ) -> Result<Job, Refusal> {
        let choice = match scheme {
            SchemeName::Ckks => SchemeChoice::Ckks,
            SchemeName::Gl => SchemeChoice::Gl,
        };
        let options = Options { scheme: Some(choice), toy, ..Options::default() };
        let (sources, found) = Sources::read(&file.to_string_lossy(), &FileLoader)
            .map_err(|e| Refusal { messages: vec![(0, e.to_string())] })?;
        match compile(&sources, found, &FileLoader, &options) {
            Ok(compiled) => Ok(Job { compiled, inputs: inputs.clone() }),
            Err(diagnostics) => Err(Refusal::new(&diagnostics, &sources)),
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.compiled.planned.plan
    }

    /// The outputs by the judge.
    ///
    /// # Errors
    /// The messages, one a line.
    pub fn interpreted(&self) -> Result<Vec<Tensor>, String> {
        let run = interpret(&self.compiled.program.graph, &self.inputs, OutOfRange::Refuse);
        let text = |d: Diagnostics| d.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n");
        run.map(|r| r.values).map_err(text)
    }

    fn data(&self) -> Result<Vec<Option<Tensor>>, String> {
        check_inputs(self.plan(), &self.inputs, Required::All)
            .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }

    /// The outputs of the plan in clear.
    ///
    /// # Errors
    /// The message.
    pub fn simulated(&self) -> Result<Vec<Tensor>, String> {
        simulate(self.plan(), &self.data()?, None, &mut |_| {}).map_err(|e| e.to_string())
    }

    /// The outputs under encryption. Levels and scales are checked by the executor at every node.
    ///
    /// # Errors
    /// The message.
    pub fn encrypted(&self) -> Result<Vec<Tensor>, String> {
        encrypted(self.plan(), &self.data()?)
    }
}

/// The outputs of a plan under encryption, for the values of its inputs in order.
///
/// # Errors
/// The message.
pub fn encrypted(plan: &Plan, data: &[Option<Tensor>]) -> Result<Vec<Tensor>, String> {
    match plan.geometry.scheme {
        SchemeName::Ckks => encrypted_in::<CkksScheme>(plan, data),
        SchemeName::Gl => encrypted_in::<GlScheme>(plan, data),
    }
}

fn encrypted_in<S: Scheme>(plan: &Plan, data: &[Option<Tensor>]) -> Result<Vec<Tensor>, String> {
    let run = || -> Result<Vec<Tensor>, Box<dyn std::error::Error>> {
        let client = S::new(plan, EvaluationKeys::new())?;
        let mut sampler = Sampler::from_seed([11; 32]);
        let secret = SecretKey::generate(client.chain(), &mut sampler);
        let keys = generate_keys(&client, plan, &secret, &mut sampler, &mut |_, _| {})?;
        let public = PublicKey::generate(client.chain(), &secret, &mut sampler);
        let key = EncryptionKey::Public(&public);
        let inputs = encrypt_inputs(&client, plan, data, &key, &mut sampler)?;
        let server = S::new(plan, keys)?;
        let run = execute(plan, &server, &inputs, &mut |_| {})?;
        Ok(decrypt_outputs(&client, plan, &secret, run.outputs)?)
    };
    run().map_err(|e| e.to_string())
}
