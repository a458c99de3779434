//! `fhec decrypt`: the outputs of a plan, by the client.

use super::make_folder;
use crate::args::DecryptArgs;
use crate::console::Console;
use crate::failure::Failure;
use plan::{Form, Output, Plan, Scheme as SchemeName, Tensor};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use runtime::data::write_npy;
use runtime::exec::Scheme;
use runtime::exec::ckks::CkksScheme;
use runtime::exec::client::decrypt_outputs;
use runtime::exec::gl::GlScheme;
use runtime::exec::noise::{FLOOD_FACTOR, add_noise};
use runtime::files;
use runtime::rlwe::EvaluationKeys;
use serde_json::json;

pub fn run(args: &DecryptArgs, console: &Console) -> Result<(), Failure> {
    let plan = files::read_plan(&args.plan)?;
    match plan.geometry.scheme {
        SchemeName::Ckks => decrypt::<CkksScheme>(args, &plan, console),
        SchemeName::Gl => decrypt::<GlScheme>(args, &plan, console),
    }
}

fn decrypt<S: Scheme>(args: &DecryptArgs, plan: &Plan, console: &Console) -> Result<(), Failure> {
    let scheme = S::new(plan, EvaluationKeys::new())?;
    let secret = files::read_secret(&args.key, plan, &scheme)?;
    let values = files::read_outputs(&args.outputs, plan, &scheme)?;
    let mut tensors = decrypt_outputs(&scheme, plan, &secret, values)?;
    if args.flood {
        let mut rng = ChaCha20Rng::from_seed(super::system_sampler()?.seed());
        for (tensor, output) in tensors.iter_mut().zip(&plan.outputs) {
            *tensor = add_noise(tensor, flood_deviation(plan, output), &mut rng);
        }
    }
    make_folder(&args.out)?;
    let mut outputs = Vec::new();
    for (tensor, output) in tensors.iter().zip(&plan.outputs) {
        let path = args.out.join(format!("{}.npy", output.name));
        write_npy(&path, tensor)?;
        console.say(&describe(output, tensor, &path, args.flood.then(|| flood_deviation(plan, output))));
        outputs.push(json!({
            "name": output.name, "shape": tensor.shape(), "path": path,
            "predicted_error": output.predicted_error,
            "flood_deviation": args.flood.then(|| flood_deviation(plan, output)),
        }));
    }
    if !args.flood {
        console.say(
            "these values carry the noise of their ciphertexts: keep them to yourself, or decrypt with --flood before \
             others see them",
        );
    }
    console.object(
        &json!({"program": plan.program, "plan": plan.hash(), "flood": args.flood, "outputs": outputs}),
    );
    Ok(())
}

/// Deviation of the noise that hides the noise of an output's ciphertext, by the plan's prediction.
fn flood_deviation(plan: &Plan, output: &Output) -> f64 {
    match plan.node(output.node).form {
        Form::Cipher { noise, .. } => FLOOD_FACTOR * noise,
        Form::Clear => 0.0,
    }
}

fn describe(output: &Output, tensor: &Tensor, path: &std::path::Path, flood: Option<f64>) -> String {
    let flood = flood.map_or(String::new(), |d| {
        let warning = if 3.0 * d > output.precision { ", MORE than the declared precision allows" } else { "" };
        format!(
            "; flooded with deviation {d:.1e}{warning}: hides the noise of one decryption with 30 bits of statistical security"
        )
    });
    format!(
        "{}  {} in {}, predicted error {:.1e}{flood}",
        path.display(),
        output.name,
        plan::tensor::show(tensor.shape()),
        output.predicted_error
    )
}
