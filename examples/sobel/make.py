"""Cuts the picture of model.fhe, a tower of the Summer Palace, from a photograph that scikit-learn ships: img.npy.

    pip install numpy scikit-learn pillow && python make.py
"""
from pathlib import Path

import numpy as np
from sklearn.datasets import load_sample_image

HERE = Path(__file__).parent
SIZE, SHRINK, TOP, LEFT = 32, 12, 20, 20


def main():
    photo = load_sample_image("china.jpg") / 255.0
    grey = photo @ [0.299, 0.587, 0.114]
    patch = grey[TOP : TOP + SIZE * SHRINK, LEFT : LEFT + SIZE * SHRINK]
    img = patch.reshape(SIZE, SHRINK, SIZE, SHRINK).mean(axis=(1, 3)).round(6)
    print(f"grey values from {img.min():.3f} to {img.max():.3f}")
    np.save(HERE / "img.npy", np.ascontiguousarray(img))


if __name__ == "__main__":
    main()
