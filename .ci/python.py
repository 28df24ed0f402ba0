"""The Python package and accrete predict have the same predictions for the same rows.

usage: python.py BINARY DIRECTORY
"""

import datetime
import json
import math
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
import numpy as np  # noqa: E402

import accrete  # noqa: E402

TOLERANCE = 1e-6
ROWS = 480

# name, how the label comes from the row, options of fit
COLUMNS = "a,b,c,deep.d,deep.ok,at,n:numeric:normal,w:category:decay=100,t:time:trend,s:time:since,note:text,a*c:pair,code:category,log,day:time:%Y%m%d,stamp:time:trend:%d/%b/%Y %I:%M:%S %p %z"
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
UNSUPPORTED = [
    ("polynomial", ["--kernel", "polynomial:2"]),
    ("qmc", ["--sampling", "qmc"]),
    ("leverage", ["--sampling", "leverage"]),
    ("windows", ["--windows", "key=c of=b over=7d time=at"]),
]

# Rows that both sides read or both refuse, of a model with these columns.
JUDGED_COLUMNS = "c:category,day:time:%Y%m%d,at:time:%d.%m.%Y %H:%M:%S,i:id,n.i:id,*"
DEEP = '{"a":' * 70 + "1" + "}" * 70
JUDGED = """
{"l":null} {"o":null} {"o":{"p":null}} {"o":5} {"l":[]} {"l":[1]} {"l":[1,2,3]} {"o":{"p":1},"o.p":2} {"l":[1],"l.0":4} {"a":{"b":1}} {"a":[1]}
{"i":{"j":1}} {"i.j":1} {"n":{"i":1}} {"n.i":1} {"n.i.j":1} {"n":1} {"n":null} {"n":{"i":1},"n.i":1} {"zz":1} {"a":1,"weight":2} {"a":1,"key":"k"}
{"y":1} {"y":"text"} {"y":true} {"y":null} {"y":[1]} {"label":1} {"w":2} {"w":0} {"w":null} {"who":"u"} {"who":7} {"who":true} {"who":null}
{"features":{"a":1}} {"features":{"a":1},"y":2,"w":1,"who":"u"} {"features":{"a":1},"zz":1} {"features":{"y":1}} {"features":{"a":1},"x":[1]} {"x":[1,2,3]}
{"c":1.2345678901234567e19} {"c":12345678901234567000} {"c":12345678901234567168} {"c":"12345678901234567000"} {"c":9007199254740993} {"c":9007199254740993.0} {"c":1e21} {"c":1e40} {"c":1e400}
{"day":20240229} {"day":"20240229"} {"day":20230229} {"day":20240229.0} {"day":1700000000} {"day":"2024-02-29"} {"day":true}
{"at":"1.2.2024~5:06:07"} {"at":"01.02.2024~~~05:06:7.25"} {"at":"1.2.2024~5:06:60"} {"at":"1.2.2024~5:06:07~"} {"at":"1.13.2024~5:06:07"} {"at":5}
{"a":DEEP} {"y":DEEP} {"i":DEEP} {"zz":DEEP}
""".replace("DEEP", DEEP)

# Formats of times: texts that they read, and texts that they do not.
FORMATS = [
    ("%d.%m.%Y", ["01.02.2024", "1.2.2024"], ["30.02.2024", "001.2.2024", "1.2.24", "1.2.2024 ", "1.2.2024." + "0" * 40]),
    ("%m/%d/%y", ["2/1/24", "2/1/69", "2/1/68"], ["2/1/2024"]),
    ("%Y%m%d%H%M%S", ["20240201050607", "20240201050607.5"], ["2024020105067"]),
    ("%d %b %Y %I:%M %p", ["1 Feb 2024 03:04 PM", "1 fEB 2024   12:04 AM"], ["1 Feb 2024 13:04 PM", "1 Feb 2024 3:04 pm"]),
    ("%d %B %Y", ["1 february 2024"], ["1 Feb 2024"]),
    ("%d/%b/%Y:%H:%M:%S %z", ["01/Feb/2024:13:55:36 +0200", "01/Feb/2024:13:55:36,25 -2460"], ["01/Feb/2024:13:55:36 +02:00", "01/Feb/2024:13:55:36 +2500"]),
]


def rows(label, declared):
    r = random.Random(7)
    out = []
    for i in range(ROWS):
        a, b = r.gauss(0, 1), r.gauss(0, 1e3)
        row = {"a": round(a, 4), "b": round(b, 3) if r.random() > 0.1 else None, "c": r.choice(["x", "yy", "é 1"]), "deep": {"d": f"k{r.randrange(60)}", "ok": r.random() > 0.4}}
        if i % 40 == 3:
            row["deep"] = None
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
            row |= {"note": " ".join(r.choice(["Foo", "bar-baz", "Käse", "17"]) for _ in range(4)), "code": r.choice([1, 2.5, 1e-7, 123456789.25, "1", 1.2345678901234567e19, 2**53 + 1]), "log": r.gauss(0, 100)}
            row |= {"day": int(f"2024{1 + i % 12:02d}{1 + i % 28:02d}"), "stamp": f"{1 + i % 28}/{['Feb', 'MAY'][i % 2]}/2024 {1 + i % 12}:{i % 60:02d}:07.5 {'AP'[i % 2]}M +0130"}
        v = a * a + b / 1e3 + (row["c"] == "x") + shop * 7 % 5 + r.gauss(0, 0.1)
        y = {"two": "yes" if v > 1 else "no", "three": ["lo", "mid", "hi"][(v > 0) + (v > 1.5)], "number": round(v, 5), "count": max(0, round(3 * v))}
        out.append(row if label is None else row | {"y": y[label]})
    return out


def far(data):
    """Returns rows with numbers beyond those of the rows that were learned."""
    return [row | {"a": 7.0 * (-1) ** i * 1e9, "b": (i - 20) * 1e3} for i, row in enumerate(data[:40])]


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
        data += far(data)
        file.write_text("".join(json.dumps(r) + "\n" for r in data))
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
        empty(name, model, data)
        if name == "declared columns":
            same(model)
    refused(directory)
    judged(binary, directory)
    formats()
    for name, options in UNSUPPORTED:
        _, snapshot = fit(binary, directory, name, rows("number", False), options)
        try:
            accrete.load(snapshot)
            sys.exit(f"{name}: is not refused")
        except accrete.Unsupported:
            pass
    folder = directory / "windows-mlflow"
    done = subprocess.run([binary, "export", "--mlflow", "--model", str(snapshot), str(folder)], capture_output=True, text=True)
    if not done.returncode or "windows" not in done.stderr or folder.exists():
        sys.exit(f"export --mlflow of a model with windows: {done.returncode}, {done.stderr}")
    damaged(snapshot)
    print(f"{len(MODELS)} models, {compared} numbers: largest relative difference {worst[0]:.2g}{' (' + worst[1] + ')' if worst[1] else ''}")


def empty(name, model, data):
    """No rows have a result of the same shape."""
    some = model.predict([{k: v for k, v in data[0].items() if k != "y"}])
    for rows in ([], {}, {"a": []}):
        none = model.predict(rows)
        for key in ("labels", "probabilities", "quantiles", "intervals", "variance", "score", "threshold"):
            got, want = getattr(none, key), getattr(some, key)
            if (got is None) != (want is None) or got is not None and np.shape(got) != (0, *np.shape(want)[1:]):
                sys.exit(f"{name}: {key} of no rows is {got!r}, of a row {want!r}")


def same(model):
    """Times of datetime and NumPy, and arrays of NumPy, are read as their text and as lists."""
    ahead = datetime.timezone(datetime.timedelta(hours=2))
    for text, values in [
        ("2024-02-01T05:06:07.25", [datetime.datetime(2024, 2, 1, 5, 6, 7, 250000), datetime.datetime(2024, 2, 1, 7, 6, 7, 250000, ahead), np.datetime64("2024-02-01T05:06:07.25"), np.datetime64("2024-02-01T05:06:07.250000000")]),
        ("2024-02-01", [datetime.date(2024, 2, 1), np.datetime64("2024-02-01"), np.datetime64("2024-02"), np.datetime64("2024-02-01T00")]),
        (None, [np.datetime64("NaT"), math.nan]),
    ]:
        want = model.scores([{"at": text}])
        for v in values:
            if not (model.scores([{"at": v}]) == want).all():
                sys.exit(f"{v!r} is not read as {text}")
    reader = accrete.columns.Reader({"columns": ["l.0", "l.1"]}, {"depth": 8, "missing": "impute"})
    for row in ({"l": np.array([1, 2.5])}, {"l": (1, 2.5)}, {"l": np.array([1, 2.5], object)}):
        if reader.row(row) != [1, 2.5]:
            sys.exit(f"{row} is {reader.row(row)}")
    numbers = accrete.columns.Reader({"columns": ["a"]}, {})
    for array in (np.array([["1"]]), np.array([[1j]]), np.array([["2024-02-01"]], "datetime64[D]")):
        try:
            sys.exit(f"{array!r} is not refused: {numbers.rows(array)}")
        except ValueError:
            pass
    if numbers.rows(np.array([[1, True]], np.int8).T).tolist() != [[1], [1]]:
        sys.exit("integers are not read as numbers")


def judged(binary, directory):
    """Both sides refuse the same rows, and predict the same for the others."""
    r = random.Random(5)
    data = [{"a": r.gauss(0, 1), "o": {"p": r.gauss(0, 1)}, "l": [r.random(), r.random()], "c": r.choice(["1", "x"]), "day": 20240101 + i % 28, "at": f"{1 + i % 28}.3.2024 1:02:03", "i": i, "n": {"i": i}} for i in range(300)]
    data = [row | {"who": "u", "w": 1, "y": row["a"] ** 2 + (row["c"] == "x")} for row in data]
    file, snapshot = fit(binary, directory, "judged", data, ["--columns", JUDGED_COLUMNS, "--weight", "w", "--key", "who"])
    model = accrete.load(snapshot)
    for text in JUDGED.split():
        line = text.replace("~", " ")
        file.write_text(line + "\n")
        done = subprocess.run([binary, "predict", str(file), "--model", str(snapshot), "--json"], capture_output=True, text=True)
        try:
            got = model.predict([json.loads(line)]).labels[0]
        except ValueError as e:
            if not done.returncode:
                sys.exit(f"{line} is refused ({e}), and predicted by accrete predict")
            continue
        if done.returncode or abs(got - json.loads(done.stdout)["prediction"]) > TOLERANCE:
            sys.exit(f"{line}: {got}, want {done.stdout}{done.stderr}")


def formats():
    """Declared formats read the texts that they should; judged and main compare the values."""
    for text, zoned in [("2024-02-29", 0), ("2024-02-29T21:47", 0), ("2024-02-29 21:47:39.5", 0), ("2024-02-29T21:47:39+01:00", 0), ("2024-02-29 21:47:39 UTC", 1), ("2024-02-29T21:47:39+0100", 1), ("2024-02-29 21:47Z", 1)]:
        if accrete.times.parse(text) is None or (accrete.times.parse(text, zones=False) is None) != zoned:
            sys.exit(f"{text} is {accrete.times.parse(text, zones=False)} for a model without zones")
    for declared, reads, others in FORMATS:
        f = accrete.times.Format(declared)
        for text in reads + others:
            if (f.parse(text) is not None) != (text in reads):
                sys.exit(f"{text!r} as {declared} is {f.parse(text)}")


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
        (np.zeros((1, 1)), ValueError, "an array has numbers only"),
    ]:
        try:
            model.predict(given)
            sys.exit(f"{given} is not refused")
        except kind as e:
            if says not in str(e):
                sys.exit(f"{given}: {e}, want {says}")
    lines = directory / "lines.jsonl"
    environment = os.environ | {"PYTHONPATH": str(pathlib.Path(accrete.__file__).parent.parent)}
    for text, model, says in [
        ("x", "none.snap", "No such file"),
        ("x", "model.snap", f"{lines}:3: "),
        ('{"a": NaN}', "model.snap", f"{lines}:3: NaN is not JSON"),
        ('{"a": 1, "a": 2}', "model.snap", f"{lines}:3: a field comes twice"),
        ('{"a": ' + "[" * 100000, "model.snap", f"{lines}:3: it is nested too deep"),
        ("x", "lines.jsonl", "not a snapshot"),
    ]:
        lines.write_text('{"a": 1}\n\n' + text + "\n")
        arguments = [directory / model, lines]
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
