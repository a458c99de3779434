"""Makes the flowers and centroids of model.fhe from scikit-learn's iris: x.npy, centroids.npy and labels.npy.

    pip install numpy scikit-learn && python make.py
"""
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

HERE = Path(__file__).parent


def main():
    x, y = load_iris(return_X_y=True)
    x = (x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0))
    x, xt, y, yt = train_test_split(x, y, test_size=75, random_state=0, stratify=y)
    centroids = np.array([x[y == k].mean(axis=0) for k in range(3)])
    distance = ((xt[:, None, :] - centroids) ** 2).sum(axis=-1)
    print(f"held-out accuracy {np.mean(distance.argmin(axis=1) == yt):.4f}, largest distance {distance.max():.3f}")
    best, second = np.sort(distance, axis=1)[:, :2].T
    print(f"smallest margin {np.min(second - best):.4f}")
    np.save(HERE / "x.npy", np.ascontiguousarray(xt))
    np.save(HERE / "centroids.npy", centroids)
    np.save(HERE / "labels.npy", yt.astype(np.int64))


if __name__ == "__main__":
    main()
