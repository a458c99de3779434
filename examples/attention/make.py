"""Makes the queries, keys and values of model.fhe: q.npy, k.npy and v.npy, each [12, 64, 64].

Sixty-four tokens of width 768 with slowly drifting topics are projected by random matrices, as the weights of an
untrained layer would, and split into 12 heads. Only numpy is needed.

    pip install numpy && python make.py
"""
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
HEADS, POSITIONS, DIM, TOPICS = 12, 64, 64, 32


def tokens(rng):
    """[64, 768]: a random walk over topics plus each token's own part, every row normalised as by a layer norm."""
    walk = np.cumsum(rng.normal(size=(POSITIONS, TOPICS)), axis=0) / np.sqrt(np.arange(1, POSITIONS + 1))[:, None]
    x = walk @ rng.normal(size=(TOPICS, HEADS * DIM)) / np.sqrt(TOPICS) + rng.normal(size=(POSITIONS, HEADS * DIM))
    x -= x.mean(axis=1, keepdims=True)
    return x / x.std(axis=1, keepdims=True)


def project(x, rng):
    w = rng.normal(size=(HEADS * DIM, HEADS * DIM)) / np.sqrt(HEADS * DIM)
    return (x @ w).reshape(POSITIONS, HEADS, DIM).transpose(1, 0, 2)


def main():
    rng = np.random.default_rng(0)
    x = tokens(rng)
    q, k, v = (project(x, rng) for _ in range(3))
    # Entries of standard deviation 1; 1/4 each makes the scores spread like dot products over sqrt(DIM).
    for name, a in {"q": q, "k": k, "v": v}.items():
        a *= 0.25
        print(f"{name}: {np.mean(np.abs(a) > 1):.1e} of the entries clipped to [-1, 1]")
        np.clip(a, -1, 1, out=a)
        np.round(a, 6, out=a)
        np.save(HERE / f"{name}.npy", np.ascontiguousarray(a))
    scores = q @ k.transpose(0, 2, 1)
    print(f"largest |scores| {np.abs(scores).max():.2f}, largest |mixed| {np.abs(scores @ v).max():.2f}")


if __name__ == "__main__":
    main()
