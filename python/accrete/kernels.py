"""Kernels: the distributions from which their frequencies are drawn."""

import re

import numpy as np

from .snapshot import Unsupported

F32, F64 = np.float32, np.float64
GOLDEN = 0x9E3779B97F4A7C15


class Kernel:
    alone = False  # whether a block has to be drawn by itself

    def __init__(self, name, *parameters):
        self.name, self.parameters, self.scale = name, parameters, parameters[-1]


class Gaussian(Kernel):
    def sample(self, s, n, dim):
        return s.normal(n * dim) * F32(1 / self.scale)


class Laplacian(Kernel):
    def sample(self, s, n, dim):
        u = s.uniform(n * dim)
        near = np.pi * np.minimum(u, 1 - u)
        v = np.cos(near) / np.sin(near)
        return (np.where(u < 0.5, -v, v) / self.scale).astype(F32)


class Cauchy(Kernel):
    def sample(self, s, n, dim):
        u = s.uniform(n * dim)
        v = -np.log(2 * np.minimum(u, 1 - u))
        return (np.where(u < 0.5, -v, v) / self.scale).astype(F32)


class Matern(Kernel):
    def __init__(self, name, *parameters):
        super().__init__(name, *parameters)
        self.nu = parameters[0]
        self.alone = self.nu - 0.5 != int(self.nu - 0.5)

    def sample(self, s, n, dim):
        w = s.normal(n * dim).reshape(-1, n, dim)
        if self.alone:
            u = np.array([[2 * s.gamma(self.nu) for _ in range(n)]])
        else:
            z = s.normal(n * int(2 * self.nu)).reshape(len(w), n, -1).astype(F64)
            u = np.zeros(w.shape[:2])
            for i in range(z.shape[2]):
                u += z[:, :, i] * z[:, :, i]
        f = np.sqrt(2 * self.nu / np.maximum(u, 2.0**-80)) / self.scale
        return (w * f[:, :, None]).astype(F32).reshape(len(w), -1)


class RationalQuadratic(Kernel):
    alone = True

    def sample(self, s, n, dim):
        w = s.normal(n * dim).reshape(1, n, dim)
        alpha = self.parameters[0]
        f = np.array([np.sqrt(s.gamma(alpha) / alpha) / self.scale for _ in range(n)])
        return (w * f[None, :, None]).astype(F32).reshape(1, -1)


class Product:
    def __init__(self, parts):
        self.parts, self.alone = parts, any(p.alone for p in parts)

    def sample(self, s, n, dim):
        total = F32(0)
        for p in self.parts:
            total = total + p.sample(s, n, dim)
        return total


class Sum:
    alone = True

    def __init__(self, parts, weights):
        self.parts, self.weights = parts, weights

    def sample(self, s, n, dim):
        at, total = int(s.word(1)[0, 0]), 0.0
        for w in self.weights:
            total += w
        part = np.zeros(n, int)
        for i in range(n):
            rest = float(at >> 11) * 2.0**-53 * total
            while part[i] < len(self.weights) - 1 and rest >= self.weights[part[i]]:
                rest -= self.weights[part[i]]
                part[i] += 1
            at = (at + GOLDEN) % 2**64
        w = np.zeros((n, dim), F32)
        for i, p in enumerate(self.parts):
            own = np.flatnonzero(part == i)
            if len(own):
                w[own] = p.sample(s, len(own), dim).reshape(-1, dim)
        return w.reshape(1, -1)


FAMILIES = {"gaussian": (Gaussian, 1), "laplacian": (Laplacian, 1), "cauchy": (Cauchy, 1), "matern": (Matern, 2), "rational-quadratic": (RationalQuadratic, 2)}
RADIAL = (Gaussian, Matern, RationalQuadratic)


def _family(text):
    name, _, parameters = text.partition(":")
    if name not in FAMILIES:
        raise Unsupported(f"the kernel {text}: this package has {', '.join(FAMILIES)}, their sums and products")
    make, n = FAMILIES[name]
    numbers = [float(p) for p in parameters.split(",")] if parameters else []
    if len(numbers) != n or not all(v > 0 for v in numbers):
        raise Unsupported(f"the kernel {text}")
    return make(text, *numbers)


def parse(text):
    """Returns the kernel of a name, such as gaussian:2.5 or 0.7*gaussian:1+0.3*laplacian:2."""
    parts, weights = [], []
    for term in re.split(r"(?<![0-9.]e)\+", text):
        factors, weight = term.split("*"), 1.0
        if len(factors) > 1 and re.fullmatch(r"[0-9.e+-]+", factors[0]):
            weight, factors = float(factors[0]), factors[1:]
        product = [_family(f) for f in factors]
        parts.append(product[0] if len(product) == 1 else Product(product))
        weights.append(weight)
    return parts[0] if len(parts) == 1 else Sum(parts, weights)
