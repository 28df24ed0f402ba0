"""Random Fourier features, in float32 with the order of operations of Accrete."""

import numpy as np

from . import kernels
from .generator import COSINE, SINE, Source
from .snapshot import Unsupported

F32, F64 = np.float32, np.float64
GROUP = 96  # frequencies whose features share a float32 chain
HALF_TURN = F32(1 / np.pi)
IID, ORTHOGONAL = 0, 2
SAMPLINGS = ("iid", "sorf", "orthogonal", "qmc", "fastfood")
AT_ONCE = 1 << 21  # numbers


def fma(a, b, c):
    """float32(a·b + c) with one rounding: a·b is exact in float64."""
    return (a.astype(F64) * b + c).astype(F32)


def clamp(v):
    """Replaces magnitudes above 2^50 by 2^50, and those below 2^-50 by 0."""
    v = np.clip(np.where(np.isnan(v), F32(2.0**50), v), F32(-(2.0**50)), F32(2.0**50))
    return np.where(np.abs(v) < F32(2.0**-50), F32(0), v)


def orthogonal(w, dim):
    """Makes each dim frequencies of a block orthogonal, with their lengths (Gram and Schmidt)."""
    basis = []
    for i, row in enumerate(w):
        v = row.astype(F64)
        length = np.sqrt(np.dot(v, v))
        if length == 0:
            continue
        if len(basis) == dim:
            basis = []
        for _ in range(2):
            for u in basis:
                v = v - np.dot(u, v) * u
        rest = np.sqrt(np.dot(v, v))
        if not rest > 2.0**-30 * length:
            continue
        v = v / rest
        w[i] = (v * length).astype(F32)
        basis.append(v)


class Features:
    """The features of the first blocks of a model: the cosine and the sine of each frequency."""

    def __init__(self, kernel, dim, block_size, blocks, seed, sampling, second=None, kept=None):
        if sampling not in (IID, ORTHOGONAL):
            raise Unsupported(f"the sampling {SAMPLINGS[sampling] if sampling < len(SAMPLINGS) else sampling}: this package has iid and orthogonal")
        if sampling == ORTHOGONAL and not isinstance(kernel, kernels.RADIAL):
            raise Unsupported("the sampling orthogonal of this kernel")
        w = np.empty((blocks, block_size, dim), F32)
        step = 1 if kernel.alone else max(1, AT_ONCE // (block_size * dim))
        for b in range(0, blocks, step):
            several = range(b, min(b + step, blocks))
            w[b : b + step] = kernel.sample(Source(seed, several), block_size, dim).reshape(len(several), block_size, dim)
        if sampling == ORTHOGONAL:
            for block in w:
                orthogonal(block, dim)
        if second is not None:
            w[:, 1::2] *= second
        w = w.reshape(-1, dim)
        if kept is not None:
            w = w[kept]
        self.frequencies = clamp(w * HALF_TURN)

    def apply(self, x):
        """Returns the cosines and the sines of scaled rows x, rows × frequencies each."""
        x, t = clamp(x).astype(F64), np.zeros((len(x), len(self.frequencies)), F32)
        w = self.frequencies.T.astype(F64)
        for k in range(w.shape[0]):
            t = (x[:, k, None] * w[k] + t).astype(F32)
        n = np.rint(t.astype(F64))
        r = np.where(np.abs(t) >= 2.0**24, 0, t - n)
        odd = np.where(np.abs(t) >= 2.0**24, 0, n % 2) == 1
        q = (r * r).astype(F32)
        cos, sin = np.full_like(q, COSINE[4]), np.full_like(q, SINE[4])
        for k in range(3, -1, -1):
            cos, sin = fma(cos, q, COSINE[k]), fma(sin, q, SINE[k])
        sin = (sin * r).astype(F32)
        return np.where(odd, -cos, cos), np.where(odd, -sin, sin)

    def sum(self, x, coefficients):
        """Returns the sums of the features of rows x times the coefficients, rows × scores."""
        scores = coefficients.shape[1]
        out = np.zeros((len(x), scores))
        n = len(coefficients) // 2
        if n == 0:
            return out
        groups = -(-n // GROUP)
        a = np.zeros((2, groups * GROUP, scores), F64)
        a[0, :n], a[1, :n] = coefficients[::2], coefficients[1::2]
        a = a.reshape(2, groups, GROUP, scores)
        step = max(1, AT_ONCE // (groups * GROUP))
        for i in range(0, len(x), step):
            rows = x[i : i + step]
            chains = []
            for features, b in zip(self.apply(rows), a):
                f = np.zeros((len(rows), groups * GROUP), F64)
                f[:, :n] = features[:, :n]
                f = f.reshape(len(rows), groups, GROUP)
                chain = np.zeros((len(rows), groups, scores), F32)
                for j in range(GROUP):
                    chain = (f[:, :, j, None] * b[:, j] + chain).astype(F32)
                chains.append(chain.astype(F64))
            for g in range(groups):
                out[i : i + step] += chains[0][:, g] + chains[1][:, g]
        return out
