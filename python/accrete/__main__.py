"""Predicts rows: python -m accrete MODEL FILE writes a JSON object for each JSON line."""

import json
import sys

import numpy as np

from . import load


def record(line):
    """Reads a JSON object as strictly as Accrete does."""

    def unique(pairs):
        fields = dict(pairs)
        if len(fields) < len(pairs):
            raise ValueError("a field comes twice")
        return fields

    def constant(name):
        raise ValueError(f"{name} is not JSON: leave the field out, or write null")

    try:
        return json.loads(line, object_pairs_hook=unique, parse_constant=constant)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def main(args):
    if len(args) != 2:
        sys.exit("usage: python -m accrete MODEL.snap ROWS.jsonl (- for standard input)")
    rows = []
    try:
        model = load(args[0])
        with sys.stdin if args[1] == "-" else open(args[1], encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                try:
                    if line.strip():
                        rows.append(record(line))
                except ValueError as e:
                    raise ValueError(f"{args[1]}:{number}: {e}") from None
        p = model.predict(rows)
    except (OSError, ValueError) as e:  # Damaged and Unsupported among them
        sys.exit(f"accrete: {e}")
    for i in range(len(rows)):
        out = {"prediction": p.labels[i]}
        if p.probabilities is not None:
            out["probabilities"] = dict(zip(p.classes, p.probabilities[i]))
        for name, values in (("score", p.score), ("threshold", p.threshold), ("interval", p.intervals), ("variance", p.variance)):
            if values is not None:
                out[name] = values[i]
        if p.quantiles is not None:
            out["quantiles"] = {f"{t:g}": p.quantiles[i].T[j] for j, t in enumerate(p.levels)}
        print(json.dumps(out, default=lambda v: v.tolist()))


if __name__ == "__main__":
    main(sys.argv[1:])
