"""Writes models as ONNX: python -m accrete.onnx MODEL.snap MODEL.onnx

The graph has one input, x: float64, rows × columns, in the order of Model.columns, in which
NaN is a missing value. Its outputs are named after the members of a prediction. It is written
without the package onnx: a file is a protocol buffer of few fields.
"""

import struct
import sys

import numpy as np

from . import columns as c
from .features import GROUP
from .generator import COSINE, SINE
from .model import CLIP, POISSON_TOP, load
from .snapshot import Unsupported

IR_VERSION, OPSET = 8, 17
INT, INTS = 2, 7
MAX_COLUMNS = 1024  # each takes five nodes
TYPES = {np.dtype("f4"): 1, np.dtype("i8"): 7, np.dtype("?"): 9, np.dtype("f8"): 11}
STRING = 8


def varint(n):
    n &= 2**64 - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def message(field, *parts):
    body = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    return varint(field << 3 | 2) + varint(len(body)) + body


class Graph:
    """Nodes, constants, inputs and outputs."""

    def __init__(self):
        self.nodes, self.constants, self.ends, self.n = [], [], [], 0

    def constant(self, value):
        self.n += 1
        name = f"c{self.n}"
        if isinstance(value, list):
            data, typ, shape = b"".join(message(6, v) for v in value), STRING, (len(value),)
        else:
            value = np.asarray(value)
            data, typ, shape = message(9, np.ascontiguousarray(value).tobytes()), TYPES[value.dtype], value.shape
        self.constants.append(message(5, *(number(1, d) for d in shape), number(2, typ), data, message(8, name)))
        return name

    def node(self, op, *inputs, output=None, **attributes):
        """Adds a node and returns the name of its output. Inputs that are no names are constants."""
        self.n += 1
        output = output or f"v{self.n}"
        names = [i if isinstance(i, str) else self.constant(i) for i in inputs]
        fields = []
        for name, v in attributes.items():
            value = [number(8, i) for i in v] + [number(20, INTS)] if isinstance(v, list) else [number(3, v), number(20, INT)]
            fields.append(message(5, message(1, name), *value))
        self.nodes.append(message(1, *(message(1, n) for n in names), message(2, output), message(4, op), *fields))
        return output

    def end(self, field, name, typ, *shape):
        """Declares an input (11) or an output (12) with a shape of any number of rows."""
        dims = [message(1, message(2, "rows"))] + [message(1, number(1, d)) for d in shape]
        tensor = message(1, number(1, typ), message(2, *dims))
        self.ends.append(message(field, message(1, name), message(2, tensor)))

    def file(self, about):
        graph = message(7, *self.nodes, message(2, "accrete"), *self.constants, *self.ends)
        properties = [message(14, message(1, k), message(2, str(v))) for k, v in about.items()]
        return b"".join([number(1, IR_VERSION), message(2, "accrete"), graph, message(8, number(2, OPSET)), *properties])


def export(model, path):
    """Writes a model to a file, and returns what of its predictions the graph lacks."""
    g = Graph()
    g.end(11, "x", TYPES[np.dtype("f8")], len(model.columns))
    lost = _outputs(g, model, _scores(g, model))
    about = {"model": model.name, "step": model.step, "lineage": model.lineage, "state_hash": model.state_hash, "columns": ",".join(model.columns)}
    with open(path, "wb") as f:
        f.write(g.file(about))
    return lost


def _encoded(g, model):
    """The columns that the model sees: what is missing has its value, or an indicator."""
    a, n = model._arrays, len(model.columns)
    wrong = [name for name, t in zip(model._reader.columns, model._reader.types) if t not in ("numeric", "boolean")]
    if wrong:
        raise Unsupported(f"the column {wrong[0]} in ONNX: there, columns are numbers and booleans")
    center, width = a["center"].ravel(), a["center"].shape[1]
    value, take, indicate = np.zeros(n), np.zeros((n, width)), np.zeros((n, width))
    at = 0
    for j in range(n):
        kind, p, _ = model._encoding.columns[j] if model._encoding else (c.NUMBER, (), None)
        if kind not in (c.NUMBER, c.IMPUTED, c.INDICATED, c.ABSENT):
            raise Unsupported(f"what the column {model.columns[j]} becomes, in ONNX")
        value[j] = center[at] if kind == c.NUMBER else (p[0] if len(p) else 0.0)
        take[j, at] = kind != c.ABSENT
        if kind == c.INDICATED:
            at += 1
            indicate[j, at] = 1.0
        at += 1
    missing = g.node("IsNaN", "x")
    bounds = [np.float64(v) for v in (-c.MAX_MAGNITUDE, c.MAX_MAGNITUDE)]
    filled = g.node("Clip", g.node("Where", missing, value, "x"), *bounds)
    if not model._encoding:
        return filled
    return g.node("Add", g.node("MatMul", filled, take), g.node("MatMul", g.node("Cast", missing, to=11), indicate))


def _scaled(g, model):
    a = model._arrays
    v = g.node("Mul", g.node("Sub", _encoded(g, model), a["center"]), a["scale"])
    far = g.node("Abs", v)
    beyond = g.node("Log", g.node("Div", g.node("Max", far, np.float64(CLIP)), np.float64(CLIP)))
    clipped = g.node("Mul", g.node("Sign", v), g.node("Add", g.node("Mul", beyond, np.float64(CLIP / 2)), np.float64(CLIP)))
    v = g.node("Where", g.node("Greater", far, np.float64(CLIP)), clipped, v)
    return g.node("Cast", g.node("Cast", g.node("Mul", v, a["metric"]), to=1), to=11)


def _rounded(g, v):
    """Rounds to float32, the precision in which Accrete adds."""
    return g.node("Cast", g.node("Cast", v, to=1), to=11)


def _chain(g, terms):
    """A chain of fused multiply-adds in float32: of products that are exact in float64."""
    total = None
    for term in terms:
        total = _rounded(g, term if total is None else g.node("Add", term, total))
    return total


def _features(g, x, w):
    """The cosines and sines of frequencies w, as Features.apply has them."""
    t = _chain(g, (g.node("Mul", g.node("Gather", x, np.array([k]), axis=1), w[None, :, k]) for k in range(w.shape[1])))
    n = g.node("Round", t)
    r = g.node("Sub", t, n)
    half = g.node("Mul", n, np.float64(0.5))
    odd = g.node("Sub", half, g.node("Floor", half))  # 0 or 1/2
    sign = g.node("Sub", np.float64(1), g.node("Mul", odd, np.float64(4)))
    q = _rounded(g, g.node("Mul", r, r))
    out = []
    for polynomial in (COSINE, SINE):
        v = np.float64(polynomial[-1])
        for a in polynomial[-2::-1]:
            v = _rounded(g, g.node("Add", g.node("Mul", q, v), np.float64(a)))
        out.append(v)
    out[1] = _rounded(g, g.node("Mul", out[1], r))
    return [g.node("Mul", v, sign) for v in out]


def _waves(g, x, features, coefficients):
    """The sum of the features of scaled rows times their coefficients, as Features.sum has it."""
    n, scores = len(coefficients) // 2, coefficients.shape[1]
    groups = -(-n // GROUP)
    w = np.zeros((groups * GROUP, features.frequencies.shape[1]))
    w[:n] = features.frequencies[:n]
    if w.shape[1] > MAX_COLUMNS:
        raise Unsupported(f"more than {MAX_COLUMNS} columns in ONNX")
    sums = []
    for i, v in enumerate(_features(g, x, w)):
        a = np.zeros((groups * GROUP, scores))
        a[:n] = coefficients[i::2]
        a = a.reshape(groups, GROUP, scores)
        v = g.node("Reshape", v, np.array([-1, groups, GROUP]))
        sums.append(_chain(g, (g.node("Mul", g.node("Gather", v, np.array([j]), axis=2), a[None, :, j]) for j in range(GROUP))))
    return g.node("ReduceSum", g.node("Add", *sums), np.array([1]), keepdims=0)


def _scores(g, model):
    a = model._arrays
    if model._features is None:
        raise Unsupported("a model before its first fit, in ONNX")
    if model._forest:
        raise Unsupported("a model with a forest, in ONNX")
    x = _scaled(g, model)
    f = model._intercept[None, :]
    if len(a["coefficients"]):
        f = g.node("Add", _waves(g, x, model._features, a["coefficients"]), f)
    if len(model._share):
        linear = a["mixture.linear"].astype(np.float64).reshape(len(model._share), -1)
        added = g.node("Add", g.node("MatMul", x, linear[:, :-1].T), linear[:, -1])
        f = g.node("Add", g.node("Mul", f, model._share), added)
        if model._machines:
            f = g.node("Add", f, _waves(g, x, model._machines, a["mixture.coefficients"]))
    return f


def _outputs(g, model, f):
    f8 = TYPES[np.dtype("f8")]
    if model.task == "classification":
        p = _probabilities(g, model, f)
        g.node("Identity", p, output="probabilities")
        g.node("Gather", model.classes, _class(g, model, p), output="prediction")
        g.end(12, "prediction", STRING)
        g.end(12, "probabilities", f8, len(model.classes))
        return []
    if model.task == "novelty":
        b = model._intercept[0]
        score = g.node("Sub", np.float64(1 + b), g.node("Squeeze", f, np.array([1])), output="score")
        threshold = g.node("Add", g.node("Mul", score, np.float64(0)), np.float64(1 + b), output="threshold")
        g.node("Greater", score, threshold, output="prediction")
        g.end(12, "prediction", TYPES[np.dtype("?")])
        g.end(12, "score", f8)
        g.end(12, "threshold", f8)
        return []
    return _numbers(g, model, f)


def _probabilities(g, model, f):
    if len(model.classes) == 1:
        raise Unsupported("a model of one class, in ONNX")
    if model._loss == "softmax":
        return g.node("Softmax", f, axis=1)
    if model._loss == "logistic":
        return g.node("Concat", g.node("Sigmoid", g.node("Neg", f)), g.node("Sigmoid", f), axis=1)
    if len(model.classes) > 2 or model._loss == "smoothed-hinge":
        raise Unsupported(f"the loss {model._loss} in ONNX")
    half = g.node("Div", g.node("Clip", f, np.float64(-1), np.float64(1)), np.float64(2))
    return g.node("Concat", g.node("Sub", np.float64(0.5), half), g.node("Add", np.float64(0.5), half), axis=1)


def _class(g, model, p):
    if "costs" in model._arrays:
        raise Unsupported("costs by class in ONNX")
    bucket = int(model._arrays["decision"][0, 0]) if "decision" in model._arrays else 0
    if bucket == 0 or len(model.classes) != 2:
        return g.node("ArgMax", p, axis=1, keepdims=0)
    edge = struct.unpack("<d", struct.pack("<Q", (bucket + 63424) << 46))[0]
    first, second = (g.node("Gather", p, np.int64(i), axis=1) for i in (0, 1))
    return g.node("Cast", g.node("GreaterOrEqual", g.node("Div", second, first), np.float64(edge)), to=7)


def _numbers(g, model, f):
    if "," in model._loss:
        raise Unsupported("several quantiles in ONNX")
    if model._loss == "poisson":
        f = g.node("Exp", g.node("Clip", f, np.float64(-POISSON_TOP), np.float64(POISSON_TOP)))
    label, f8 = model._label, TYPES[np.dtype("f8")]
    v = g.node("Add", g.node("Mul", f, label[:, 1]), label[:, 0])
    v = g.node("Clip", v, np.float64(-c.MAX_MAGNITUDE), np.float64(c.MAX_MAGNITUDE))
    one = len(label) == 1
    g.node("Squeeze", v, np.array([1]), output="prediction") if one else g.node("Identity", v, output="prediction")
    g.end(12, "prediction", f8, *(() if one else (len(label),)))
    both, noise = model._arrays.get("intervals"), model._arrays.get("variance")
    if noise is not None and noise.size:
        return ["variance"] + (["interval"] if both is not None else [])
    if both is not None and both.size:
        ends = [g.node("Unsqueeze", g.node(op, v, b), np.array([2])) for op, b in (("Sub", both[0]), ("Add", both[1]))]
        interval = g.node("Concat", *ends, axis=2)
        g.node("Squeeze", interval, np.array([1]), output="interval") if one else g.node("Identity", interval, output="interval")
        g.end(12, "interval", f8, *((2,) if one else (len(label), 2)))
    return []


def main(args):
    if len(args) != 2:
        sys.exit("usage: python -m accrete.onnx MODEL.snap MODEL.onnx")
    lost = export(load(args[0]), args[1])
    if lost:
        print(f"{args[1]} has no {' and no '.join(lost)}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
