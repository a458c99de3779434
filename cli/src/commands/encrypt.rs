//! `fhec encrypt`: the inputs of a plan, encrypted by the client.

use super::{file_bytes, system_sampler};
use crate::args::EncryptArgs;
use crate::console::Console;
use crate::failure::Failure;
use crate::inputs;
use plan::{Bytes, Plan, Scheme as SchemeName};
use runtime::exec::ckks::CkksScheme;
use runtime::exec::client::encrypt_inputs;
use runtime::exec::gl::GlScheme;
use runtime::exec::{EncryptionKey, Required, Scheme};
use runtime::files;
use runtime::rlwe::EvaluationKeys;
use serde_json::json;

pub fn run(args: &EncryptArgs, console: &Console) -> Result<(), Failure> {
    let plan = files::read_plan(&args.plan)?;
    match plan.geometry.scheme {
        SchemeName::Ckks => encrypt::<CkksScheme>(args, &plan, console),
        SchemeName::Gl => encrypt::<GlScheme>(args, &plan, console),
    }
}

fn encrypt<S: Scheme>(args: &EncryptArgs, plan: &Plan, console: &Console) -> Result<(), Failure> {
    let scheme = S::new(plan, EvaluationKeys::new())?;
    let data = inputs::read_all(plan, &args.inputs, None)?;
    let inputs = inputs::check(plan, &data, &args.plan, Required::Cipher)?;
    let mut sampler = system_sampler()?;
    let encrypted = if files::is_secret(&args.key) {
        let secret = files::read_secret(&args.key, plan, &scheme)?;
        encrypt_inputs(&scheme, plan, &inputs, &EncryptionKey::Secret(&secret), &mut sampler)?
    } else {
        let public = files::read_public(&args.key, plan, &scheme)?;
        encrypt_inputs(&scheme, plan, &inputs, &EncryptionKey::Public(&public), &mut sampler)?
    };
    files::write_inputs::<S>(&args.out, plan, &encrypted)?;
    let bytes = file_bytes(&args.out);
    console.say(&format!("{}  {}", args.out.display(), Bytes(bytes)));
    console.object(&json!({
        "program": plan.program, "plan": plan.hash(), "path": args.out, "bytes": bytes,
        "ciphertexts": encrypted.cipher.values().map(Vec::len).sum::<usize>(),
    }));
    Ok(())
}
