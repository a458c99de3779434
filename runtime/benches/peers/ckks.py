"""CKKS operations of fhec beside those of SEAL (through TenSEAL) and desilofhe, in one run on one machine.

    pip install tenseal desilofhe numpy    (the licence of desilofhe is non-commercial: this script is opt-in, nothing runs it)
    cargo build --release
    python runtime/benches/peers/ckks.py target/release/fhec [--log-dimension 15] [--primes 17] [--runs 7] [--without PEER ...]

One thread. CPU milliseconds, medians; the largest error on full slots of the peers' products against numpy, of fhec against the
same operation in clear. Scale 2^40 everywhere. A peer without the parameters asked for is left out and says why.
"""

import argparse
import json
import statistics
import subprocess
import time

import numpy as np


def median_ms(operation, runs):
    """Median CPU milliseconds, after one run to warm up."""
    times = []
    for _ in range(runs + 1):
        start = time.process_time()
        operation()
        times.append(time.process_time() - start)
    return 1e3 * statistics.median(times[1:])


def seal(log_dimension, primes):
    """Name of the bench of fhec -> operation."""
    from tenseal import sealapi as s

    degree, bits = 1 << log_dimension, [60] + [40] * (primes - 1) + [60]
    parameters = s.EncryptionParameters(s.SCHEME_TYPE.CKKS)
    parameters.set_poly_modulus_degree(degree)
    parameters.set_coeff_modulus(s.CoeffModulus.Create(degree, bits))
    context = s.SEALContext(parameters, True, s.SEC_LEVEL_TYPE.TC128)
    generator = s.KeyGenerator(context)
    public, relinearization, rotations = s.PublicKey(), s.RelinKeys(), s.GaloisKeys()
    generator.create_public_key(public)
    generator.create_relin_keys(relinearization)
    generator.create_galois_keys([3], rotations)
    encoder, evaluator = s.CKKSEncoder(context), s.Evaluator(context)
    encryptor, decryptor = s.Encryptor(context, public), s.Decryptor(context, generator.secret_key())
    x = np.random.default_rng(0).uniform(-1, 1, degree // 2)
    plain, cipher = s.Plaintext(), s.Ciphertext()
    encoder.encode(list(x), 2.0**40, plain)
    encryptor.encrypt(plain, cipher)

    def multiply():
        product = s.Ciphertext()
        evaluator.multiply(cipher, cipher, product)
        evaluator.relinearize_inplace(product, relinearization)
        evaluator.rescale_to_next_inplace(product)
        return product

    def multiply_plain():
        product = s.Ciphertext()
        evaluator.multiply_plain(cipher, plain, product)
        evaluator.rescale_to_next_inplace(product)

    def decrypt(of=cipher):
        opened = s.Plaintext()
        decryptor.decrypt(of, opened)
        return np.array(encoder.decode_double(opened))

    operations = {
        "ckks-multiply": multiply,
        "ckks-multiply-plain": multiply_plain,
        "ckks-rotate": lambda: evaluator.rotate_vector(cipher, 1, rotations, s.Ciphertext()),
        "ckks-encrypt": lambda: encryptor.encrypt(plain, s.Ciphertext()),
        "ckks-decrypt": decrypt,
    }
    return operations, np.abs(decrypt(multiply()) - x * x).max()


def desilo(log_dimension, primes):
    """As `seal`."""
    import desilofhe

    engine = desilofhe.Engine(max_level=primes - 1, mode="cpu", thread_count=1)
    slots = engine.slot_count
    if 2 * slots != 1 << log_dimension:
        raise ValueError(f"it takes dimension {2 * slots} for {primes} primes")
    secret = engine.create_secret_key()
    public, relinearization = engine.create_public_key(secret), engine.create_relinearization_key(secret)
    rotation = engine.create_fixed_rotation_key(secret, 1)
    x = np.random.default_rng(0).uniform(-1, 1, slots)
    cipher, plain = engine.encrypt(x, public), engine.encode(x)
    multiply = lambda: engine.multiply(cipher, cipher, relinearization)
    operations = {
        "ckks-multiply": multiply,
        "ckks-multiply-plain": lambda: engine.multiply(cipher, plain),
        "ckks-rotate": lambda: engine.rotate(cipher, rotation),
        "ckks-encrypt": lambda: engine.encrypt(x, public),
        "ckks-decrypt": lambda: engine.decrypt(cipher, secret),
    }
    return operations, np.abs(engine.decrypt(multiply(), secret)[:slots] - x * x).max()


def fhec(binary, name, log_dimension, primes):
    """What `fhec bench` says of an operation."""
    command = [binary, "bench", name, "--log-dimension", log_dimension, "--level", primes - 1, "--threads", 1, "--json"]
    return json.loads(subprocess.run([str(part) for part in command], check=True, capture_output=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binary")
    for name, default in [("log-dimension", 15), ("primes", 17), ("runs", 7)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--without", nargs="*", default=[])
    args = parser.parse_args()
    peers = {}
    for name, make in [("seal", seal), ("desilo", desilo)]:
        try:
            if name not in args.without:
                peers[name] = make(args.log_dimension, args.primes)
        except Exception as reason:
            print(f"{name}: {reason}")
    print("ms".ljust(22) + "fhec".rjust(10) + "".join(f"{name:>10}{'ratio':>8}" for name in peers))
    names = ["multiply", "multiply-plain", "rotate", "rotate-hoisted", "encrypt", "decrypt"]
    for name in (f"ckks-{name}" for name in names):
        ours = fhec(args.binary, name, args.log_dimension, args.primes)
        ms = 1e3 * ours["cpu_s"]
        print(f"{name:<22}{ms:>10.2f}", end="")
        for operations, _ in peers.values():
            theirs = median_ms(operations[name], args.runs) if name in operations else float("nan")
            print(f"{theirs:>10.2f}{theirs / ms:>8.1f}", end="")
        print(f"   error {ours['max_abs_error']:.1e}", flush=True)
    for name, (_, error) in peers.items():
        print(f"{name}: largest error of a product {error:.1e}")


if __name__ == "__main__":
    main()
