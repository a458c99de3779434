"""Recomputes the expected outputs of every program of manifest.json with numpy, by hand.

    python check.py          # needs numpy and safetensors; prints one line a program, exit code 1 on a difference

Each function below is one program, written again from its meaning: nothing here reads the .fhe text.
"""
import json
import math
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

HERE = Path(__file__).parent
PROGRAMS = {}


def program(f):
    PROGRAMS[f.__name__] = f
    return f


def npy(name):
    return np.load(HERE / name)


def erf(x):
    return np.vectorize(math.erf)(x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def conv2d(x, w, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1)):
    """Cross-correlation, NCHW with OIHW, one product at a time."""
    x = np.pad(x, [(0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2])
    reach = [dilation[k] * (w.shape[2 + k] - 1) for k in (0, 1)]
    rows, cols = [(x.shape[2 + k] - reach[k] - 1) // stride[k] + 1 for k in (0, 1)]
    y = np.zeros((x.shape[0], w.shape[0], rows, cols))
    for n, o, r, c in np.ndindex(y.shape):
        for i, a, b in np.ndindex(w.shape[1:]):
            y[n, o, r, c] += w[o, i, a, b] * x[n, i, r * stride[0] + a * dilation[0], c * stride[1] + b * dilation[1]]
        y[n, o, r, c] += 0 if bias is None else bias[o]
    return y


def avg_pool2d(x, kernel, stride):
    rows, cols = [(x.shape[2 + k] - kernel[k]) // stride[k] + 1 for k in (0, 1)]
    y = np.zeros((*x.shape[:2], rows, cols))
    for n, i, r, c in np.ndindex(y.shape):
        top, left = r * stride[0], c * stride[1]
        y[n, i, r, c] = x[n, i, top : top + kernel[0], left : left + kernel[1]].sum() / (kernel[0] * kernel[1])
    return y


@program
def arith_corners(x, y, s):
    return {
        "negpow": -(x * x),
        "sub": (x - y) - s,
        "quot": x / 8,
        "mix": 2 * x * y - 2 * s + y,
        "zero": np.zeros((4, 3)),
    }


@program
def powers(x, z):
    return {
        "p0": np.ones(5),
        "p1": x,
        "p3": x * x * x,
        "p7": np.prod([x] * 7, axis=0),
        "p8": np.prod([x] * 8, axis=0),
        "m": 1 / (z * z),
        "h": np.sqrt(z),
    }


@program
def zero_weights_fold(x):
    w = npy("zero_weights_fold_w.npy")
    return {
        "sparse": x @ w,
        "zero": np.zeros((6, 4)),
        "same": x,
        "gone": np.zeros((6, 5)),
        "lit": np.array([[0.5, 0.25], [0.5, 0.25]]),
        "mixed": x @ w,
    }


@program
def unused_passthrough(x, y, p):
    return {"same": x, "again": x, "k": np.array([1.0, 2.0, 3.0]), "p": p}


@program
def concat_stack(x, y, z):
    s2 = np.zeros((2, 3, 3))
    s2[..., 0], s2[..., 1], s2[..., 2] = x, 2 * x, -x
    return {
        "c1": np.hstack([x, y]),
        "c0": np.vstack([x, z, x]),
        "s0": np.array([x, x * x]),
        "s2": s2,
        "one": x,
        "lit": np.array([x[0], [1.0, 2.0, 3.0]]).T,
    }


@program
def pad_roll(x, v):
    p = np.zeros((4, 6))
    p[1:, :4] = x
    pv = np.full(8, 0.5)
    pv[1:6] = v
    return {
        "p": p,
        "p0": v,
        "pv": pv,
        "r1": v[[4, 0, 1, 2, 3]],
        "rm": v[[2, 3, 4, 0, 1]],
        "r0": x[[1, 2, 0]],
        "rc": x[:, [1, 2, 3, 0]],
        "rf": x.ravel()[(np.arange(12) - 5) % 12].reshape(3, 4),
        "id": np.zeros(5),
    }


@program
def slices(x, v):
    return {
        "a": x[[1, 2, 3]],
        "b": x[[1, 2, 3]][:, [0, 2, 4, 6]],
        "c": x[5],
        "d": x[:, 5],
        "e": x[[3, 4]][:, 1:],
        "f": v[[0, 3, 6, 9]],
        "g": v[[8, 6, 4]],
        "h": v[np.arange(9, -1, -1)],
        "i": x[2, 3] * x[0, 0],
        "j": np.array([[x[0, c] + x[r, 0] for c in range(7)] for r in range(6)]),
        "k": x[3],
        "l": x[:, 0],
        "m": np.outer(v, x[0]),
    }


@program
def diag_trace_outer_dot(A, B, u, v):
    return {
        "tr": sum(A[i, i] for i in range(4)),
        "tb": sum(B[i, i] for i in range(3)),
        "da": np.array([A[i, i] for i in range(4)]),
        "db": np.array([B[i, i] for i in range(3)]),
        "db2": np.array([B[i, i] for i in range(3)]),
        "du": np.eye(4) * u,
        "ou": u[:, None] * v,
        "di": sum(u * u),
        "dm": (A * u).sum(axis=1),
        "tt": np.array(0.0),
    }


@program
def matmul_batched(a, b, c, d, v):
    e = np.einsum
    return {
        "ab": e("xyij,jk->xyik", a, b),
        "cd": e("xij,yjk->xyik", c[:, 0], d),
        "av": e("xyij,j->xyi", a, v),
        "vd": e("j,xjk->xk", v, d),
        "aa": e("xyij,xykj->xyik", a, a),
        "bd": e("ji,xjk->xik", b, d),
    }


@program
def matmul_tall_wide(t, w):
    c = load_file(HERE / "matmul_tall_wide.safetensors")
    e = np.einsum
    return {
        "wt": e("ij,jk->ik", w, t),
        "tw": e("ij,jk->ik", t, w),
        "wP": e("ij,jk->ik", w, c["P"]),
        "Pt": e("ij,jk->ik", c["P"], t),
        "PtwP": e("ia,ab,bc,cd->id", c["P"], t, w, c["P"], optimize=True),
        "wQ": e("ij,jk->ik", w, c["Q"]),
        "Qw": np.outer(c["Q"][:, 0], w[0]),
    }


@program
def gram(X):
    large = np.array([[sum(a * b) for b in X] for a in X])
    small = sum(np.outer(row, row) for row in X) / 50
    return {"small": small, "large": large, "poly2": (large + 1) * (large + 1)}


@program
def functions_basic(x, z):
    return {
        "e": np.exp(x),
        "l": np.log(z),
        "i": 1 / z,
        "q": np.sqrt(z),
        "rq": 1 / np.sqrt(z),
        "d": x / z,
        "n": np.exp(-(x * x)),
    }


@program
def functions_piecewise(x, y):
    return {
        "re": np.where(x > 0, x, 0),
        "ab": np.where(x > 0, x, -x),
        "sg": np.where(x > 0, 1.0, -1.0),
        "st": np.where(x > 0, 1.0, 0.0),
        "ma": np.where(x > y, x, y),
        "mi": np.where(x < y, x, y),
        "cl": np.where(x < -0.5, -0.5, np.where(x > 0.4, 0.4, x)),
    }


@program
def conv_basic(x):
    c = load_file(HERE / "conv_basic.safetensors")
    return {
        "plain1": conv2d(x, c["w"]),
        "same": conv2d(x, c["w"], c["b"], padding=(1, 1)),
        "stride": conv2d(x, c["w"], stride=(2, 2), padding=(1, 1)),
        "dilate": conv2d(x, c["w"], dilation=(2, 2)),
        "asym": conv2d(x, c["v"], stride=(2, 1), padding=(0, 1), dilation=(1, 3)),
    }


@program
def pooling(x):
    return {
        "p2": avg_pool2d(x, (2, 2), (2, 2)),
        "p3": avg_pool2d(x, (3, 3), (1, 1)),
        "pa": avg_pool2d(x, (4, 2), (2, 2)),
        "gl": x.reshape(1, 3, 48).sum(axis=2) / 48,
        "ch": np.zeros((4, 3)),
    }


@program
def softmax_layer_norm(x):
    g, b = npy("softmax_layer_norm_g.npy"), npy("softmax_layer_norm_b.npy")
    centred = x - x.mean(axis=1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    return {
        "s1": softmax(x, 1),
        "s0": softmax(x, 0),
        "l": g * normal + b,
        "r": g * x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5),
        "lp": normal,
    }


@program
def loops(x):
    a = npy("loops_A.npy")
    q = ((x[0] @ a + x[0]) @ a + x[1]) @ a + x[2]
    return {
        "acc": x[0] + 2 * x[1] + 3 * x[2] + 4 * x[3],
        "q": q,
        "tot": sum(x[i, j] * x[i + 2, 2 - j] for i in (0, 1) for j in (0, 1, 2)),
        "untouched": x[1],
        "fib": 21 * x[0, 0],
    }


@program
def fn_shadow(x, y):
    b = 10 * y + 0.01 * (6 * y - 10 * y)
    b = 20 * b + 0.01 * (6 * y - 20 * b)  # y is the input in both steps, b and x are carried
    return {"a": 6 * x - y, "b": b, "still": 3 * x, "lib": sum(x * x) + y[0] ** 2}


@program
def digits_mlp(x):
    c = load_file(HERE / "digits_mlp.safetensors")
    h = np.einsum("ni,ij->nj", x, c["fc1.weight"]) + c["fc1.bias"]
    return {"logits": np.einsum("nj,jk->nk", h * h, c["fc2.weight"]) + c["fc2.bias"]}


@program
def logreg_train(X, y):
    w = np.zeros(9)
    for _ in range(5):
        slope = np.zeros(9)
        for row, label in zip(X, y):
            slope += (label - sigmoid(row @ w)) * row
        w = w + 2 * slope / len(y)
    return {"weights": w}


@program
def pca_power(X):
    c = sum(np.outer(row, row) for row in X) / 50
    v = 16 * np.linalg.matrix_power(c, 4) @ np.full(4, 0.5)
    return {"norm2": v @ v, "direction": v / np.linalg.norm(v)}


@program
def sobel(img):
    p = np.pad(img, 1)
    right, left = p[:, 2:], p[:, :-2]
    below, above = p[2:], p[:-2]
    gx = (right - left)[:-2] + 2 * (right - left)[1:-1] + (right - left)[2:]
    gy = (below - above)[:, :-2] + 2 * (below - above)[:, 1:-1] + (below - above)[:, 2:]
    return {"mag2": gx * gx + gy * gy}


@program
def attention_softmax(q, k, v):
    s = np.einsum("hid,hjd->hij", q, k) / math.sqrt(8)
    return {"o": np.einsum("hij,hjd->hid", softmax(s, 2), v), "rows": np.ones((2, 6))}


@program
def gru_cell(x, h0):
    w = load_file(HERE / "gru_cell.safetensors")
    h = h0
    for t in range(3):
        z = sigmoid(x[t] @ w["wz"] + h @ w["uz"])
        r = sigmoid(x[t] @ w["wr"] + h @ w["ur"])
        n = np.tanh(x[t] @ w["wh"] + (r * h) @ w["uh"])
        h = (1 - z) * h + z * n
    return {"h": h}


@program
def newton_rsqrt(x):
    y = 1.4 - 0.4 * x
    for _ in range(3):
        y = y * (1.5 - 0.5 * x * y * y)
    return {"newton": y, "builtin": 1 / np.sqrt(x)}


@program
def more_functions_a(x):
    u = x / 3
    cheb = 0.25 + 0.5 * u + 0.25 * (4 * u**3 - 3 * u) - 0.125 * (8 * u**4 - 8 * u**2 + 1)
    return {
        "p": 0.5 + x - 0.1 * x**3,
        "ch": cheb,
        "co": np.cos(x),
        "sn": np.sin(2 * x),
        "er": erf(x / 2),
        "gl": x * (1 + erf(x / math.sqrt(2))) / 2 + x * sigmoid(x),
        "sp": np.log(1 + np.exp(-x)),
    }


@program
def more_shapes_a(x, p):
    per_channel = x.transpose(1, 0, 2, 3).reshape(3, 8)
    first = x[0].ravel()
    shape = (1, 3, 1, 1)
    gamma, mean = np.array([1, 0.5, 2]).reshape(shape), np.array([0.1, 0, -0.1]).reshape(shape)
    return {
        "v": (per_channel**2).mean(axis=1) - per_channel.mean(axis=1) ** 2,
        "cv": (first**2).mean() - first.mean() ** 2,
        "mx": np.array([max(row) for row in x[:, 0, 0]]),
        "mn": min(first[:3]),
        "bn": gamma * (x - mean) / math.sqrt(1 + 1e-3),
        "bc": np.array([x[0, :, 0, 0] * p] * 4),
    }


@program
def long_chain_a(x):
    z = x
    for _ in range(16):
        z = 1.5 * z - 0.5 * z**3
    return {"z": z}


def main():
    manifest = json.loads((HERE / "manifest.json").read_text())["programs"]
    wrong = [p["name"] for p in manifest if p["name"] not in PROGRAMS]
    for p in manifest:
        if p["name"] in wrong:
            continue
        got = PROGRAMS[p["name"]](**{name: npy(i["file"]) for name, i in p["inputs"].items()})
        worst = 0.0
        assert got.keys() == p["outputs"].keys(), p["name"]
        for name, o in p["outputs"].items():
            want = npy(o["file"])
            assert want.shape == tuple(o["shape"]) == np.shape(got[name]), (p["name"], name)
            assert math.isclose(np.abs(want).max(), o["max_abs"], rel_tol=1e-12, abs_tol=1e-12), (p["name"], name)
            worst = max(worst, np.abs(want - got[name]).max() / (1 + o["max_abs"]))
        print(f"{p['name']:22} {worst:.1e}")
        if worst > 1e-9:
            wrong.append(p["name"])
    if wrong:
        sys.exit("different or without a second computation: " + ", ".join(wrong))


if __name__ == "__main__":
    main()
