"""Random numbers: chacha8rand (C2SP), and normal numbers from it, to the last bit."""

import struct

import numpy as np

U32, F32 = np.uint32, np.float32


def key(tag, seed, index):
    """The key of the generator for a purpose, a seed and an index, as eight words."""
    return np.frombuffer(struct.pack("<16sQQ", tag.encode(), seed, index), "<u4")


def _rotate(x, n):
    return (x << U32(n)) | (x >> U32(32 - n))


def _quarter(x, a, b, c, d):
    x[a] += x[b]
    x[d] = _rotate(x[d] ^ x[a], 16)
    x[c] += x[d]
    x[b] = _rotate(x[b] ^ x[c], 12)
    x[a] += x[b]
    x[d] = _rotate(x[d] ^ x[a], 8)
    x[c] += x[d]
    x[b] = _rotate(x[b] ^ x[c], 7)


class Words:
    """The sequences of several keys side by side, keys × words of 32 bits."""

    def __init__(self, keys):
        self.keys, self.counter = np.array(keys, U32), 0
        self.rest = np.empty((len(self.keys), 0), U32)

    def _chunk(self):
        """The next words with one key: 64, and before a new key 56."""
        s = np.zeros((16, len(self.keys), 4), U32)
        s[:4] = np.array([0x61707865, 0x3320646E, 0x79622D32, 0x6B206574], U32)[:, None, None]
        s[4:12] = self.keys.T[:, :, None]
        s[12] = np.arange(self.counter, self.counter + 4, dtype=U32)
        x = s.copy()
        for _ in range(4):
            for i in range(4):
                _quarter(x, i, 4 + i, 8 + i, 12 + i)
            for i in range(4):
                _quarter(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
        x[4:12] += s[4:12]
        out = x.transpose(1, 0, 2).reshape(len(self.keys), 64)
        self.counter += 4
        if self.counter == 16:
            self.keys, self.counter, out = out[:, 56:].copy(), 0, out[:, :56]
        return out

    def take(self, n):
        chunks, have = [self.rest], self.rest.shape[1]
        while have < n:
            chunks.append(self._chunk())
            have += chunks[-1].shape[1]
        all = np.concatenate(chunks, axis=1)
        self.rest = all[:, n:]
        return all[:, :n]


LOGARITHM = [F32(v) for v in (-2, 1.000001311302185, -0.6666720509529114, 0.49986526370048523, -0.39951106905937195, 0.3364562690258026, -0.2999366521835327, 0.24183042347431183, -0.10851885378360748)]
COSINE = [F32(v) for v in (1, -4.934795379638672, 4.05844783782959, -1.3320683240890503, 0.2200242131948471)]
SINE = [F32(v) for v in (3.141592502593994, -5.1677021980285645, 2.549957752227783, -0.597625195980072, 0.07643289119005203)]


def _horner(coefficients, x):
    p = np.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        p = p * x + c
    return p


def box_muller(u, v):
    """Turns two words into two normal numbers, in float32 with a rounding after every operation."""
    b = (u | U32(1)).astype(F32).view(U32)
    e = ((b >> U32(23)).astype(np.int32) - 159).astype(F32)
    m = (b & U32(0x7FFFFF) | U32(127 << 23)).view(F32)
    far = m >= F32(1.5)
    m, e = np.where(far, m / F32(2), m), np.where(far, e + F32(1), e)
    y = m - F32(1)
    r = np.sqrt(_horner(LOGARITHM, y) * y + e * (F32(-2) * F32(np.log(2))))
    r = (r.view(U32) ^ ((v ^ (v << U32(1))) & U32(1 << 31))).view(F32)
    t = (v << U32(1)).view(np.int32).astype(F32) * F32(2.0**-32)
    q = t * t
    return _horner(COSINE, q) * r, _horner(SINE, q) * t * r


class Source:
    """The numbers of several blocks side by side: normal and uniform ones, and words."""

    def __init__(self, seed, blocks):
        self.normals = Words([key("frequencies", seed, b) for b in blocks])
        self.words = Words([key("uniform", seed, b) for b in blocks])
        self.rest = np.empty((len(blocks), 0), F32)

    def normal(self, n):
        """The next standard normal numbers, blocks × n."""
        more = max(0, n - self.rest.shape[1])
        w = self.normals.take(-(-more // 8) * 8).reshape(len(self.rest), -1, 8)
        cos, sin = box_muller(w[:, :, :4], w[:, :, 4:])
        all = np.concatenate([self.rest, np.concatenate([cos, sin], axis=2).reshape(len(self.rest), -1)], axis=1)
        self.rest = all[:, n:]
        return all[:, :n]

    def word(self, n):
        """The next words of 64 bits, blocks × n."""
        w = self.words.take(2 * n).astype(np.uint64)
        return w[:, ::2] | w[:, 1::2] << np.uint64(32)

    def uniform(self, n):
        """The next uniform numbers of (0, 1), blocks × n."""
        return ((self.word(n) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52

    def gamma(self, shape):
        """A number of the gamma distribution of this shape and of rate 1, of one block."""
        factor = 1.0
        if shape < 1:
            factor = float(np.exp(np.log(self.uniform(1)[0, 0]) / shape))
            shape += 1
        d = shape - 1.0 / 3
        c = 1 / (3 * np.sqrt(d))
        while True:
            x = float(self.normal(1)[0, 0])
            v = 1 + c * x
            if v <= 0:
                continue
            v = v * v * v
            if np.log(self.uniform(1)[0, 0]) < x * x / 2 + d * (1 - v + np.log(v)):
                return factor * d * v
