#!/usr/bin/env python3
"""What other one-pass learners make of the files that `accrete bench` reads.

    pip install river vowpalwabbit scikit-learn
    peers.py DIR [--sets letter,elec] [--learners arf,vw] [--seed 1]

NAME.train.csv.gz is read once, in an order that the seed draws, and judged on
NAME.test.csv.gz; NAME.stream.csv.gz is read once in its own order, and each row
predicted before it is learned. A JSON object a line: the share of wrong classes,
or the mean squared error over the variance of the labels, and the seconds of the
pass. Each learner has its defaults, and the scaling that its manual asks for.
"""
import argparse, glob, gzip, json, math, os, time

import numpy as np


def read(path):
    with gzip.open(path, "rt") as f:
        names = f.readline().strip().split(",")
        table = np.loadtxt(f, delimiter=",")
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


def learners(classes):
    from river import forest, linear_model, tree

    if classes:
        linear = linear_model.LogisticRegression() if classes == 2 else linear_model.SoftmaxRegression()
        trees = {"arf": lambda: River(forest.ARFClassifier(seed=1)), "amf": lambda: River(forest.AMFClassifier(seed=1)), "hoeffding": lambda: River(tree.HoeffdingAdaptiveTreeClassifier(seed=1))}
    else:
        linear = linear_model.LinearRegression()
        trees = {"arf": lambda: River(forest.ARFRegressor(seed=1)), "amf": lambda: River(forest.AMFRegressor(seed=1)), "hoeffding": lambda: River(tree.HoeffdingAdaptiveTreeRegressor(seed=1))}
    return {
        "linear": lambda: River(linear),
        **trees,
        "vw": lambda: VW(classes, ""),
        "vw-quadratic": lambda: VW(classes, "--interactions ff"),
        "vw-nn": lambda: VW(classes, "--nn 10"),
        "rff-sgd": lambda: Sklearn(classes),
    }


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("dir")
    a.add_argument("--sets")
    a.add_argument("--learners")
    a.add_argument("--seed", type=int, default=1)
    o = a.parse_args()
    for path in sorted(glob.glob(os.path.join(o.dir, "*.train.csv.gz")) + glob.glob(os.path.join(o.dir, "*.stream.csv.gz"))):
        name, kind = os.path.basename(path).split(".")[:2]
        if o.sets and name not in o.sets.split(","):
            continue
        x, y = read(path)
        whole = (y == np.round(y)).all() and len(np.unique(y)) <= 100
        classes = int(y.max()) + 1 if whole else 0
        mean, deviation = (0, 1) if classes else (y[:1000].mean(), y[:1000].std())
        y = y.astype(int) if classes else (y - mean) / deviation
        if kind == "train":
            order = np.random.default_rng(o.seed).permutation(len(y))
            x, y = x[order], y[order]
        for who, make in learners(classes).items():
            if o.learners and who not in o.learners.split(","):
                continue
            model, start, error = make(), time.perf_counter(), []

            def judge(x, y):
                p = model.predict(x)
                if classes:
                    return float(p != y)
                p = 0 if p is None else p
                return (p - y) ** 2 if math.isfinite(p) else math.inf

            for row, label in zip(x, y):
                if kind == "stream":
                    error.append(judge(row, label))
                model.learn(row, label.item())
            seconds = time.perf_counter() - start
            if kind == "train":
                tx, ty = read(path.replace(".train.", ".test."))
                ty = ty.astype(int) if classes else (ty - mean) / deviation
                error = [judge(row, label) for row, label in zip(tx, ty)]
                variance = 1 if classes else ty.var()
            else:
                variance = 1 if classes else y.var()
            print(json.dumps({"set": name, "learner": who, "error": round(float(np.mean(error) / variance), 4), "seconds": round(seconds, 1), "rows": len(y)}), flush=True)


main()
