"""Models: from the arrays of a snapshot to predictions."""

import json
from dataclasses import dataclass, field

import numpy as np

from . import kernels
from .columns import Encoding, Reader, bounded
from .features import Features
from .snapshot import Snapshot, Unsupported, require

F32, F64 = np.float32, np.float64
TASKS = ("auto", "classification", "regression", "novelty")
MACHINE_BLOCK, POSTERIOR_FEATURES = 64, 64
CLIP, POISSON_TOP, MAX_LEVERAGE = 8.0, 20.0, 1e9


@dataclass
class Predictions:
    """Predictions of rows, in the terms of docs/predictions.md.

    labels: the predicted classes, or numbers (rows, or rows × targets), or whether rows are novel.
    """

    task: str
    labels: list
    classes: list = field(default_factory=list)
    probabilities: np.ndarray = None  # rows × classes
    quantiles: np.ndarray = None  # rows × levels, or rows × targets × levels
    levels: list = None
    intervals: np.ndarray = None  # rows × 2, or rows × targets × 2
    variance: np.ndarray = None  # rows, or rows × targets
    score: np.ndarray = None  # of novelty
    threshold: np.ndarray = None


def load(path):
    """Reads a snapshot file, such as one of `accrete fit --save`."""
    with open(path, "rb") as f:
        return Model(Snapshot(f.read()))


class Model:
    """A model. name, step, lineage and state_hash say which; columns are those of a row, and
    targets the names of its labels, if there are several."""

    def __init__(self, snapshot):
        a = self._arrays = snapshot.arrays
        self.name, self.step, self.lineage, self.state_hash = snapshot.model, snapshot.step, snapshot.lineage, snapshot.state_hash
        options = json.loads(snapshot.config or b"{}").get("input", {})
        schema = json.loads(snapshot.schema or b"{}")
        task, classes, self.dim, self._block, blocks, seed, lags, sampling = (int(v) for v in a["model"].ravel())
        self.task = TASKS[task]
        self.classes = schema.get("classes") or []
        self.targets = options.get("labels") or []  # names of the labels, if there are several
        self._seed, self._sampling = seed % 2**64, sampling
        if lags:
            raise Unsupported("a model with lags, which only its learner can predict with")
        if "given.hash" in a:
            raise Unsupported("a model with a learned metric of its inputs (kernel.metric)")
        if options.get("sparse"):
            raise Unsupported("a model of sparse inputs (input.sparse)")
        if any(name.startswith("windows.") for name in a):
            raise Unsupported("a model with windows (input.windows)")
        if task == 0:
            raise Unsupported("a model that has seen no label yet")
        columns = schema.get("columns") or []
        require(self.dim in (0, len(columns)), f"the schema has {len(columns)} columns, the model has {self.dim} inputs")
        require(len(schema.get("types") or columns) == len(columns), "the schema has not one type for each column")
        require(schema.get("task") == self.task, f"the task of the schema is {schema.get('task')}, that of the model is {self.task}")
        require(len(self.classes) >= classes, f"the schema has {len(self.classes)} classes, the model has {classes}")
        self._reader = Reader(schema, options)
        self.columns = self._reader.columns
        self._loss = self._text("loss")
        self._label = a["label"]
        self._intercept = a["intercept"].ravel()
        self._encoding = Encoding(a) if "encode.columns" in a else None
        self._features = None
        name = self._text("kernel")
        if name:
            self._kernel = kernels.parse(name)
            kept = None
            if "kept" in a:
                kept = np.unpackbits(a["kept"].ravel(), bitorder="little")[: blocks * self._block].astype(bool)
            self._width = a["center"].shape[1]
            self._features = self._bank(self._block, blocks, kept)
        self._forest = Forest(a, self._width) if "forest.columns" in a else None
        self._mixture()
        if len(a.get("posterior", ())):
            self._posterior()

    def _text(self, name):
        return self._arrays[name].tobytes().decode()

    def _bank(self, size, blocks, kept=None):
        second = self._arrays["second"].ravel()
        return Features(self._kernel, self._width, size, blocks, self._seed, self._sampling, second if len(second) else None, kept)

    def _mixture(self):
        share = self._arrays.get("mixture.engine", np.empty((0, 0)))
        self._share, self._machines = share.ravel(), None
        coef = self._arrays.get("mixture.coefficients")
        if len(self._share) and len(coef):
            size = min(self._block, MACHINE_BLOCK)
            self._machines = self._bank(size, len(coef) // (2 * size))

    def _posterior(self):
        lower = self._arrays["posterior"].ravel()
        n = int((2 * len(lower)) ** 0.5)
        self._lower = np.zeros((n, n))
        self._lower[np.tril_indices(n)] = lower
        count = (n - 1) // 2
        size = min(self._block, POSTERIOR_FEATURES) if count <= POSTERIOR_FEATURES else self._block
        self._own = self._bank(size, count // size)

    def _scaled(self, raw):
        a = self._arrays
        x = self._encoding.apply(raw) if self._encoding else raw
        require(x.shape[1] == self._width, f"rows become {x.shape[1]} columns, want {self._width}")
        return (self._clipped(x, a["center"], a["scale"]) * a["metric"]).astype(F32)

    def _clipped(self, x, center, scale):
        v = (bounded(x) - center) * scale
        far = np.abs(v)
        with np.errstate(divide="ignore", invalid="ignore"):
            v = np.where(far > CLIP, np.copysign(CLIP + CLIP / 2 * np.log(np.minimum(far, np.finfo(F64).max) / CLIP), v), v)
        return np.where(np.isnan(x), 0, v)

    def scores(self, rows):
        """Returns the scores of rows: what the model adds up, before it becomes a prediction."""
        return self._scores(self._reader.rows(rows))[0]

    def _scores(self, raw):
        a, k = self._arrays, len(self._intercept)
        if self._features is not None:
            x = self._scaled(raw)
            within = np.clip(x, *a["mixture.range"][:2]) if "mixture.range" in a else x
            f = self._features.sum(within, a["coefficients"]) + self._intercept
            if self._forest:
                f = f + self._forest.sum(within, a["forest.coefficients"])
        else:
            x, within, f = None, None, np.tile(self._intercept, (len(raw), 1))
            if "mixture.scaler" in a:  # the linear members before the first fit
                x = self._clipped(raw, *a["mixture.scaler"]).astype(F32)
        if len(self._share):
            linear = a["mixture.linear"].astype(F64).reshape(k, -1)
            added = np.tile(linear[:, -1], (len(x), 1))
            for j in range(x.shape[1]):
                added = added + linear[:, j] * x[:, j, None].astype(F64)
            limits = a.get("mixture.limits")
            if limits is not None:
                added = np.clip(added, limits[:, 0], limits[:, 1])
            f = self._share * f + added
            if self._machines:
                f = f + self._machines.sum(within, a["mixture.coefficients"])
            if "mixture.range" in a:
                f = f + self._beyond(x, within)
            if limits is not None:
                f = np.clip(f, limits[:, 2], limits[:, 3])
        return f, x

    def _beyond(self, x, within):
        """Returns what inputs x that are beyond the range of the rows learned add to the scores."""
        distance = np.clip(x, *self._arrays["mixture.range"][2:]).astype(F64) - within
        return distance @ self._arrays["mixture.slopes"].astype(F64).T

    def predict(self, rows):
        """Returns the Predictions of rows: a list of dicts such as records of a topic are, a
        dict of columns, or an array with a column for each of columns, in which NaN is a
        missing value. A row that a learner would not accept is a ValueError."""
        f, x = self._scores(self._reader.rows(rows))
        if self.task == "classification":
            p = self._probabilities(f)
            return Predictions(self.task, [self.classes[c] for c in self._decide(p)], self.classes, p)
        if self.task == "novelty":
            if self._features is None:
                raise Unsupported("a model of novelty before its first fit")
            score, threshold = 1 - (f[:, 0] - self._intercept[0]), np.full(len(f), 1 + self._intercept[0])
            return Predictions(self.task, list(score > threshold), score=score, threshold=threshold)
        return self._numbers(f, x)

    def _probabilities(self, f):
        if len(self.classes) == 1:
            return np.ones((len(f), 1))
        if self._loss == "logistic":
            e = np.exp(-np.abs(f[:, 0]))
            p = np.where(f[:, 0] < 0, e / (1 + e), 1 / (1 + e))
            q = np.where(f[:, 0] > 0, e / (1 + e), 1 / (1 + e))
            return np.stack([q, p], axis=1)
        if self._loss == "softmax":
            e = np.exp(f - f.max(axis=1, keepdims=True))
            return e / e.sum(axis=1, keepdims=True)
        if f.shape[1] > 1:
            return np.array([nearest(row) for row in f]).reshape(f.shape)
        u = np.clip(f[:, 0], -1, 1)
        p = (1 + u) / 2
        if self._loss == "smoothed-hinge":
            likely = 1 / (2 - np.abs(u))
            p = np.where(u < 0, 1 - likely, likely)
        return np.stack([1 - p, p], axis=1)

    def _decide(self, p):
        a = self._arrays
        if "costs" in a:
            return self._cheapest(p, json.loads(self._text("costs")))
        bucket = int(a["decision"][0, 0]) if "decision" in a else 0
        if bucket == 0 or p.shape[1] != 2:
            return p.argmax(axis=1)
        with np.errstate(divide="ignore"):
            odds = np.ascontiguousarray(p[:, 1] / p[:, 0])
        at = np.clip((odds.view(np.uint64) >> np.uint64(46)).astype(np.int64) - 63424, 0, 4095)
        return (np.where(odds > 0, at, 0) >= bucket).astype(int)

    def _cheapest(self, p, costs):
        n = p.shape[1]
        matrix = 1.0 - np.eye(n)
        for true, cost in costs.items():
            if true in self.classes and not isinstance(cost, dict):
                matrix[self.classes.index(true)] = cost
        for true, cost in costs.items():
            for predicted, c in cost.items() if isinstance(cost, dict) else ():
                if true in self.classes and predicted in self.classes:
                    matrix[self.classes.index(true), self.classes.index(predicted)] = c
        matrix[np.diag_indices(n)] = 0
        return (p @ matrix).argmin(axis=1)

    def _numbers(self, f, x):
        targets = len(self._label)
        levels = None
        if self._loss == "poisson":
            f = np.exp(np.clip(f, -POISSON_TOP, POISSON_TOP))
        elif self._loss.startswith("quantile:") and "," in self._loss:
            levels = [float(t) for t in self._loss.partition(":")[2].split(",")]
            f = np.sort(f.reshape(len(f), targets, len(levels)), axis=2)
        f = f.reshape(len(f), targets, len(levels or [0]))
        v = bounded(self._label[:, :1] + self._label[:, 1:] * f)
        central = min(range(len(levels)), key=lambda i: abs(levels[i] - 0.5)) if levels else 0
        points = v[:, :, central]

        def shaped(b):
            return b[:, 0] if targets == 1 else b

        out = Predictions(self.task, shaped(points), levels=levels)
        if levels:
            out.quantiles = shaped(v)
        self._uncertainty(out, points, x, shaped)
        return out

    def _uncertainty(self, out, points, x, shaped):
        a = self._arrays
        leverage = self._leverage(x)[:, None] if "posterior" in a and len(a["posterior"]) else 0.0
        both, noise = a.get("intervals"), a.get("variance")
        if both is not None and both.size:
            spread = np.sqrt(1 + leverage)
            out.intervals = shaped(np.stack([points - spread * both[0], points + spread * both[1]], axis=2))
        if noise is not None and noise.size:
            out.variance = shaped(noise.ravel() * (1 + leverage) + np.zeros_like(points))

    def _leverage(self, x):
        cos, sin = self._own.apply(x)
        z = np.ones((len(x), len(self._lower)))
        z[:, :-1:2], z[:, 1:-1:2] = cos, sin
        z[:, :-1] *= 1 / np.sqrt(cos.shape[1])
        for i in range(z.shape[1]):
            z[:, i] = (z[:, i] - z[:, :i] @ self._lower[i, :i]) / self._lower[i, i]
        return np.minimum((z * z).sum(axis=1), MAX_LEVERAGE)


def nearest(f):
    """The probabilities nearest to margins: a projection onto the simplex."""
    v = np.maximum(f - f.max(), -4) / 2
    threshold = -2.0
    while True:
        above = v > threshold
        following = (v[above].sum() - 1) / above.sum()
        dropped = (above & (v <= following)).any()
        threshold = following
        if not dropped:
            return np.maximum(0, v - threshold)


class Forest:
    """Trees whose leaves have coefficients."""

    def __init__(self, arrays, dim):
        columns, thresholds = arrays["forest.columns"].ravel().tobytes(), iter(arrays["forest.thresholds"].ravel())
        at, self.trees, leaves = 0, [], 0

        def number():
            nonlocal at
            n = shift = 0
            while True:
                require(at < len(columns) and shift < 63, "forest.columns ends within a tree")
                byte = columns[at]
                at += 1
                n |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return n

        while at < len(columns):
            nodes, pending = [None], [0]
            while pending:
                i = pending.pop()
                c = number()
                require(c <= dim, "a tree splits a column that does not exist")
                if c == 0:
                    nodes[i] = (0, F32(np.inf), i, leaves)
                    leaves += 1
                    continue
                nodes[i] = (c - 1, next(thresholds), len(nodes), 0)
                pending += [len(nodes) + 1, len(nodes)]
                nodes += [None, None]
            self.trees.append([np.array(v) for v in zip(*nodes)])

    def sum(self, x, coefficients):
        out, rows = np.zeros((len(x), coefficients.shape[1])), np.arange(len(x))
        for column, threshold, child, leaf in self.trees:
            at = np.zeros(len(x), int)
            while True:
                following = child[at] + (x[rows, column[at]] > threshold[at])
                if (following == at).all():
                    break
                at = following
            out += coefficients[leaf[at]]
        return out
