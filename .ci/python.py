"""The Python package and accrete predict have the same predictions for the same rows.

usage: python.py BINARY DIRECTORY
"""

import json
import math
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import accrete  # noqa: E402

TOLERANCE = 1e-6
ROWS = 480

# name, how the label comes from the row, options of fit
COLUMNS = "a,b,c,deep.d,deep.ok,at,n:numeric:normal,w:category:decay=100,t:time:trend,s:time:since,note:text,a*c:pair,code:category,log"
MODELS = [
    ("two classes", "two", []),
    ("declared columns", "two", ["--columns", COLUMNS, "--key", "who"]),
    ("three classes", "three", ["--mixture", "on"]),
    ("many categories", "number", ["--mixture", "on", "--intervals", "0.9"]),
    ("variance", "number", ["--intervals", "0.9", "--variance"]),
    ("ridge, variance", "number", ["--algorithm", "ridge", "--variance"]),
    ("quantiles", "number", ["--loss", "quantile:0.1,0.5,0.9", "--algorithm", "dsg"]),
    ("counts", "count", ["--loss", "poisson"]),
    ("forest", "two", ["--forest", "20", "--costs", '{"yes": 5}']),
    ("f1", "two", ["--costs", "f1", "--kernel", "laplacian"]),
    ("hinge", "three", ["--loss", "hinge", "--algorithm", "dsg", "--kernel", "cauchy"]),
    ("smoothed hinge", "two", ["--loss", "smoothed-hinge", "--algorithm", "cdsg", "--kernel", "rational-quadratic:0.7"]),
    ("one-vs-rest", "two", ["--loss", "one-vs-rest", "--algorithm", "ridge", "--kernel", "matern:1.5"]),
    ("matern:0.8", "number", ["--kernel", "matern:0.8"]),
    ("sum", "number", ["--kernel", "0.7*gaussian+0.3*laplacian"]),
    ("product", "number", ["--kernel", "gaussian*cauchy"]),
    ("orthogonal", "number", ["--sampling", "orthogonal"]),
    ("novelty", None, ["--task", "novelty"]),
    ("zeros", "number", ["--missing", "zero"]),
]
UNSUPPORTED = [("polynomial", ["--kernel", "polynomial:2"]), ("qmc", ["--sampling", "qmc"])]


def rows(label, declared):
    r = random.Random(7)
    out = []
    for i in range(ROWS):
        a, b = r.gauss(0, 1), r.gauss(0, 1e3)
        row = {"a": round(a, 4), "b": round(b, 3) if r.random() > 0.1 else None, "c": r.choice(["x", "yy", "é 1"]), "deep": {"d": f"k{r.randrange(60)}", "ok": r.random() > 0.4}}
        row["at"] = f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}T{i % 24:02d}:00:00{r.choice(['Z', '+02:00', '.25Z', '+0100', ' UTC'])}"
        if i % 50 == 7:
            row["c"], row["a"] = None, row["a"] * 1e9
        row |= {"more": f"k{r.randrange(3 if i < 410 else 9)}", "late": r.gauss(0, 1) if i > 410 else None}
        shop = r.randrange(20)
        row["shop"] = shop * 37 - 300 if i % 60 else None
        if label != "number":
            row["later"] = r.choice("pqr") if i > 410 else None
        if declared:
            row |= {"n": r.lognormvariate(0, 2), "w": r.choice("pqr"), "t": 1.7e9 + 1000 * i, "s": f"2024-01-01 00:{i // 60:02d}:{i % 60:02d}", "who": f"u{r.randrange(9)}"}
            row |= {"note": " ".join(r.choice(["Foo", "bar-baz", "Käse", "17"]) for _ in range(4)), "code": r.choice([1, 2.5, 1e-7, 123456789.25, "1"]), "log": r.gauss(0, 100)}
        v = a * a + b / 1e3 + (row["c"] == "x") + shop * 7 % 5 + r.gauss(0, 0.1)
        y = {"two": "yes" if v > 1 else "no", "three": ["lo", "mid", "hi"][(v > 0) + (v > 1.5)], "number": round(v, 5), "count": max(0, round(3 * v))}
        out.append(row if label is None else row | {"y": y[label]})
    return out


def differences(got, want, path=""):
    """Yields the relative differences of numbers; everything else has to be equal."""
    if isinstance(want, dict):
        if set(got) != set(want):
            sys.exit(f"{path}: has {sorted(got)}, want {sorted(want)}")
        for k in want:
            yield from differences(got[k], want[k], f"{path}.{k}")
    elif isinstance(want, list):
        if len(got) != len(want):
            sys.exit(f"{path}: has {len(got)} values, want {len(want)}")
        for i, v in enumerate(want):
            yield from differences(got[i], v, f"{path}[{i}]")
    elif isinstance(want, (int, float)) and not isinstance(want, bool):
        yield abs(got - want) / max(abs(want), 1e-12), path
    elif got != want:
        sys.exit(f"{path}: {got!r}, want {want!r}")


def fit(binary, directory, name, data, options):
    file, model = directory / "rows.jsonl", directory / "model.snap"
    file.write_text("".join(json.dumps(r) + "\n" for r in data))
    label = ["--label", "y"] if "y" in data[0] else []
    command = [binary, "fit", str(file), "--save", str(model), "--max-features", "192", *label, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {' '.join(command)}: {done.stderr}")
    return file, model


def answers(model, data):
    p = model.predict([{k: v for k, v in r.items() if k != "y"} for r in data])
    for i in range(len(data)):
        out = {"prediction": p.labels[i]}
        if p.probabilities is not None:
            out["probabilities"] = dict(zip(p.classes, p.probabilities[i].tolist()))
        for key, values in (("score", p.score), ("threshold", p.threshold), ("interval", p.intervals), ("variance", p.variance)):
            if values is not None:
                out[key] = values[i].tolist()
        if p.quantiles is not None:
            out["quantiles"] = {f"{t:g}": p.quantiles[i][j] for j, t in enumerate(p.levels)}
        yield out


def main(binary, directory):
    worst, compared = (0.0, ""), 0
    for name, label, options in MODELS:
        data = rows(label, "declared" in name)
        file, snapshot = fit(binary, directory, name, data, options)
        said = subprocess.run([binary, "predict", str(file), "--model", str(snapshot), "--json"], check=True, capture_output=True, text=True)
        lines = [json.loads(line) for line in said.stdout.splitlines()]
        model = accrete.load(snapshot)
        largest = (0.0, "")
        for i, (got, row) in enumerate(zip(answers(model, data), lines)):
            want = {k: v for k, v in row.items() if k not in data[i] and k != "mixture"}
            got["prediction"] = got["prediction"].item() if hasattr(got["prediction"], "item") else got["prediction"]
            for d in differences(got, want, f"row {i}"):
                largest, compared = max(largest, d), compared + 1
        if len(lines) != len(data) or not largest[0] <= TOLERANCE:
            sys.exit(f"{name}: {len(lines)} rows, and a relative difference of {largest[0]:.2g} at {largest[1]}")
        worst = max(worst, (largest[0], f"{name}, {largest[1]}"))
    refused(directory)
    for name, options in UNSUPPORTED:
        _, snapshot = fit(binary, directory, name, rows("number", False), options)
        try:
            accrete.load(snapshot)
            sys.exit(f"{name}: is not refused")
        except accrete.Unsupported:
            pass
    damaged(snapshot)
    print(f"{len(MODELS)} models, {compared} numbers: largest relative difference {worst[0]:.2g}{' (' + worst[1] + ')' if worst[1] else ''}")


def refused(directory):
    """A mistake in the rows says where it is, and what is wanted, also on the command line."""
    model = accrete.load(directory / "model.snap")
    for given, kind, says in [
        ([{"a": 1}, {"a": "1"}], ValueError, "row 1: a is '1', want a value of type numeric"),
        ([{}, {"nope": 1}], ValueError, "row 1: nope is not a column"),
        ([[1]], ValueError, "row 0: it has 1 values, want"),
        ([1], ValueError, "row 0: it is 1, want a dict"),
        ({"a": 1}, TypeError, "for one row, use a list of one dict"),
        ("a", TypeError, "rows are a str, want a list of dicts"),
    ]:
        try:
            model.predict(given)
            sys.exit(f"{given} is not refused")
        except kind as e:
            if says not in str(e):
                sys.exit(f"{given}: {e}, want {says}")
    lines = directory / "lines.jsonl"
    lines.write_text('{"a": 1}\n\nx\n')
    environment = os.environ | {"PYTHONPATH": str(pathlib.Path(accrete.__file__).parent.parent)}
    for arguments, says in [([directory / "none.snap", lines], "No such file"), ([directory / "model.snap", lines], f"{lines}:3: "), ([lines, lines], "not a snapshot")]:
        done = subprocess.run([sys.executable, "-m", "accrete", *arguments], capture_output=True, text=True, env=environment)
        if done.returncode != 1 or says not in done.stderr or "Traceback" in done.stderr:
            sys.exit(f"python -m accrete {arguments}: {done.returncode}, {done.stderr}, want {says}")


def damaged(snapshot):
    """No byte of a snapshot can change, and no end can be missing, without being noticed."""
    whole = snapshot.read_bytes()
    r = random.Random(1)
    for i in range(300):
        b = bytearray(whole)
        at = r.randrange(len(b))
        b[at] ^= 1 << r.randrange(8)
        for data in (bytes(b), whole[:at]):
            try:
                accrete.Snapshot(data)
            except (accrete.Damaged, accrete.Unsupported):
                continue
            serving = int.from_bytes(whole[24:32], "little")
            if at != serving and len(data) != serving:
                sys.exit(f"a snapshot that is damaged at byte {at} is read")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
