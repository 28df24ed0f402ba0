"""Models as ONNX, run by onnxruntime, have the predictions of accrete predict.

usage: onnx.py BINARY DIRECTORY
"""

import json
import math
import pathlib
import random
import subprocess
import sys

import numpy
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import accrete  # noqa: E402
from accrete.columns import NORMAL, NORMAL_INDICATED  # noqa: E402

TOLERANCE = 1e-6
COLUMNS = "abcd"
ROWS = 400
SCORED = ["--columns", "a:numeric:normal,b:numeric:normal,c,d:numeric:normal"]
MODELS = [
    ("two", []),
    ("three", ["--mixture", "on"]),
    ("number", ["--mixture", "on", "--intervals", "0.9"]),
    ("number", ["--algorithm", "ridge", "--kernel", "laplacian", "--variance"]),
    ("count", ["--loss", "poisson", "--algorithm", "dsg"]),
    ("two", ["--costs", "f1", "--loss", "hinge", "--algorithm", "dsg"]),
    ("two", ["--loss", "smoothed-hinge", "--algorithm", "cdsg", "--kernel", "rational-quadratic:0.7"]),
    ("number", ["--loss", "quantile:0.1,0.5,0.9", "--algorithm", "dsg", "--intervals", "0.9", "--sampling", "qmc"]),
    ("number", ["--intervals", "0.9", "--variance", "--kernel", "gaussian*cauchy"]),
    ("number", ["--missing", "zero", "--sampling", "orthogonal"]),
    ("both", ["--intervals", "0.9", "--label", "y,z"]),
    (None, ["--task", "novelty"]),
    ("two", ["--forest", "20"]),
    ("three", ["--forest", "20"]),
    ("number", ["--forest", "20", "--mixture", "off"]),
    ("tails", []),
    ("tails", SCORED),
    ("tails", [*SCORED, "--missing", "zero"]),
]
REFUSED = [
    ("two", ["--costs", '{"yes": 5}'], "learner.costs"),
    ("number", ["--kernel", "polynomial:2"], "learner.kernel"),
    ("three", ["--loss", "hinge", "--algorithm", "dsg"], "learner.loss"),
    ("number", ["--columns", "a,b,c,d,a*c:pair"], "input.columns"),
]


def rows(label, n):
    r = random.Random(3)
    for i in range(n):
        if label == "tails":
            yield tails(r, i)
            continue
        row = {"a": r.gauss(0, 1), "b": r.gauss(5, 1e3) if r.random() > 0.1 else None, "c": r.random() > 0.5, "d": r.gauss(0, 1) * (1e9 if i % 50 == 7 else 1)}
        v = row["a"] ** 2 + (row["b"] or 0) / 1e3 + row["c"] + r.gauss(0, 0.1)
        if label == "both":
            yield row | {"y": v, "z": -2 * v + row["a"]}
            continue
        y = {"two": "yes" if v > 1 else "no", "three": ["lo", "mid", "hi"][(v > 0) + (v > 1.5)], "number": v, "count": max(0, round(3 * v))}
        yield row if label is None else row | {"y": y[label]}


def tails(r, i):
    """Returns a row of columns with long tails: a of counts, of which many are quantiles; b often missing; d nearly constant."""
    row = {"a": round(math.exp(r.gauss(0, 2))) if i % 200 else None, "b": math.exp(r.gauss(0, 3)) - 1 if r.random() > 0.1 else None, "c": r.random() > 0.5, "d": 0 if i % 50 else i}
    return row | {"y": math.log1p(row["a"] or 0) + math.log(2 + (row["b"] or 0)) / 2 + row["c"] + r.gauss(0, 0.1)}


def probes(model, row):
    """Yields rows with values at the quantiles, next to them and far beyond them, in all columns that are normal scores."""
    scored = 0
    for name, (kind, parameters, _) in zip(COLUMNS, model._encoding.columns):
        if kind in (NORMAL, NORMAL_INDICATED):
            scored += 1
            quantiles = parameters[: len(parameters) // 2]
            for to in (quantiles, numpy.nextafter(quantiles, numpy.inf), numpy.nextafter(quantiles, -numpy.inf)):
                yield from (row | {name: float(v)} for v in to)
            yield from (row | {name: sign * 10.0**k} for sign in (1, -1) for k in range(-9, 30, 2))
            yield row | {name: None}
    if not scored:
        sys.exit("no column is normal scores")


def fit(binary, directory, label, options, n=ROWS):
    """Returns the rows, and the snapshot of a model of them."""
    data = list(rows(label, n))
    file, snapshot = directory / "onnx.jsonl", directory / "onnx.snap"
    file.write_text("".join(json.dumps(r) + "\n" for r in data))
    command = [binary, "fit", str(file), "--save", str(snapshot), "--max-features", "192", *options]
    subprocess.run(command + (["--label", "y"] if label and "--label" not in options else []), check=True, capture_output=True)
    return data, file, snapshot


def export(binary, snapshot, graph):
    return subprocess.run([binary, "export", "--onnx", "--model", str(snapshot), str(graph)], capture_output=True, text=True)


def main(binary, directory):
    worst = 0.0
    for label, options in MODELS:
        data, file, snapshot = fit(binary, directory, label, options, 4 * ROWS if "--forest" in options else ROWS)  # trees come later
        graph = directory / "model.onnx"
        model = accrete.load(snapshot) if "qmc" not in options else None
        if label == "tails":
            data += probes(model, data[1])
        else:
            data += [row | {"a": float(i - 20), "b": -300.0 * i, "d": 1e9 * i} for i, row in enumerate(data[:40])]  # beyond the rows learned
        file.write_text("".join(json.dumps(r) + "\n" for r in data))
        said = subprocess.run([binary, "predict", str(file), "--model", str(snapshot), "--json"], check=True, capture_output=True, text=True)
        want = [json.loads(line) for line in said.stdout.splitlines()]
        wrote = export(binary, snapshot, graph)
        if wrote.returncode:
            sys.exit(f"{label} {options}: {wrote.stderr}")
        session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
        x = numpy.array([[numpy.nan if r.get(n) is None else float(r[n]) for n in COLUMNS] for r in data])
        got = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"x": x})))
        for i, row in enumerate(want):
            for name, v in row.items():
                if name in data[i] or name == "mixture":
                    continue
                is_ = got[name][i]
                if name == "probabilities":
                    v = [v[k] for k in model.classes]
                if isinstance(v, (str, bool)):
                    if is_ != v:
                        sys.exit(f"{label} {options}, row {i}: {name} is {is_}, want {v}")
                    continue
                if name == "quantiles":
                    v = list(v.values())
                v = numpy.array(v)
                worst = max(worst, float(numpy.max(numpy.abs(is_ - v) / numpy.maximum(numpy.abs(v), 1e-12))))
                if not worst <= TOLERANCE:
                    sys.exit(f"{label} {options}, row {i}: {name} is {is_}, want {v}")
    for label, options, change in REFUSED:
        _, _, snapshot = fit(binary, directory, label, options)
        said = export(binary, snapshot, directory / "refused.onnx")
        if said.returncode != 78 or "cannot be written as ONNX" not in said.stderr or change not in said.stderr or (directory / "refused.onnx").exists():
            sys.exit(f"{label} {options}: exit code {said.returncode}: {said.stderr}")
    print(f"onnxruntime {onnxruntime.__version__}: {len(MODELS)} models, {len(REFUSED)} refused, largest relative difference {worst:.2g}")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
