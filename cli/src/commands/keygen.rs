//! `fhec keygen`: the keys of a plan, made by the client.

use super::{file_bytes, make_folder, system_sampler};
use crate::args::KeygenArgs;
use crate::console::Console;
use crate::failure::Failure;
use plan::{Bytes, Plan, Scheme as SchemeName};
use runtime::exec::Scheme;
use runtime::exec::ckks::CkksScheme;
use runtime::exec::gl::GlScheme;
use runtime::exec::scheme::generate_keys;
use runtime::files;
use runtime::rlwe::{EvaluationKeys, PublicKey, SecretKey};
use serde_json::json;

pub fn run(args: &KeygenArgs, console: &Console) -> Result<(), Failure> {
    let plan = files::read_plan(&args.plan)?;
    match plan.geometry.scheme {
        SchemeName::Ckks => make::<CkksScheme>(args, &plan, console),
        SchemeName::Gl => make::<GlScheme>(args, &plan, console),
    }
}

fn make<S: Scheme>(args: &KeygenArgs, plan: &Plan, console: &Console) -> Result<(), Failure> {
    let scheme = S::new(plan, EvaluationKeys::new())?;
    let mut sampler = system_sampler()?;
    let secret = SecretKey::generate(scheme.chain(), &mut sampler);
    let public = PublicKey::generate(scheme.chain(), &secret, &mut sampler);
    let bar = console.bar(runtime::exec::scheme::wanted_keys(&scheme, plan).len(), "keys");
    let keys = generate_keys(&scheme, plan, &secret, &mut sampler, &mut |done, _| bar.step(done, ""))?;
    drop(bar);
    make_folder(&args.out)?;
    let [secret_path, public_path, eval_path] =
        ["secret.key", "public.key", "eval.key"].map(|name| args.out.join(name));
    files::write_secret(&secret_path, plan, &secret)?;
    files::write_public(&public_path, plan, &public)?;
    files::write_evaluation(&eval_path, plan, scheme.chain().ring_spec().degree(), &keys)?;
    let bytes = [&secret_path, &public_path, &eval_path].map(|p| file_bytes(p));
    for (path, size) in [&secret_path, &public_path, &eval_path].into_iter().zip(bytes) {
        console.say(&format!("{}  {}", path.display(), Bytes(size)));
    }
    if plan.params.insecure {
        console.warn("the plan has an INSECURE toy ring: these keys protect nothing");
    }
    console.say("keep secret.key to yourself; the server needs eval.key and the plan");
    console.object(&json!({
        "program": plan.program, "plan": plan.hash(), "security_bits": plan.params.security.bits,
        "insecure": plan.params.insecure,
        "files": {"secret": secret_path, "public": public_path, "eval": eval_path},
        "bytes": {"secret": bytes[0], "public": bytes[1], "eval": bytes[2]},
    }));
    Ok(())
}
