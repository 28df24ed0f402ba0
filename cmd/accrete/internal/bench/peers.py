#!/usr/bin/env python3
"""What other learners make of the files that `accrete bench` reads; bench --peers runs it.

    pip install river==0.26.1 vowpalwabbit==9.11.9 scikit-learn==1.9.1 lightgbm==4.7.0
    pip install capymoa==0.15.1    # it needs Java
    peers.py DIR [--sets letter,elec] [--learners arf,vw] [--seed 1]

NAME.train.csv.gz is read once, in an order that the seed draws, and judged on
NAME.test.csv.gz; NAME.stream.csv.gz is read once in its own order, and each row
predicted before it is learned. A JSON object a line: the share of wrong classes,
or the mean squared error over the variance of the labels, the seconds of the pass
and those of the processor. Each learner has its defaults, and the scaling that its
manual asks for. lightgbm is a batch learner, which sees all training rows at once.
"""
import argparse, glob, gzip, importlib.metadata, json, math, os, time

import numpy as np

# The packages of the learners, and the versions that the figures in the documentation are of.
PINNED = {"river": "0.26.1", "vowpalwabbit": "9.11.9", "scikit-learn": "1.9.1", "lightgbm": "4.7.0", "capymoa": "0.15.1"}
PACKAGE = {"vw": "vowpalwabbit", "vw-quadratic": "vowpalwabbit", "vw-nn": "vowpalwabbit", "rff-sgd": "scikit-learn", "lightgbm": "lightgbm", "arf-moa": "capymoa"}


def read(path):
    with gzip.open(path, "rt") as f:
        names = f.readline().strip().split(",")
        table = np.loadtxt(f, delimiter=",", ndmin=2)
    y = names.index("y")
    return np.delete(table, y, 1), table[:, y]


class River:
    """A model of river behind its scaler."""

    def __init__(self, model):
        from river import preprocessing

        self.scaler, self.model = preprocessing.StandardScaler(), model

    def row(self, x):
        return self.scaler.transform_one(dict(enumerate(x)))

    def predict(self, x):
        return self.model.predict_one(self.row(x))

    def learn(self, x, y):
        x = dict(enumerate(x))
        self.scaler.learn_one(x)
        self.model.learn_one(self.scaler.transform_one(x), y)


class VW:
    def __init__(self, classes, extra):
        from vowpalwabbit import Workspace

        self.classes = classes
        self.vw = Workspace("--quiet -b 22 %s %s" % ("--oaa %d" % classes if classes else "--loss_function squared", extra))

    def line(self, x, y=None):
        label = "" if y is None else "%g" % (y + 1 if self.classes else y)
        return label + " |f " + " ".join("%d:%.9g" % (i, v) for i, v in enumerate(x) if v)

    def predict(self, x):
        p = self.vw.predict(self.line(x))
        return p - 1 if self.classes else p

    def learn(self, x, y):
        self.vw.learn(self.line(x, y))


class Sklearn:
    """Fixed random features at the median distance of the first 1,000 rows, and SGD."""

    def __init__(self, classes):
        from sklearn.linear_model import SGDClassifier, SGDRegressor

        self.classes = classes
        self.model = SGDClassifier(loss="log_loss", average=True) if classes else SGDRegressor(average=True)
        self.x, self.y, self.ready = [], [], False

    def features(self, x):
        return self.sampler.transform((x - self.mean) / self.scale)

    def predict(self, x):
        if not self.ready:
            return 0
        return self.model.predict(self.features(x[None]))[0]

    def learn(self, x, y):
        from sklearn.kernel_approximation import RBFSampler

        self.x.append(x)
        self.y.append(y)
        if len(self.x) < (128 if self.ready else 1000):
            return
        x, y = np.array(self.x), np.array(self.y)
        if not self.ready:
            self.mean, self.scale = x.mean(0), np.maximum(x.std(0), 1e-9)
            z = (x[:500] - self.mean) / self.scale
            d = ((z[:, None] - z[None]) ** 2).sum(-1)
            self.sampler = RBFSampler(gamma=1 / (2 * max(1e-9, np.median(d[d > 0]))), n_components=4096, random_state=1).fit(z)
            self.ready = True
        self.model.partial_fit(self.features(x), y, **({"classes": np.arange(self.classes)} if self.classes else {}))
        self.x, self.y = [], []


class MOA:
    """The adaptive random forest of MOA, in which trees need no scaling."""

    def __init__(self, classes):
        try:
            from capymoa.classifier import AdaptiveRandomForestClassifier
            from capymoa.regressor import AdaptiveRandomForestRegressor
        except Exception as e:  # there is no Java, for example
            raise ImportError(e)

        self.classes, self.model = classes, None
        self.forest = AdaptiveRandomForestClassifier if classes else AdaptiveRandomForestRegressor

    def instance(self, x, y):
        from capymoa.core import LabeledInstance, RegressionInstance
        from capymoa.stream import Schema

        if self.model is None:
            names = ["x%d" % i for i in range(len(x))] + ["y"]
            self.schema = Schema.from_custom(names, "y", {"y": [str(c) for c in range(self.classes)]} if self.classes else None)
            self.model = self.forest(schema=self.schema, random_seed=1)
        return (LabeledInstance if self.classes else RegressionInstance).from_array(self.schema, x, y)

    def predict(self, x):
        row = self.instance(x, 0)
        return self.model.predict(row)

    def learn(self, x, y):
        row = self.instance(x, y)
        self.model.train(row)


class LightGBM:
    """Gradient-boosted trees on all training rows, on one core."""

    def __init__(self, classes):
        from lightgbm import LGBMClassifier, LGBMRegressor

        self.model = (LGBMClassifier if classes else LGBMRegressor)(n_jobs=1, verbose=-1)

    def fit(self, x, y):
        self.model.fit(x, y)

    def predict_all(self, x):
        return self.model.predict(x)


def learners(classes):
    def river(make):
        def model():
            import river.forest, river.linear_model, river.tree

            return River(make(river))

        return model

    kind = "Classifier" if classes else "Regressor"
    linear = "LinearRegression" if not classes else "LogisticRegression" if classes == 2 else "SoftmaxRegression"
    return {
        "linear": river(lambda r: getattr(r.linear_model, linear)()),
        "arf": river(lambda r: getattr(r.forest, "ARF" + kind)(seed=1)),
        "amf": river(lambda r: getattr(r.forest, "AMF" + kind)(seed=1)),
        "arf-moa": lambda: MOA(classes),
        "hoeffding": river(lambda r: getattr(r.tree, "HoeffdingAdaptiveTree" + kind)(seed=1)),
        "vw": lambda: VW(classes, ""),
        "vw-quadratic": lambda: VW(classes, "--interactions ff"),
        "vw-nn": lambda: VW(classes, "--nn 10"),
        "rff-sgd": lambda: Sklearn(classes),
        "lightgbm": lambda: LightGBM(classes),
    }


def version(who):
    """Returns the package of a learner with its version, and whether that is the pinned one."""
    package = PACKAGE.get(who, "river")
    installed = importlib.metadata.version(package)
    return package + " " + installed, installed == PINNED[package]


def passed(model, kind, x, y, tests, classes):
    """Has a model learn x and y, and returns its errors, the seconds and the CPU seconds."""

    def judge(p, y):
        if classes:
            return float(p != y)
        p = 0 if p is None else p
        return (p - y) ** 2 if math.isfinite(p) else math.inf

    error, start, cpu = [], time.perf_counter(), time.process_time()
    if isinstance(model, LightGBM):
        model.fit(x, y)
    else:
        for row, label in zip(x, y):
            if kind == "stream":
                error.append(judge(model.predict(row), label))
            model.learn(row, label.item())
    took = time.perf_counter() - start, time.process_time() - cpu
    if kind == "train":
        tx, ty = tests()
        predicted = model.predict_all(tx) if isinstance(model, LightGBM) else [model.predict(row) for row in tx]
        error = [judge(p, label) for p, label in zip(predicted, ty)]
        y = ty
    return float(np.mean(error) / (1 if classes else y.var())), *took


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("dir")
    a.add_argument("--sets")
    a.add_argument("--learners")
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--ordered", action="store_true", help="learn the rows in the order of the files")
    a.add_argument("--classes", type=int, help="number of classes, 0 for numbers; otherwise the labels tell")
    o = a.parse_args()
    for path in sorted(glob.glob(os.path.join(o.dir, "*.train.csv.gz")) + glob.glob(os.path.join(o.dir, "*.stream.csv.gz"))):
        name, kind = os.path.basename(path).split(".")[:2]
        if o.sets and name not in o.sets.split(","):
            continue
        x, y = read(path)
        classes = o.classes
        if classes is None:
            whole = (y == np.round(y)).all() and len(np.unique(y)) <= 100
            classes = int(y.max()) + 1 if whole else 0
        mean, deviation = (0, 1) if classes else (y[:1000].mean(), y[:1000].std() or 1)
        scaled = lambda y: y.astype(int) if classes else (y - mean) / deviation
        y = scaled(y)
        if kind == "train" and not o.ordered:
            order = np.random.default_rng(o.seed).permutation(len(y))
            x, y = x[order], y[order]

        def tests():
            tx, ty = read(path.replace(".train.", ".test."))
            return tx, scaled(ty)

        for who, make in learners(classes).items():
            if o.learners and who not in o.learners.split(","):
                continue
            line = {"set": name, "learner": who, "rows": len(y)}
            try:
                line["version"], line["pinned"] = version(who)
                if kind == "stream" and who == "lightgbm":
                    raise ImportError("it learns in batch, not from a stream")
                model = make()
            except ImportError as e:
                print(json.dumps({**line, "skipped": str(e) or type(e).__name__}), flush=True)
                continue
            error, seconds, cpu = passed(model, kind, x, y, tests, classes)
            print(json.dumps({**line, "error": round(error, 4), "seconds": round(seconds, 2), "cpu_seconds": round(cpu, 3)}), flush=True)


main()
