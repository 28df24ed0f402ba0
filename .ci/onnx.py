"""Models as ONNX, run by onnxruntime, have the predictions of accrete predict.

usage: onnx.py BINARY DIRECTORY
"""

import json
import pathlib
import random
import subprocess
import sys

import numpy
import onnxruntime

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import accrete  # noqa: E402
import accrete.onnx  # noqa: E402

TOLERANCE = 1e-6
ROWS = 400
MODELS = [
    ("two", []),
    ("three", ["--mixture", "on"]),
    ("number", ["--mixture", "on", "--intervals", "0.9"]),
    ("number", ["--algorithm", "ridge", "--kernel", "laplacian", "--variance"]),
    ("count", ["--loss", "poisson", "--algorithm", "dsg"]),
    ("two", ["--costs", "f1", "--loss", "hinge", "--algorithm", "dsg"]),
    (None, ["--task", "novelty"]),
]


def rows(label):
    r = random.Random(3)
    for i in range(ROWS):
        row = {"a": r.gauss(0, 1), "b": r.gauss(5, 1e3) if r.random() > 0.1 else None, "c": r.random() > 0.5, "d": r.gauss(0, 1) * (1e9 if i % 50 == 7 else 1)}
        v = row["a"] ** 2 + (row["b"] or 0) / 1e3 + row["c"] + r.gauss(0, 0.1)
        y = {"two": "yes" if v > 1 else "no", "three": ["lo", "mid", "hi"][(v > 0) + (v > 1.5)], "number": v, "count": max(0, round(3 * v))}
        yield row if label is None else row | {"y": y[label]}


def main(binary, directory):
    worst = 0.0
    for label, options in MODELS:
        data = list(rows(label))
        file, snapshot, graph = directory / "onnx.jsonl", directory / "onnx.snap", directory / "model.onnx"
        file.write_text("".join(json.dumps(r) + "\n" for r in data))
        command = [binary, "fit", str(file), "--save", str(snapshot), "--max-features", "192", *options]
        subprocess.run(command + (["--label", "y"] if label else []), check=True, capture_output=True)
        said = subprocess.run([binary, "predict", str(file), "--model", str(snapshot), "--json"], check=True, capture_output=True, text=True)
        want = [json.loads(line) for line in said.stdout.splitlines()]
        model = accrete.load(snapshot)
        lost = accrete.onnx.export(model, graph)
        session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
        x = numpy.array([[numpy.nan if r.get(n) is None else float(r[n]) for n in model.columns] for r in data])
        got = dict(zip([o.name for o in session.get_outputs()], session.run(None, {"x": x})))
        for i, row in enumerate(want):
            for name, v in row.items():
                if name in data[i] or name in lost or name == "mixture":
                    continue
                is_ = got[name][i]
                if name == "probabilities":
                    v = [v[k] for k in model.classes]
                if isinstance(v, (str, bool)):
                    if is_ != v:
                        sys.exit(f"{label} {options}, row {i}: {name} is {is_}, want {v}")
                    continue
                v = numpy.array(v)
                worst = max(worst, float(numpy.max(numpy.abs(is_ - v) / numpy.maximum(numpy.abs(v), 1e-12))))
                if not worst <= TOLERANCE:
                    sys.exit(f"{label} {options}, row {i}: {name} is {is_}, want {v}")
    print(f"onnxruntime {onnxruntime.__version__}: {len(MODELS)} models, largest relative difference {worst:.2g}")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
