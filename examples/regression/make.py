"""Fits the two models of model.fhe to scikit-learn's diabetes data; writes weights.safetensors and x.npy.

    pip install numpy scikit-learn safetensors && python make.py
"""
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split

HERE = Path(__file__).parent


def main():
    x, y = load_diabetes(return_X_y=True)
    x = x / np.abs(x).max(axis=0)  # columns are centred already: now within [-1, 1]
    x, xt, y, yt = train_test_split(x, y, test_size=128, random_state=0)
    linear = Ridge(alpha=0.1).fit(x, y)
    quadratic = Ridge(alpha=1.0).fit(np.hstack([x, x**2]), y)
    weights = {
        "linear.weight": linear.coef_,
        "linear.bias": np.array(linear.intercept_),
        "quadratic.weight": quadratic.coef_.reshape(2, 10),
        "quadratic.bias": np.array(quadratic.intercept_),
    }
    save_file({k: np.ascontiguousarray(w.round(6)) for k, w in weights.items()}, HERE / "weights.safetensors")
    np.save(HERE / "x.npy", np.ascontiguousarray(xt))
    for name, p in {"linear": linear.predict(xt), "quadratic": quadratic.predict(np.hstack([xt, xt**2]))}.items():
        r2 = 1 - np.sum((p - yt) ** 2) / np.sum((yt - yt.mean()) ** 2)
        print(f"{name}: held-out R^2 {r2:.3f}, predictions from {p.min():.0f} to {p.max():.0f}")


if __name__ == "__main__":
    main()
