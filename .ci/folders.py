"""A model folder loads in MLflow, and predicts what accrete predict predicts.

usage: folders.py BINARY DIRECTORY
"""

import json
import pathlib
import random
import subprocess
import sys

import mlflow.pyfunc
import pandas

MODELS = [("class", []), ("number", ["--intervals", "0.9"]), ("number", ["--loss", "quantile:0.1,0.5,0.9", "--algorithm", "dsg"]), ("class,number", ["--task", "regression"])]


def rows():
    r = random.Random(4)
    for _ in range(300):
        a, b = r.gauss(0, 1), r.gauss(0, 1) if r.random() > 0.1 else None
        row = {"a": a, "b": b, "c": r.choice(["x", "y", None]), "deep": {"d": r.random() > 0.5}, "n": r.randrange(4)}
        yield row | {"class": int(a * (b or 1) > 0), "number": a * a + (row["c"] == "x")}


def main(binary, directory):
    data = list(rows())
    file, snapshot = directory / "mlflow.jsonl", directory / "mlflow.snap"
    file.write_text("".join(json.dumps(r) + "\n" for r in data))
    for i, (label, options) in enumerate(MODELS):
        folder = directory / f"folder-{i}"
        ignored = [f"{n}:ignored" for n in ("class", "number") if n not in label.split(",")]
        columns = ["--columns", ",".join(["a", "b", "c", "deep.d", "n", *ignored])]
        run = lambda *a: subprocess.run([binary, *map(str, a)], check=True, capture_output=True, text=True).stdout  # noqa: E731
        run("fit", file, "--label", label, "--max-features", 128, "--save", snapshot, *columns, *options)
        run("export", "--mlflow", "--model", snapshot, folder)
        table = directory / "mlflow.csv"
        frame = pandas.DataFrame(data).drop(columns=["class", "number"])
        frame["deep.d"] = [d["d"] for d in frame.pop("deep")]
        frame.to_csv(table, index=False)
        table.with_suffix(".out").write_text(run("predict", table, "--model", snapshot))
        want = pandas.read_csv(table.with_suffix(".out"))
        model = mlflow.pyfunc.load_model(str(folder))
        got, none = model.predict(frame), model.predict(frame[:0])
        if len(none) or list(none.columns) != list(got.columns):
            sys.exit(f"{label} {options}: no rows are {none}")
        missing = set(want.columns) - set(got.columns) - set(frame.columns)
        if missing or len(got) != len(want):
            sys.exit(f"{label} {options}: MLflow has {len(got)} rows of {list(got.columns)}, want {len(want)} and {missing}")
        for name in got.columns:
            if not (got[name].astype(str) == want[name].astype(str)).all() and not ((got[name] - want[name]).abs() <= 1e-6 * want[name].abs().clip(lower=1e-9)).all():
                sys.exit(f"{label} {options}: {name} differs")
    import accrete  # the code of a folder

    columns = frame.convert_dtypes()
    if not any(v is pandas.NA for name in columns for v in columns[name]):
        sys.exit("no value is pandas.NA")
    model, fields = accrete.load(snapshot), frame.astype(object).where(frame.notna(), None)
    if list(map(str, model.predict({name: columns[name] for name in columns}).labels)) != list(map(str, model.predict(fields.to_dict("records")).labels)):
        sys.exit("pandas.NA is not a missing value")
    print(f"{len(MODELS)} model folders have the predictions of accrete predict in MLflow {mlflow.__version__}")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
