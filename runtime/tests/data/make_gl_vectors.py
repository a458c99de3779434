#!/usr/bin/env python3
"""Reference vectors of the Gentry-Lee ring: run in this folder with numpy to write gl_4_5.json and gl_8_17.json.

Everything follows the definitions over R' = R[Y] / (Y^n - X^n), with integers of any size and no transform: products are
taken coefficient by coefficient, automorphisms act on monomials. The runtime holds the diagonals f_k(X, W) = m(X, X^(5^k), W)
instead of m(X, Y, W), so agreement checks its transforms, its product kernel and its maps at once.

Arrays: an element of R is [w][x], the coefficient of W^w X^x, w < p - 1, x < 2n; an element of R' is [y][w][x].
Files: R is written over the basis W^(gamma^t) X^x, ordered [t][x]; matrices as numerators over `denominator`.
"""
import json
import numpy as np

SCALE = 1 << 20
DENOMINATOR = 128
SEED = 7


def is_prime(m):
    return m > 1 and all(pow(a, m - 1, m) == 1 for a in (2, 3, 5, 7, 11, 13, 17, 19, 23) if a % m)


class Ring:
    def __init__(self, n, p):
        self.n, self.p, self.phi = n, p, p - 1
        self.gamma = next(g for g in range(1, p) if len({pow(g, k, p) for k in range(p - 1)}) == p - 1)
        self.e5 = [pow(5, j, 4 * n) for j in range(n)]
        self.gw = [pow(self.gamma, t, p) for t in range(p - 1)]
        zeta, eta = np.exp(2j * np.pi / (4 * n)), np.exp(2j * np.pi / p)
        self.V = np.array([[zeta ** (e * x) for x in range(n)] for e in self.e5])
        self.E = np.array([[eta ** (g * w) for w in range(p - 1)] for g in self.gw])
        # over the basis W^(gamma^t)
        self.normal = np.array([[eta ** (g * h % p) for h in self.gw] for g in self.gw])

    # slots of one diagonal [l][j] <-> coefficients over the normal basis [t][x]
    def encode(self, slots):
        c = np.linalg.inv(self.normal) @ slots @ (self.V.conj() / self.n) * SCALE
        return np.concatenate([np.rint(c.real), np.rint(c.imag)], axis=1).astype(np.int64).astype(object)

    def to_power_basis(self, c):
        full = np.zeros((self.p, 2 * self.n), dtype=object)
        for t, g in enumerate(self.gw):
            full[g] = c[t]
        return full[: self.phi] - full[self.phi]

    def to_normal_basis(self, c):
        full = np.concatenate([c, 0 * c[:1]])
        full = full - full[0]  # 1 = -(W + ... + W^(p-1))
        return full[self.gw]

    def monomial(self, a, x):
        """a in R or R' times X^x, any x"""
        x %= 4 * self.n
        sign, x = (-1, x - 2 * self.n) if x >= 2 * self.n else (1, x)
        return sign * np.concatenate([-a[..., 2 * self.n - x :], a[..., : 2 * self.n - x]], axis=-1)

    def map(self, a, x_exponent, w_exponent):
        """X -> X^x_exponent, W -> W^w_exponent on R or R'"""
        out = 0 * a
        for x in range(2 * self.n):
            e = x * x_exponent % (4 * self.n)
            out[..., :, e % (2 * self.n)] = a[..., :, x] * (1 if e < 2 * self.n else -1)
        full = np.zeros(a.shape[:-2] + (self.p, 2 * self.n), dtype=object)
        for w in range(self.phi):
            full[..., w * w_exponent % self.p, :] = out[..., w, :]
        return full[..., : self.phi, :] - full[..., self.phi :, :]

    def map_y(self, a, exponent):
        """Y -> Y^exponent on R', with Y^n = X^n"""
        out = 0 * a
        for y in range(self.n):
            turns, place = divmod(y * exponent, self.n)
            out[place] = self.monomial(a[y], self.n * turns)
        return out

    def transpose(self, a):
        """X <-> Y, with i = X^n fixed"""
        n = self.n
        t = a.reshape(n, self.phi, 2, n)
        return np.ascontiguousarray(t.transpose(3, 1, 2, 0)).reshape(n, self.phi, 2 * n)

    def conjugate(self, a):
        return self.map_y(self.map(a, -1, -1), -1)

    def times(self, r, a):
        """r in R times a in R', by the definition"""
        full = np.zeros((self.n, 2 * self.p, 4 * self.n), dtype=object)
        for w in range(self.phi):
            for x in range(2 * self.n):
                full[:, w : w + self.phi, x : x + 2 * self.n] += r[w, x] * a
        full = full[..., : 2 * self.n] - full[..., 2 * self.n :]
        full = full[:, : self.p] + full[:, self.p :]
        return full[:, : self.phi] - full[:, self.phi : self.p]

    def trace_product(self, a, b):
        """sum_u a_u(X, W) conj(b_u)(Y^-1, W^-1), a_u the coefficient of Y^u"""
        out = 0 * a
        for u in range(self.n):
            lifted = 0 * b
            lifted[0] = self.map(b[u], -1, -1)
            out = out + self.times(a[u], self.transpose(lifted))
        return out

    def diagonals(self, a):
        return np.array([sum(self.monomial(a[y], e * y) for y in range(self.n)) for e in self.e5])

    def times_n_from_diagonals(self, f):
        return np.array(
            [sum(self.monomial(f[k], -self.e5[k] * y) for k in range(self.n)) for y in range(self.n)]
        )

    def decode(self, a):
        a = a.astype(float)
        c = a[:, :, : self.n] + 1j * a[:, :, self.n :]
        return np.einsum("lw,jx,ywx,ky->ljk", self.E, self.V, c, self.V)


def vectors(n, p, rng):
    ring = Ring(n, p)
    phi, show = p - 1, [0, 1, n - 1]
    numerators = [[rng.integers(-DENOMINATOR, DENOMINATOR + 1, (phi, n, n)) for _ in "ri"] for _ in "AB"]
    slots = [(re + 1j * im) / DENOMINATOR for re, im in numerators]
    index = np.arange(n)
    encoded = [[ring.encode(m[:, index, (index + k) % n]) for k in range(n)] for m in slots]
    # n times the elements of R', exactly
    a, b = (
        ring.times_n_from_diagonals(np.array([ring.to_power_basis(f) for f in diagonals])) for diagonals in encoded
    )
    step = np.lcm.reduce([4 * n, p, p - 1])
    q = next(q for q in range((1 << 59) // step * step + 1, 0, -step) if is_prime(q))

    def diagonals(element, divisor):
        f = ring.diagonals(element)
        assert not np.any(f % divisor)
        return [[int(c) for c in ring.to_normal_basis(f[k] // divisor).ravel()] for k in show]

    product = ring.trace_product(a, b)  # n^2 times the trace product
    decoded = ring.decode(product) / n**2 / SCALE**2
    assert np.allclose(decoded, slots[0] @ slots[1].conj().transpose(0, 2, 1) / n, atol=1e-4)
    assert np.allclose(ring.decode(ring.transpose(a)) / n / SCALE, slots[0].transpose(0, 2, 1), atol=1e-4)
    w_generator = ring.gamma
    return {
        "n": n,
        "p": p,
        "modulus": int(q),
        "scale": SCALE,
        "denominator": DENOMINATOR,
        "diagonals": show,
        "a": [m.ravel().tolist() for m in numerators[0]],
        "b": [m.ravel().tolist() for m in numerators[1]],
        "encoded": [[int(c) for c in encoded[0][k].ravel()] for k in show],
        # diagonals of n (a * b), * the trace product, smaller than half the modulus
        "product": diagonals(product, n),
        # decode(a * b) = A B^dagger / n: real and imaginary parts of the first and the last matrix
        "product_decoded": [[float(f"{v:.13e}") for v in decoded[l].ravel().view(float)] for l in (0, phi - 1)],
        "transpose": diagonals(ring.transpose(a), n),
        "conjugate": diagonals(ring.conjugate(a), n),
        "conjugate_transpose": diagonals(ring.transpose(ring.conjugate(a)), n),
        "rows_by_1": diagonals(ring.map(a, 5, 1), n),
        "batch_by_1": diagonals(ring.map(a, 1, w_generator), n),
        "batch_by_3_rows_by_2": diagonals(ring.map(a, 25, w_generator**3 % p), n),
        "columns_by_1": diagonals(ring.map_y(a, 5), n),
        # n times the coefficient of Y^0
        "row_sums": [[int(c) for c in ring.to_normal_basis(a[0]).ravel()]],
    }


rng = np.random.default_rng(SEED)
for n, p in ((4, 5), (8, 17)):
    data = vectors(n, p, rng)
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in data.items())
    with open(f"gl_{n}_{p}.json", "w") as out:
        out.write("{\n" + lines + "\n}\n")
