"""The loader of MLflow model folders, as `accrete export --mlflow` writes them.

    import mlflow.pyfunc

    model = mlflow.pyfunc.load_model("fraud-mlflow")
    model.predict(frame)  # a pandas DataFrame with the fields of a record as columns
"""

import os

import numpy as np
import pandas as pd

from .model import load


class Wrapped:
    """A model with the interface that mlflow.pyfunc expects."""

    def __init__(self, model):
        self.model = model

    def predict(self, rows, params=None):
        """Returns a DataFrame with a row for each row: the columns of `accrete predict` for CSV.

        rows is a DataFrame, a list of dicts, a dict of columns or an array.
        """
        index = None
        if isinstance(rows, pd.DataFrame):
            index = rows.index
            rows = [dict(zip(rows.columns, row)) for row in zip(*(_values(rows[c]) for c in rows.columns))]
        return pd.DataFrame(_columns(self.model.predict(rows), self.model.targets), index=index)


def _values(column):
    """The values of a column of a DataFrame, None where one is missing."""
    return [None if missing else v for v, missing in zip(column.tolist(), pd.isna(column))]


def _columns(p, targets):
    labels = np.asarray(p.labels)
    if p.task == "novelty":
        return {"prediction": labels, "score": p.score, "threshold": p.threshold}
    out = _each("prediction", labels, targets)
    for i, name in enumerate(p.classes):
        out[f"probability.{name}"] = p.probabilities[:, i]
    for i, level in enumerate(p.levels or []):
        out |= _each(f"quantile.{level:g}", p.quantiles[..., i], targets)
    if p.intervals is not None:
        for i, end in enumerate(("low", "high")):
            out |= _each(f"interval.{end}", p.intervals[..., i], targets)
    if p.variance is not None:
        out |= _each("variance", p.variance, targets)
    return out


def _each(name, values, targets):
    """A column, or one for each of several labels."""
    if values.ndim == 1:
        return {name: values}
    return {f"{name}.{target}": values[:, i] for i, target in enumerate(targets)}


def _load_pyfunc(path):
    """Called by MLflow with the path of the snapshot, or of the directory that has it."""
    if os.path.isdir(path):
        path = os.path.join(path, "model.snap")
    return Wrapped(load(path))
