//! Times of the arithmetic core: `cargo run --release -p fhec-runtime --example timings`. Set RAYON_NUM_THREADS=1 for one
//! thread. Prints the median and the best of a few repetitions, in milliseconds.

use runtime::ckks::Ckks;
use runtime::math::{fft::Complex, prime::primes_near, sampler::Sampler};
use runtime::ring::{Poly, Ring, RingSpec};
use runtime::rlwe::{Chain, ChainSpec, EvaluationKeys, Gadget, KeySource, SecretKey};
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const RINGS: [(&str, RingSpec); 2] =
    [("X^32768 + 1", RingSpec::PowerOfTwo { log_n: 15 }), ("GL (64, 257)", RingSpec::Gl { n: 64, p: 257 })];

const TOO_FEW: &str = "too few primes";

fn main() -> Result<(), Box<dyn Error>> {
    for (name, ring) in RINGS {
        transforms(name, ring)?;
        for (primes, special, alpha) in [(3, 2, 3), (17, 4, 5)] {
            operations(name, ring, primes, special, alpha)?;
        }
    }
    Ok(())
}

/// One limb: transforms and a pointwise product.
fn transforms(name: &str, spec: RingSpec) -> Result<(), Box<dyn Error>> {
    let ring = Ring::new(spec, &primes_near(45, spec.modulus_step(), 1, &[]).ok_or(TOO_FEW)?)?;
    let mut poly = ring.lift(&Sampler::from_seed([1; 32]).gaussian(spec.degree()), 1);
    println!("{name}, one limb of 45 bits");
    let mut coefficients = poly.clone();
    ring.intt(&mut coefficients);
    let transform = |from: &Poly, f: &dyn Fn(&mut Poly)| {
        let mut copy = from.clone();
        f(&mut copy);
        black_box(copy);
    };
    report("forward transform", || transform(&coefficients, &|a| ring.ntt(a)));
    report("inverse transform", || transform(&poly, &|a| ring.intt(a)));
    let other = poly.clone();
    report("pointwise product", || ring.mul_assign(&mut poly, &other));
    Ok(())
}

/// CKKS operations at the highest level of a chain.
fn operations(
    name: &str,
    ring: RingSpec,
    count: usize,
    special: usize,
    alpha: usize,
) -> Result<(), Box<dyn Error>> {
    let step = ring.modulus_step();
    let mut primes = primes_near(43, step, 1, &[]).ok_or(TOO_FEW)?;
    primes.extend(primes_near(40, step, count - 1, &[]).ok_or(TOO_FEW)?);
    let special = primes_near(43, step, special, &primes).ok_or(TOO_FEW)?;
    println!("{name}, {count} primes, {} special primes, alpha {alpha}", special.len());
    let start = Instant::now();
    let chain = Chain::new(ChainSpec { ring, primes, gadget: Gadget { special, alpha } })?;
    let ckks = Ckks::new(Arc::new(chain), 2f64.powi(40))?;
    let (chain, level) = (ckks.chain(), ckks.max_level());
    println!("  {:42} {:9.2}", "tables", start.elapsed().as_secs_f64() * 1e3);

    let mut sampler = Sampler::from_seed([2; 32]);
    let secret = SecretKey::generate(chain, &mut sampler);
    let rotation = ring.rotation(1);
    let mut keys = EvaluationKeys::new();
    let start = Instant::now();
    for source in [KeySource::SQUARE, KeySource::Galois(rotation)] {
        keys.generate(chain, &secret, source, level, &mut sampler)?;
    }
    println!("  {:42} {:9.2}", "one key", start.elapsed().as_secs_f64() * 1e3 / 2.0);

    let slots = vec![Complex::new(0.5, -0.25); ckks.slots()];
    let plain = ckks.encode(&slots, level)?;
    report("encode", || drop(black_box(ckks.encode(&slots, level))));
    let x = ckks.encrypt(&secret, &plain, &mut sampler)?;
    report("encrypt", || drop(black_box(ckks.encrypt(&secret, &plain, &mut sampler))));
    report("decrypt and decode", || drop(black_box(ckks.decode(&ckks.decrypt(&secret, &x)))));
    report("decompose", || drop(black_box(chain.decompose(x.rlwe().mask()))));
    let digits = chain.decompose(x.rlwe().mask());
    report("rotation (key switch)", || drop(black_box(ckks.rotate(&x, rotation, &keys))));
    report("hoisted rotation", || {
        drop(black_box(chain.automorphism_hoisted(x.rlwe(), &digits, rotation, &keys)));
    });
    report("product of ciphertexts, relinearized", || drop(black_box(ckks.mul(&x, &x, &keys))));
    report("product with a plaintext, rescaled", || drop(black_box(ckks.mul_plain_rescale(&x, &plain))));
    Ok(())
}

fn report(name: &str, mut f: impl FnMut()) {
    f();
    let mut times: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            f();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("  {name:42} {:9.2} {:9.2}", times[4], times[0]);
}
