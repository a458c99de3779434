//! Containers: what is written is read back, and every kind of wrong file is named.

mod exec_common;

use exec_common::{data, everything, expected};
use plan::{Plan, Scheme as SchemeName};
use proptest::prelude::*;
use runtime::exec::ckks::CkksScheme;
use runtime::exec::client::{decrypt_outputs, encrypt_inputs};
use runtime::exec::gl::GlScheme;
use runtime::exec::scheme::generate_keys;
use runtime::exec::{EncryptionKey, Precision, Required, Scheme, check_inputs, execute};
use runtime::files::{self, Container, FileError, Kind, PlanFileError};
use runtime::math::sampler::Sampler;
use runtime::rlwe::{EvaluationKeys, PublicKey, SecretKey};
use std::path::{Path, PathBuf};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("fhec-files-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes a plan, keys, inputs and outputs, as a client and a server do, through files alone.
fn whole_job<S: Scheme>(folder: &Folder, scheme: SchemeName) -> Plan {
    let plan = everything(scheme);
    files::write_plan(&folder.at("plan"), &plan).unwrap();
    let plan = files::read_plan(&folder.at("plan")).unwrap();
    let client = S::new(&plan, EvaluationKeys::new()).unwrap();
    let mut sampler = Sampler::from_seed([9; 32]);
    let secret = SecretKey::generate(client.chain(), &mut sampler);
    let public = PublicKey::generate(client.chain(), &secret, &mut sampler);
    let keys = generate_keys(&client, &plan, &secret, &mut sampler, &mut |_, _| {}).unwrap();
    files::write_secret(&folder.at("secret.key"), &plan, &secret).unwrap();
    files::write_public(&folder.at("public.key"), &plan, &public).unwrap();
    let degree = client.chain().ring_spec().degree();
    files::write_evaluation(&folder.at("eval.key"), &plan, degree, &keys).unwrap();

    let public = files::read_public(&folder.at("public.key"), &plan, &client).unwrap();
    let inputs = check_inputs(&plan, &data(&plan), Required::All).unwrap();
    let encrypted =
        encrypt_inputs(&client, &plan, &inputs, &EncryptionKey::Public(&public), &mut sampler).unwrap();
    files::write_inputs::<S>(&folder.at("in.ct"), &plan, &encrypted).unwrap();

    let keys = files::read_evaluation(&folder.at("eval.key"), &plan, &client).unwrap();
    let server = S::new(&plan, keys).unwrap();
    let encrypted = files::read_inputs(&folder.at("in.ct"), &plan, &server).unwrap();
    let run = execute(&plan, &server, &encrypted, &mut |_| {}).unwrap();
    files::write_outputs::<S>(&folder.at("out.ct"), &plan, &run.outputs).unwrap();

    let secret = files::read_secret(&folder.at("secret.key"), &plan, &client).unwrap();
    let outputs = files::read_outputs(&folder.at("out.ct"), &plan, &client).unwrap();
    let outputs = decrypt_outputs(&client, &plan, &secret, outputs).unwrap();
    for (output, found) in plan.outputs.iter().zip(&outputs) {
        let precision = Precision::of(found, &expected(&plan)[output.name.as_str()]).unwrap();
        assert!(precision.max < 1e-5, "{}: {precision:?}", output.name);
    }
    plan
}

#[test]
fn client_and_server_meet_in_files_alone() {
    let folder = Folder::new("ckks");
    whole_job::<CkksScheme>(&folder, SchemeName::Ckks);
    assert!(files::is_secret(&folder.at("secret.key")) && !files::is_secret(&folder.at("public.key")));
    #[cfg(unix)]
    {
        let mode = |name: &str| {
            let info = std::fs::metadata(folder.at(name)).unwrap();
            std::os::unix::fs::PermissionsExt::mode(&info.permissions()) & 0o777
        };
        assert_eq!(mode("secret.key"), 0o600);
        assert_ne!(mode("eval.key"), 0o600);
    }
    let folder = Folder::new("gl");
    whole_job::<GlScheme>(&folder, SchemeName::Gl);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 6, "no partial file stays");
}

#[test]
fn the_wrong_field_is_named() {
    let folder = Folder::new("wrong");
    let plan = whole_job::<CkksScheme>(&folder, SchemeName::Ckks);
    let client = CkksScheme::new(&plan, EvaluationKeys::new()).unwrap();
    let path = folder.at("public.key");
    let good = std::fs::read(&path).unwrap();
    let read = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        let broken = folder.at("broken");
        std::fs::write(&broken, bytes).unwrap();
        files::read_public(&broken, &plan, &client).map(|_| ()).unwrap_err()
    };
    assert!(matches!(read(&|b| b[0] = b'F'), FileError::Magic { .. }));
    assert!(matches!(read(&|b| b.clear()), FileError::Magic { .. }));
    assert!(matches!(read(&|b| b[8] = 9), FileError::Version { found: 9, .. }));
    assert!(matches!(read(&|b| b[12] = 2), FileError::Kind { found: Some(Kind::SecretKey), .. }));
    assert!(matches!(read(&|b| b[16] ^= 1), FileError::PlanHash { .. }));
    assert!(matches!(read(&|b| b[50] = 0xff), FileError::Length { .. }));
    assert!(matches!(read(&|b| b.truncate(50)), FileError::Length { .. }));
    assert!(matches!(read(&|b| b.truncate(b.len() - 1)), FileError::Length { .. }));
    assert!(matches!(read(&|b| b.push(0)), FileError::Length { .. }));
    let last = good.len() - 100;
    assert!(matches!(read(&|b| b[last] ^= 0x10), FileError::Checksum { .. }));
    let residue = read(&|b| {
        b[last..last + 8].fill(0xff);
        let end = b.len() - 32;
        let sum = blake3::hash(&b[..end]);
        b[end..].copy_from_slice(sum.as_bytes());
    });
    assert!(residue.to_string().contains("residues of the plan's moduli"), "{residue}");
    let other = everything(SchemeName::Gl);
    assert!(matches!(
        Container::open(&path, Kind::PublicKey, Some(&other.hash())),
        Err(FileError::PlanHash { .. })
    ));
}

#[test]
fn plans_are_verified_when_read() {
    let folder = Folder::new("plan");
    let mut plan = everything(SchemeName::Gl);
    plan.nodes[4].shape = vec![1];
    files::write_plan(&folder.at("plan"), &plan).unwrap();
    assert!(matches!(files::read_plan(&folder.at("plan")), Err(PlanFileError::Verify { .. })));
    plan.params.insecure = false;
    files::write_plan(&folder.at("plan"), &plan).unwrap();
    let error = files::read_plan(&folder.at("plan")).unwrap_err();
    assert!(error.to_string().contains("log2(PQ)"), "{error}");
}

/// Changes a file and puts a right checksum under it: what an attacker can do.
fn forged(good: &[u8], edits: &[(prop::sample::Index, u8)]) -> Vec<u8> {
    let mut bytes = good.to_vec();
    edits.iter().for_each(|(at, b)| {
        let i = at.index(bytes.len() - 32);
        bytes[i] = *b;
    });
    let end = bytes.len() - 32;
    let sum = blake3::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(sum.as_bytes());
    bytes
}

fn read_everything(path: &Path, plan: &Plan, scheme: &CkksScheme) {
    let _ = files::read_plan(path);
    let _ = files::read_secret(path, plan, scheme);
    let _ = files::read_public(path, plan, scheme);
    let _ = files::read_evaluation(path, plan, scheme);
    let _ = files::read_inputs(path, plan, scheme);
    let _ = files::read_outputs(path, plan, scheme);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn forged_files_never_panic(edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5)) {
        static JOB: std::sync::OnceLock<(Folder, Plan)> = std::sync::OnceLock::new();
        let (folder, plan) = JOB.get_or_init(|| {
            let folder = Folder::new("forged");
            let plan = whole_job::<CkksScheme>(&folder, SchemeName::Ckks);
            (folder, plan)
        });
        let scheme = CkksScheme::new(plan, EvaluationKeys::new()).unwrap();
        for name in ["plan", "secret.key", "public.key", "in.ct", "out.ct"] {
            let path = folder.at("forged");
            std::fs::write(&path, forged(&std::fs::read(folder.at(name)).unwrap(), &edits)).unwrap();
            read_everything(&path, plan, &scheme);
        }
    }
}
