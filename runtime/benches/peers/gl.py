"""GL operations of fhec beside those of desilofhe, in one run on one machine.

    pip install desilofhe numpy        (its licence is non-commercial: this script is opt-in and runs nowhere by itself)
    cargo build --release
    python runtime/benches/peers/gl.py target/release/fhec [--level 2] [--side 64] [--threads 1] [--runs 3] [OPERATION ...]

Every operation works on 256 real matrices with entries uniform in [-1, 1]. CPU seconds of all threads, medians; the largest
error of a result against numpy, or against the same operation in clear for fhec. Products are A B^dagger on both sides.
"""

import argparse
import json
import statistics
import subprocess
import time

import desilofhe
import numpy as np

BATCH = 256


class Library:
    """Operands and keys of desilofhe, one level above what an operation leaves."""

    def __init__(self, side, level, threads):
        self.engine = desilofhe.Engine(shape=(BATCH, side, side), mode="cpu", thread_count=threads)
        self.side, self.level = side, level
        random = np.random.default_rng(1)
        self.a, self.b = (random.uniform(-1, 1, (BATCH, side, side)) for _ in range(2))
        self.secret = self.engine.create_secret_key()
        self.first, self.second = (self.engine.encrypt(m, self.secret, level) for m in (self.a, self.b))
        self.plain = self.engine.encode(self.b, level)

    def key(self, create, level):
        """A key for a level where the library makes such, for its highest level otherwise."""
        try:
            return create(self.secret, level)
        except (RuntimeError, TypeError, ValueError):
            return create(self.secret)

    def clear(self, ciphertext):
        return np.asarray(self.engine.decrypt(ciphertext, self.secret)).reshape(self.a.shape)

    def operations(self):
        """Name of the bench of fhec -> (keys, operation on them, result in clear)."""
        e, a, b = self.engine, self.a, self.b
        flip = lambda m: m.transpose(0, 2, 1)
        product = lambda: self.key(e.create_matrix_multiplication_key, self.level - 1)
        return {
            "gl-matmul": (product, lambda k: e.matrix_multiply(self.first, self.second, k), a @ flip(b)),
            "gl-matmul-plain": (product, lambda k: e.matrix_multiply(self.first, self.plain, k), a @ flip(b)),
            "gl-plain-matmul": (product, lambda k: e.matrix_multiply(self.plain, self.first, k), b @ flip(a)),
            "gl-hadamard": (
                lambda: self.key(e.create_relinearization_key, self.level - 1),
                lambda k: e.multiply(self.first, self.second, k),
                a * b,
            ),
            "gl-hadamard-plain": (lambda: None, lambda _: e.multiply(self.first, self.plain), a * b),
            "gl-transpose": (
                lambda: self.key(e.create_transposition_key, self.level),
                lambda k: e.transpose(self.first, k),
                flip(a),
            ),
            "gl-conjugate-transpose": (
                lambda: self.key(e.create_conjugate_transposition_key, self.level),
                lambda k: e.conjugate_transpose(self.first, k),
                flip(a),
            ),
            "gl-encrypt": (lambda: None, lambda _: e.encrypt(a, self.secret, self.level), a),
            "gl-decrypt": (lambda: None, lambda _: self.clear(self.first), a),
        }

    def measure(self, keys, operation, expected, runs):
        """(median CPU seconds, largest error)."""
        made, times, result = keys(), [], None
        for _ in range(runs + 1):
            result = None
            start = time.process_time()
            result = operation(made)
            times.append(time.process_time() - start)
        found = result if isinstance(result, np.ndarray) else self.clear(result)
        return statistics.median(times[1:]), float(np.abs(found - expected).max())


def fhec(binary, name, side, level, threads):
    """What `fhec bench` says of an operation."""
    shape = f"{BATCH},{side},{side}"
    command = [binary, "bench", name, "--shape", shape, "--level", level, "--threads", threads, "--json"]
    return json.loads(subprocess.run([str(part) for part in command], check=True, capture_output=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("operations", nargs="*")
    for name, default in [("level", 2), ("side", 64), ("threads", 1), ("runs", 3)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    library = Library(args.side, args.level, args.threads)
    known = library.operations()
    print(f"{'operation':<24}{'desilofhe':>12}{'fhec':>10}{'ratio':>8}{'error':>12}{'error':>12}{'keys MiB':>10}")
    for name in args.operations or known:
        theirs, their_error = library.measure(*known[name], args.runs)
        ours = fhec(args.binary, name, args.side, args.level, args.threads)
        seconds, error, keys = ours["cpu_s"], ours["max_abs_error"], ours["key_bytes"] / 2**20
        print(f"{name:<24}{theirs:>10.3f} s{seconds:>8.3f} s{theirs / seconds:>8.1f}", end="")
        print(f"{their_error:>12.1e}{error:>12.1e}{keys:>10.0f}", flush=True)


if __name__ == "__main__":
    main()
