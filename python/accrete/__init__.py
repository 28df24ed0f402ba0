"""Reads snapshots of Accrete models and predicts with them, with NumPy alone.

    import accrete

    model = accrete.load("fraud.snap")
    p = model.predict([{"amount": 12.5, "country": "CH"}])
    p.labels, p.probabilities

The random features of a model are not in its file: they are generated from its seed, with
the same generator and the same arithmetic as in Accrete. Predictions are those of
`accrete predict`, within a relative difference of 1e-6 and usually to the last digit.
"""

from .model import Model, Predictions, load
from .snapshot import Damaged, Snapshot, Unsupported

__all__ = ["Damaged", "Model", "Predictions", "Snapshot", "Unsupported", "load"]
__version__ = "1.0"
