"""Writes the cases of this folder: NAME.fhe, its data and expected outputs, and cases.json.

    python make_cases.py          # needs numpy; the same files at every run

A case is a small program that is easy to get wrong. Expected outputs come from numpy, written from the meaning of the
program. Every accepted output declares a precision of at most 1e-3 of its largest expected value.
"""
import json
import re
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ABOUT = (
    "Small programs that are easy to get wrong. exit: of the command (check | compile | run). "
    "inputs, outputs: file and shape; max_abs: largest absolute value of the expected output; precision: declared in the program; "
    "tolerance: largest absolute error of an encrypted run, 1e-3 of max_abs unless the case is about a tighter one. "
    "levels: what the plan may use at most, per scheme; rotation_keys, relinearization_keys, bootstraps: what it may need at most. "
    "error_factor: the relative error of `output` is at most `factor` times that of `base`. "
    "equal: outputs that are one value. or_rejects: instead of a right answer, exit code 1 with an error on `line` that has every word of `mention`. "
    "errors: each must be reported on `line` with every word of `mention` (case ignored). seconds: the command ends within. "
    "A rejection is never a panic."
)
CASES = []
rng = np.random.default_rng(2024)


def uniform(*shape, low=-1.0, high=1.0):
    return rng.uniform(low, high, shape).round(6)


def save(file, a):
    np.save(HERE / file, np.array(a, dtype=np.float64, order="C"))
    return {"file": file, "shape": list(np.shape(a))}


def source(name, body):
    lines = [f"model {name} {{", *("  " + line for line in body.strip().split("\n")), "}"]
    (HERE / f"{name}.fhe").write_text("\n".join(lines) + "\n")


def accepted(name, title, body, inputs, outputs, constants=None, **facts):
    """A program that runs. inputs: name -> array; outputs: name -> (array, precision) or (array, precision, tolerance)."""
    source(name, body)
    for key, a in (constants or {}).items():
        save(f"{name}_{key}.npy", a)
    case = {"name": name, "program": f"{name}.fhe", "title": title, "command": "run", "exit": 0}
    case["inputs"] = {key: save(f"{name}.{key}.npy", a) for key, a in inputs.items()}
    case["outputs"] = {}
    for key, (a, precision, *tolerance) in outputs.items():
        max_abs = float(np.abs(a).max())
        tolerance = tolerance[0] if tolerance else 1e-3 * max_abs
        assert precision <= tolerance, (name, key, tolerance)
        declared = re.search(rf"output {key} *=.* precision ([^;]+);", body)
        assert declared and float(declared[1]) == precision, (name, key)
        facts_of = {"max_abs": max_abs, "precision": precision, "tolerance": tolerance}
        case["outputs"][key] = save(f"{name}.{key}.out.npy", a) | facts_of
    case["constants"] = [f"{name}_{key}.npy" for key in constants or {}]
    CASES.append(case | facts)


def rejected(name, title, body, command, line, mention, **facts):
    source(name, body)
    case = {"name": name, "program": f"{name}.fhe", "title": title, "command": command, "exit": 1, "inputs": {}, "outputs": {}}
    CASES.append(case | {"errors": [{"line": line, "mention": mention}]} | facts)


def correlate(x, w):
    """Two-dimensional cross-correlation of matrices, no padding."""
    rows, cols = x.shape[0] - w.shape[0] + 1, x.shape[1] - w.shape[1] + 1
    return np.array(
        [[np.sum(x[r : r + w.shape[0], c : c + w.shape[1]] * w) for c in range(cols)] for r in range(rows)]
    )


# --- output range ---------------------------------------------------------------------------------------------------
x = (np.arange(25.0) ** 2 + 1).reshape(5, 5)
body = """
input x : cipher f64[1, 1, 5, 5] in [{low}, {high}];
output y = conv2d(x, ones([1, 1, 3, 3])) precision {precision};
"""
accepted(
    "output_range",
    "sums up to 3081, far above the inputs' encoding of small values: no wrap",
    body.format(low=0, high=600, precision=1),
    {"x": x[None, None]},
    {"y": (correlate(x, np.ones((3, 3)))[None, None], 1)},
    levels={"gl": 1, "ckks": 1},
)
accepted(
    "output_range_huge",
    "the same picture times 10^12: right or rejected, never wrapped",
    body.format(low=0, high="6e14", precision="1e12"),
    {"x": 1e12 * x[None, None]},
    {"y": (1e12 * correlate(x, np.ones((3, 3)))[None, None], 1e12)},
    or_rejects={"line": 3, "mention": ["y"]},
)

# --- additions across depths ----------------------------------------------------------------------------------------
accepted(
    "add_across_depths",
    "terms of depth 2, 0 and a constant meet in one sum: 4.043",
    """
input a : cipher f64 in [-1, 1];
output y = a * a * a + a + 3 precision 1e-3;
""",
    {"a": np.array(0.7)},
    {"y": (np.array(4.043), 1e-3)},
    levels={"gl": 2, "ckks": 2},
)
a = uniform(8, low=0.5)
accepted(
    "add_constant",
    "a constant added before or after a product costs at most a factor 4 of relative error",
    """
input a : cipher f64[8] in [-1, 1];
output bare   = a * a precision 1e-4;
output before = (3 + a) * a precision 1e-4;
output after  = 3 + a * a precision 1e-4;
""",
    {"a": a},
    {"bare": (a**2, 1e-4), "before": (3 * a + a**2, 1e-4), "after": (3 + a**2, 1e-4)},
    error_factor=[{"output": o, "base": "bare", "factor": 4} for o in ("before", "after")],
    levels={"gl": 1, "ckks": 1},
)

# --- rotations ------------------------------------------------------------------------------------------------------
x = uniform(8)
nothing = {"levels": {"gl": 0, "ckks": 0}, "rotation_keys": 0, "relinearization_keys": 0, "bootstraps": 0}
for name, title, step in [
    ("roll_by_zero", "roll(x, 0) is x: no key, no cost", 0),
    ("roll_by_size", "roll(x, 8) of eight values is x: no key, no cost", 8),
]:
    accepted(
        name,
        title,
        f"""
input x : cipher f64[8] in [-1, 1];
output y = roll(x, {step}) precision 1e-4;
""",
        {"x": x},
        {"y": (x, 1e-4)},
        **nothing,
    )
back = x[[1, 2, 3, 4, 5, 6, 7, 0]]
accepted(
    "roll_back",
    "roll(x, -1) is roll(x, 7) of eight values",
    """
input x : cipher f64[8] in [-1, 1];
output back  = roll(x, -1) precision 1e-4;
output forth = roll(x, 7) precision 1e-4;
""",
    {"x": x},
    {"back": (back, 1e-4), "forth": (back, 1e-4)},
    equal=[["back", "forth"]],
)
accepted(
    "roll_last",
    "a roll as the very last operation, after the last product",
    """
input x : cipher f64[8] in [-1, 1];
output y = roll(x * x * x * x, 3) precision 1e-4;
""",
    {"x": x},
    {"y": (x[[5, 6, 7, 0, 1, 2, 3, 4]] ** 4, 1e-4)},
)

# --- nothing multiplied ---------------------------------------------------------------------------------------------
for n in (1, 2, 7):
    x, z = uniform(n), uniform(n)
    accepted(
        f"nothing_multiplied_{n}",
        "depth 0: no bootstrap, no relinearization key, values to the encryption precision",
        f"""
input x, z : cipher f64[{n}] in [-1, 1];
output same = x precision 1e-6;
output sums = x + z precision 1e-6;
""",
        {"x": x, "z": z},
        {"same": (x, 1e-6, 1e-6), "sums": (x + z, 1e-6, 1e-6)},
        **nothing,
    )

# --- not a power of two ---------------------------------------------------------------------------------------------
x, w1, w2 = uniform(5, 5), uniform(3, 3), uniform(3, 3)
accepted(
    "conv_to_one_pixel",
    "5 x 5 through two 3 x 3 convolutions to a single value",
    """
input x : cipher f64[1, 1, 5, 5] in [-1, 1];
const w1 : f64[1, 1, 3, 3] = load("conv_to_one_pixel_w1.npy");
const w2 : f64[1, 1, 3, 3] = load("conv_to_one_pixel_w2.npy");
output y = conv2d(conv2d(x, w1), w2) precision 1e-4;          // [1, 1, 1, 1]
""",
    {"x": x[None, None]},
    {"y": (correlate(correlate(x, w1), w2)[None, None], 1e-4)},
    {"w1": w1[None, None], "w2": w2[None, None]},
    levels={"gl": 2, "ckks": 2},
)
a, b, x = uniform(5, 7), uniform(3, 5), uniform(7)
accepted(
    "odd_matrices",
    "a 5 x 7 then a 3 x 5 constant matrix on an encrypted vector of 7",
    """
input x : cipher f64[7] in [-1, 1];
const a : f64[5, 7] = load("odd_matrices_a.npy");
const b : f64[3, 5] = load("odd_matrices_b.npy");
output y = b @ (a @ x) precision 1e-4;
""",
    {"x": x},
    {"y": (np.einsum("ij,jk,k->i", b, a, x), 1e-4)},
    {"a": a, "b": b},
    levels={"gl": 2, "ckks": 2},
)
accepted(
    "odd_matrices_encrypted",
    "the same with encrypted matrices",
    """
input x : cipher f64[7] in [-1, 1];
input a : cipher f64[5, 7] in [-1, 1];
input b : cipher f64[3, 5] in [-1, 1];
output y = b @ (a @ x) precision 1e-4;
""",
    {"x": x, "a": a, "b": b},
    {"y": (np.einsum("ij,jk,k->i", b, a, x), 1e-4)},
)

# --- two encrypted products in a row --------------------------------------------------------------------------------
for n in (3, 4, 5):
    a, b, c = uniform(n, n), uniform(n, n), uniform(n, n)
    accepted(
        f"two_products_{n}",
        "a product of three encrypted matrices: 2 levels in GL, 4 in CKKS with masks",
        f"""
input a, b, c : cipher f64[{n}, {n}] in [-1, 1];
output y = (a @ b) @ c precision 5e-4;
""",
        {"a": a, "b": b, "c": c},
        {"y": (np.einsum("ij,jk,kl->il", a, b, c), 5e-4)},
        levels={"gl": 2, "ckks": 4},
    )

# --- average pooling of channels of very different size -------------------------------------------------------------
x = uniform(1, 3, 4, 6, low=0.5) * np.array([1, 1e2, 1e4])[:, None, None]
accepted(
    "pool_channels",
    "channels of magnitude 1, 100 and 10^4 do not mix; the tolerance is a tenth of the smallest",
    """
input x : cipher f64[1, 3, 4, 6] in [0, 1e4];
output y = avg_pool2d(x, kernel = 2) precision 5e-2;          // [1, 3, 2, 3]
""",
    {"x": x},
    {"y": (x.reshape(1, 3, 2, 2, 3, 2).sum(axis=(3, 5)) / 4, 5e-2, 0.1)},
    levels={"gl": 1, "ckks": 1},
)

# --- functions on intervals, both ends included ---------------------------------------------------------------------
for name, low, high in [("interval_positive", 0, 2), ("interval_mixed", -3, 1)]:
    x = np.linspace(low, high, 33)
    accepted(
        name,
        f"exp, a square, a line and a constant on a grid of [{low}, {high}] that includes both ends",
        f"""
input x : cipher f64[33] in [{low}, {high}];
output grown   = exp(x, within = 1e-3) precision 2e-3;
output squared = x ** 2 precision 1e-3;
output line    = poly(x, [1, -0.5]) precision 1e-3;
output level   = poly(x, [0.75]) precision 1e-4;               // the same for every x
""",
        {"x": x},
        {
            "grown": (np.exp(x), 2e-3, 2e-3),
            "squared": (x * x, 1e-3),
            "line": (1 - 0.5 * x, 1e-3),
            "level": (np.full(33, 0.75), 1e-4),
        },
    )

# --- folding only when used once ------------------------------------------------------------------------------------
x, w, b = uniform(6, 5), uniform(5, 4), uniform(4)
gamma, beta, mean, var = (np.array(v) for v in ([1.5, 0.5, 2, 1], [0.1, 0, -0.2, 0.3], [0.2, -0.1, 0, 0.4], [0.5, 1, 2, 0.25]))
y = x @ w + b
normed = gamma * (y - mean) / np.sqrt(var + 1e-5) + beta
head = """
input x : cipher f64[6, 5] in [-1, 1];
const w : f64[5, 4] = load("{name}_w.npy");
const b : f64[4] = load("{name}_b.npy");
let y = x @ w + b;
let z = batch_norm(y, gamma = [1.5, 0.5, 2, 1], beta = [0.1, 0, -0.2, 0.3], mean = [0.2, -0.1, 0, 0.4], var = [0.5, 1, 2, 0.25]);
"""
accepted(
    "fold_once",
    "only the batch norm reads y: its factors go into the weights, without a level of their own",
    head.format(name="fold_once") + "output o = z ** 2 precision 1e-3;",
    {"x": x},
    {"o": (normed**2, 1e-3)},
    {"w": w, "b": b},
    levels={"gl": 2, "ckks": 2},
)
accepted(
    "fold_shared",
    "y feeds the batch norm and a skip addition, which must see the unfolded y",
    head.format(name="fold_shared") + "output o = z ** 2 + y precision 1e-3;",
    {"x": x},
    {"o": (normed**2 + y, 1e-3)},
    {"w": w, "b": b},
    levels={"gl": 3, "ckks": 3},
)

# --- too deep -------------------------------------------------------------------------------------------------------
rejected(
    "too_deep_power",
    "x ** 2^60 without bootstrapping: needed and available modulus bits, and what would make it fit",
    """
bootstrap off;
input x : cipher f64[4] in [-1, 1];
output y = x ** 2 ** 60;
""",
    "compile",
    4,
    ["bits", "bootstrap"],
    seconds=1,
)
rejected(
    "too_deep_loop",
    "500 squarings without bootstrapping: needed and available modulus bits, and what would make it fit",
    """
bootstrap off;
input x : cipher f64[4] in [-1, 1];
let mut z = x;
for i in 0..500 { z = z * z - 0.5; }
output y = z;
""",
    "compile",
    6,
    ["500", "bits", "bootstrap"],
    seconds=1,
)
CASES[-1]["errors"][0]["or_lines"] = [5]

# --- impossible constants -------------------------------------------------------------------------------------------
for name, e, mention in [
    ("root_of_negative", "sqrt(-1)", ["sqrt", "-1"]),
    ("log_of_zero", "log(0)", ["log", "0"]),
    ("one_over_zero", "1 / 0", ["0"]),
    ("zero_to_negative_power", "0 ** -1", ["0"]),
]:
    rejected(
        name,
        f"{e} has no value: an error at compile time, with its place",
        f"""
input x : cipher f64[4] in [-1, 1];
const c = {e};
output y = x * c;
""",
        "check",
        3,
        mention,
        seconds=1,
    )

(HERE / "cases.json").write_text(json.dumps({"about": ABOUT, "cases": CASES}, indent=1) + "\n")
print(len(CASES), "cases")
