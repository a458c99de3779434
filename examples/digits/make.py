"""Trains the network of model.fhe on scikit-learn's digits and writes weights.safetensors, x.npy and labels.npy.

    pip install numpy scikit-learn safetensors && python make.py
"""
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = Path(__file__).parent
STEPS, RATE, DECAY, BATCH = 6000, 2e-3, 2e-3, 128


def forward(x, p):
    a = x @ p["fc1.weight"] + p["fc1.bias"]
    return a, a**2 @ p["fc2.weight"] + p["fc2.bias"]


def gradient(x, y, p):
    """Of the mean cross entropy, plus weight decay to keep the values of all layers moderate."""
    a, logits = forward(x, p)
    soft = np.exp(logits - logits.max(axis=1, keepdims=True))
    d = soft / soft.sum(axis=1, keepdims=True)
    d[np.arange(len(y)), y] -= 1
    d /= len(y)
    da = d @ p["fc2.weight"].T * 2 * a
    g = {"fc1.weight": x.T @ da, "fc1.bias": da.sum(0), "fc2.weight": (a**2).T @ d, "fc2.bias": d.sum(0)}
    return {k: g[k] + DECAY * p[k] for k in p}


def train(x, y, rng):
    p = {
        "fc1.weight": rng.normal(0, 0.15, (64, 32)),
        "fc1.bias": np.zeros(32),
        "fc2.weight": rng.normal(0, 0.15, (32, 10)),
        "fc2.bias": np.zeros(10),
    }
    m, v = ({k: np.zeros_like(w) for k, w in p.items()} for _ in range(2))
    for t in range(1, STEPS + 1):  # Adam, the rate falling linearly to zero
        rows = rng.choice(len(x), BATCH, replace=False)
        g = gradient(x[rows], y[rows], p)
        for k in p:
            m[k] = 0.9 * m[k] + 0.1 * g[k]
            v[k] = 0.999 * v[k] + 0.001 * g[k] ** 2
            step = m[k] / (1 - 0.9**t) / (np.sqrt(v[k] / (1 - 0.999**t)) + 1e-8)
            p[k] -= RATE * (1 - t / STEPS) * step
    return p


def main():
    images, labels = load_digits(return_X_y=True)
    images = images / 16.0
    x, xt, y, yt = train_test_split(images, labels, test_size=256, random_state=0, stratify=labels)
    p = train(x, y, np.random.default_rng(0))
    p = {k: np.ascontiguousarray(w.round(6)) for k, w in p.items()}
    a, logits = forward(xt, p)
    print(f"train accuracy {np.mean(forward(x, p)[1].argmax(1) == y):.4f}")
    print(f"test accuracy  {np.mean(logits.argmax(1) == yt):.4f}")
    print(f"largest pre-activation {np.abs(a).max():.2f}, largest logit {np.abs(logits).max():.2f}")
    save_file(p, HERE / "weights.safetensors")
    np.save(HERE / "x.npy", np.ascontiguousarray(xt))
    np.save(HERE / "labels.npy", yt.astype(np.int64))


if __name__ == "__main__":
    main()
