"""The iteration of main.go in numpy, and scikit-learn's nearest thing to it.

    peers.py numpy|sklearn d B m C threads

Prints a JSON object with the seconds of an iteration for each form tried; the
caller takes the best form. numpy gets one product per block that fits a cache,
cosines and sines in place, and no copies.
"""
import json, os, sys, time

who, (d, B, m, C, threads) = sys.argv[1], map(int, sys.argv[2:7])
os.environ["OPENBLAS_NUM_THREADS"] = str(threads)
import numpy as np

now = time.process_time if threads == 1 else time.perf_counter
rng = np.random.Generator(np.random.SFC64(1))
normal = lambda *shape: rng.standard_normal(shape, dtype=np.float32)
X, y = normal(B, d), normal(B, C)
new = 128


def seconds(iterate, slices=9):
    iterate()
    out = []
    for _ in range(slices):
        n, start = 0, now()
        while n == 0 or now() - start < 0.05:
            iterate()
            n += 1
        out.append((now() - start) / n)
    return out


forms = {}
if who == "numpy":
    W = normal(m + new, d) / np.float32(d**0.5)
    A = normal(2 * (m + new), C) / np.float32(m**0.5)
    for block in (128, 256, 512, 1024):
        P, S = np.empty((B, block), np.float32), np.empty((B, block), np.float32)

        def iterate():
            f = np.zeros((B, C))
            for k in range(0, m, block):
                n = min(block, m - k)
                p, s = (P, S) if n == block else (P[:, :n], S[:, :n])
                np.matmul(X, W[k : k + n].T, out=p)
                np.sin(p, out=s)
                np.cos(p, out=p)
                f += p @ A[2 * k : 2 * k + n]
                f += s @ A[2 * k + n : 2 * (k + n)]
            g = (f - y).astype(np.float32)
            z = X @ W[m:].T
            A[2 * m : 2 * m + new] = -(0.1 / B) * (np.cos(z).T @ g)
            A[2 * m + new :] = -(0.1 / B) * (np.sin(z).T @ g)

        forms["block %d" % block] = seconds(iterate)
else:
    import warnings

    warnings.filterwarnings("ignore")
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDRegressor

    features = RBFSampler(gamma=1 / d, n_components=2 * m, random_state=1).fit(X)
    models = [SGDRegressor() for _ in range(C)]

    def iterate():
        Z = features.transform(X)
        for c, model in enumerate(models):
            model.partial_fit(Z, y[:, c])

    forms["RBFSampler + SGDRegressor.partial_fit"] = seconds(iterate, 3)
print(json.dumps({"numpy": np.__version__, "forms": forms}))
