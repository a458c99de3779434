//! The arguments of every command.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Compiles tensor programs to fully homomorphic encryption, and runs them.
#[derive(Parser)]
#[command(name = "fhec", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Args)]
pub struct Global {
    /// Print one JSON object on standard output, errors included, and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// Print results and errors only
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more: the plan, times of its operations
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Threads to compute with (default: all cores)
    #[arg(long, global = true, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

#[derive(Subcommand)]
pub enum Command {
    /// Parse and check a program; report all its errors
    Check(CheckArgs),
    /// Make the plan of a program and print its summary
    Compile(CompileArgs),
    /// Say why a plan is as it is: depth, cost, parameters, the other scheme
    Explain(ExplainArgs),
    /// Do the whole job here: keys, encrypt, evaluate, decrypt, compare with the clear run
    Run(RunArgs),
    /// Client: make secret.key, public.key and eval.key for a plan
    Keygen(KeygenArgs),
    /// Client: encrypt the inputs of a plan
    Encrypt(EncryptArgs),
    /// Server: evaluate a plan on encrypted inputs
    Eval(EvalArgs),
    /// Client: decrypt the outputs of a plan
    Decrypt(DecryptArgs),
    /// Time primitives at secure parameters
    Bench(BenchArgs),
    /// Print the graph of a program after a pass
    Dump(DumpArgs),
}

#[derive(Args)]
pub struct CheckArgs {
    /// The program
    pub file: PathBuf,
}

/// How to plan; flags override the directives of the program.
#[derive(Args, Default)]
pub struct PlanArgs {
    /// Scheme to plan for [default: the program's, or the cheaper one]
    #[arg(long, value_enum, value_name = "SCHEME")]
    pub scheme: Option<SchemeArg>,
    /// Bits of security: 128, 192 or 256 [default: the program's, or 128]
    #[arg(long, value_name = "BITS", value_parser = security_bits)]
    pub security: Option<u32>,
    /// Largest absolute error of every output, in place of what the program says
    #[arg(long, value_name = "E", value_parser = positive)]
    pub precision: Option<f64>,
    /// Refuse plans that need more memory, as in 16GiB or 500MB
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub memory: Option<u64>,
    /// Bootstrap where a program is too deep otherwise, or never [default: the program's, or auto]
    #[arg(long, value_enum, value_name = "WHETHER")]
    pub bootstrap: Option<BootstrapArg>,
    /// How levels and bootstraps are chosen
    #[arg(long, value_enum, value_name = "POLICY", default_value = "exact")]
    pub policy: PolicyArg,
    /// Plan for the machine that `fhec bench --calibrate` described here [default: the one fhec comes with]
    #[arg(long, value_name = "PATH")]
    pub machine: Option<PathBuf>,
    /// Take a small INSECURE ring, for trials only
    #[arg(long)]
    pub toy: bool,
}

impl PlanArgs {
    /// The first option that is given, for messages.
    pub fn given(&self) -> Option<&'static str> {
        let options = [
            (self.scheme.is_some(), "--scheme"),
            (self.security.is_some(), "--security"),
            (self.precision.is_some(), "--precision"),
            (self.memory.is_some(), "--memory"),
            (self.bootstrap.is_some(), "--bootstrap"),
            (self.machine.is_some(), "--machine"),
            (self.policy != PolicyArg::Exact, "--policy"),
            (self.toy, "--toy"),
        ];
        options.into_iter().find(|o| o.0).map(|o| o.1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemeArg {
    /// the cheaper one
    Auto,
    /// CKKS
    Ckks,
    /// Gentry-Lee
    Gl,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BootstrapArg {
    /// where the program is too deep otherwise
    Auto,
    /// never
    Off,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum PolicyArg {
    /// the least cost, proved or bounded
    #[default]
    Exact,
    /// as late as possible
    Greedy,
}

#[derive(Args)]
pub struct CompileArgs {
    /// The program
    pub file: PathBuf,
    /// Write the plan here
    #[arg(short, long, value_name = "PLAN")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub plan: PlanArgs,
    /// Print the plan (text, JSON, a graph in DOT, an HTML page), or the graph it was made from, on standard output
    #[arg(long, value_enum, value_name = "FORM")]
    pub emit: Option<Emit>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// the plan as text
    Plan,
    /// the plan as JSON
    Json,
    /// the graph as text
    Ir,
    /// the plan as a graph in the DOT language
    Dot,
    /// the plan as a page: graph, levels, bootstraps, memory, costs
    Html,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExplainForm {
    /// words
    Text,
    /// a graph in the DOT language
    Dot,
    /// a page: graph, levels, bootstraps, memory, costs
    Html,
}

#[derive(Args)]
pub struct ExplainArgs {
    /// A program or a compiled plan
    pub file: PathBuf,
    #[command(flatten)]
    pub plan: PlanArgs,
    /// How to explain it, on standard output
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub emit: ExplainForm,
}

#[derive(Args)]
pub struct RunArgs {
    /// A program or a compiled plan
    pub file: PathBuf,
    /// Data of an input: an .npy, .npz or .safetensors file, a number, or random:SEED
    /// [default: NAME.npy, NAME.npz or NAME.safetensors beside the program]
    #[arg(long = "input", value_name = "NAME=PATH")]
    pub inputs: Vec<String>,
    /// How to evaluate
    #[arg(long, value_enum, default_value = "encrypted")]
    pub mode: Mode,
    /// Write every output here, as NAME.npy
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Go on, with a warning, when a value leaves a range that the program states with `in` or `on`
    #[arg(long)]
    pub allow_out_of_range: bool,
    #[command(flatten)]
    pub plan: PlanArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// under encryption
    Encrypted,
    /// the plan in clear, with noise of the predicted size
    Simulate,
    /// the program in clear
    Clear,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Encrypted => "encrypted",
            Mode::Simulate => "simulate",
            Mode::Clear => "clear",
        }
    }
}

#[derive(Args)]
pub struct KeygenArgs {
    /// The compiled plan
    pub plan: PathBuf,
    /// Folder for secret.key, public.key and eval.key
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
}

#[derive(Args)]
pub struct EncryptArgs {
    /// The compiled plan
    pub plan: PathBuf,
    /// secret.key (less noise) or public.key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// Data of an input: an .npy, .npz or .safetensors file, a number, or random:SEED
    #[arg(long = "input", value_name = "NAME=PATH")]
    pub inputs: Vec<String>,
    /// Write the encrypted inputs here
    #[arg(short, long, value_name = "IN.ct")]
    pub out: PathBuf,
}

#[derive(Args)]
pub struct EvalArgs {
    /// The compiled plan
    pub plan: PathBuf,
    /// eval.key
    #[arg(long, value_name = "FILE")]
    pub keys: PathBuf,
    /// Encrypted inputs
    #[arg(value_name = "IN.ct")]
    pub inputs: PathBuf,
    /// Data of a plain input that the client did not send
    #[arg(long = "input", value_name = "NAME=PATH")]
    pub plain: Vec<String>,
    /// Write the encrypted outputs here
    #[arg(short, long, value_name = "OUT.ct")]
    pub out: PathBuf,
}

#[derive(Args)]
pub struct DecryptArgs {
    /// The compiled plan
    pub plan: PathBuf,
    /// secret.key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// Encrypted outputs
    #[arg(value_name = "OUT.ct")]
    pub outputs: PathBuf,
    /// Folder for the outputs, as NAME.npy
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
    /// Hide the noise of the ciphertext under much larger noise: for results that leave the client
    #[arg(long)]
    pub flood: bool,
}

#[derive(Args)]
pub struct BenchArgs {
    /// Which primitive [default: all]
    #[arg(value_enum)]
    pub name: Option<BenchName>,
    /// Pairs, rows and columns of matrix products
    #[arg(long, value_name = "B,R,C", value_parser = shape, default_value = "256,64,64")]
    pub shape: [usize; 3],
    /// Level of the operands
    #[arg(long, value_name = "L", default_value_t = 2)]
    pub level: usize,
    /// log2 of the ring dimension of CKKS operations [default: the smallest that is secure]
    #[arg(long, value_name = "LOG2")]
    pub log_dimension: Option<u32>,
    /// Measure what arithmetic costs on this machine, about a minute, and write it here for `--machine`
    #[arg(long, value_name = "PATH", conflicts_with = "name")]
    pub calibrate: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchName {
    /// forward transform of one limb
    Ntt,
    /// encrypted matrices times the adjoints of encrypted ones
    GlMatmul,
    /// encrypted matrices times the adjoints of encoded ones
    GlMatmulPlain,
    /// encoded matrices times the adjoints of encrypted ones
    GlPlainMatmul,
    /// encrypted matrices times their own adjoints
    GlGram,
    /// element-wise product of encrypted matrices
    GlHadamard,
    /// element-wise product of encrypted and encoded matrices
    GlHadamardPlain,
    /// rotation of batch and rows
    GlRotate,
    /// transpose
    GlTranspose,
    /// conjugate transpose
    GlConjugateTranspose,
    /// complex conjugate
    GlConjugate,
    /// encoding and encryption under the secret key
    GlEncrypt,
    /// decryption and decoding
    GlDecrypt,
    /// complex slots at level 3 back to `--level` levels more; as many slots as `--shape` has elements
    CkksBootstrap,
    /// the same for real slots
    CkksBootstrapReal,
    /// product, relinearized and rescaled
    CkksMultiply,
    /// product with an encoded factor, rescaled
    CkksMultiplyPlain,
    /// rotation of the slots
    CkksRotate,
    /// one more rotation of slots whose digits are at hand
    CkksRotateHoisted,
    /// encryption of encoded slots under the public key
    CkksEncrypt,
    /// decryption and decoding
    CkksDecrypt,
    /// encrypted matrices times encrypted matrices, by masks
    CkksMaskedMatmul,
}

impl BenchName {
    pub fn name(self) -> &'static str {
        match self {
            BenchName::Ntt => "ntt",
            BenchName::GlMatmul => "gl-matmul",
            BenchName::GlMatmulPlain => "gl-matmul-plain",
            BenchName::GlPlainMatmul => "gl-plain-matmul",
            BenchName::GlGram => "gl-gram",
            BenchName::GlHadamard => "gl-hadamard",
            BenchName::GlHadamardPlain => "gl-hadamard-plain",
            BenchName::GlRotate => "gl-rotate",
            BenchName::GlTranspose => "gl-transpose",
            BenchName::GlConjugateTranspose => "gl-conjugate-transpose",
            BenchName::GlConjugate => "gl-conjugate",
            BenchName::GlEncrypt => "gl-encrypt",
            BenchName::GlDecrypt => "gl-decrypt",
            BenchName::CkksBootstrap => "ckks-bootstrap",
            BenchName::CkksBootstrapReal => "ckks-bootstrap-real",
            BenchName::CkksMultiply => "ckks-multiply",
            BenchName::CkksMultiplyPlain => "ckks-multiply-plain",
            BenchName::CkksRotate => "ckks-rotate",
            BenchName::CkksRotateHoisted => "ckks-rotate-hoisted",
            BenchName::CkksEncrypt => "ckks-encrypt",
            BenchName::CkksDecrypt => "ckks-decrypt",
            BenchName::CkksMaskedMatmul => "ckks-masked-matmul",
        }
    }
}

#[derive(Args)]
pub struct DumpArgs {
    /// The pass after which to print
    #[arg(long, value_name = "PASS")]
    pub after: String,
    /// The program
    pub file: PathBuf,
}

fn security_bits(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(bits @ (128 | 192 | 256)) => Ok(bits),
        _ => Err("expected 128, 192 or 256".into()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("expected a number above 0".into()),
    }
}

/// A number of bytes with a unit.
fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 8] = [
        ("KiB", 1024.0),
        ("MiB", 1048576.0),
        ("GiB", 1073741824.0),
        ("TiB", 1099511627776.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
    ];
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let unit = UNITS.iter().find(|u| u.0.eq_ignore_ascii_case(unit.trim())).map(|u| u.1);
    match (number.trim().parse::<f64>(), unit) {
        (Ok(n), Some(unit)) if n > 0.0 && n * unit < 1e18 => Ok((n * unit) as u64),
        _ => Err("expected a size with a unit, as in 16GiB".into()),
    }
}

fn shape(text: &str) -> Result<[usize; 3], String> {
    let sizes: Option<Vec<usize>> =
        text.split(',').map(|s| s.trim().parse().ok().filter(|&n| n > 0)).collect();
    sizes.and_then(|s| s.try_into().ok()).ok_or_else(|| "expected three sizes, as in 256,64,64".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
        assert_eq!(shape("1, 2,3"), Ok([1, 2, 3]));
        assert!(shape("1,2").is_err() && shape("1,0,2").is_err() && security_bits("100").is_err());
        assert_eq!((bytes("16 GiB"), bytes("1.5kb")), (Ok(16 << 30), Ok(1500)));
        assert!(bytes("16").is_err() && bytes("-1GB").is_err() && bytes("1e40TB").is_err());
        assert!(positive("inf").is_err() && positive("-1").is_err());
    }
}
