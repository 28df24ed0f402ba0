#!/usr/bin/env python3
"""Compares iterations with numpy + OpenBLAS and with scikit-learn in one run.

The programs alternate, so that a change of the machine's speed meets all; the
ratio is taken in each round, and the median of the rounds is printed with the
least and the greatest. numpy has the best of its forms in each round. One
thread: time of the process, pinned to a core. More: wall time, which means
something on an idle machine only.

Debian: apt-get install python3-numpy libopenblas0-pthread python3-sklearn
(--install does it). Run it in the module: python3 internal/vec/compare/compare.py
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
shapes = [(123, 64, 5120, 1), (54, 1024, 8192, 1), (784, 1024, 8192, 10)]

a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
a.add_argument("--threads", type=int, default=1)
a.add_argument("--rounds", type=int, default=3)
a.add_argument("--shape", type=int, choices=range(len(shapes)), help="only this one")
a.add_argument("--python", default="/usr/bin/python3")
a.add_argument("--sampling", default="iid", choices=("iid", "sorf"), help="ours; the peers have no sorf and draw iid, and sorf leaves out shapes of fewer than 64 inputs")
a.add_argument("--install", action="store_true")
a.add_argument("--json", action="store_true")
o = a.parse_args()

if o.install:
    subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", "python3-numpy", "libopenblas0-pthread", "python3-sklearn"], check=True)
pin = ["taskset", "-c", str(os.cpu_count() - 1)] if o.threads == 1 and shutil.which("taskset") else []


def run(command):
    return json.loads(subprocess.run(pin + command, check=True, capture_output=True, text=True, env=dict(os.environ, OPENBLAS_NUM_THREADS=str(o.threads))).stdout)


with tempfile.TemporaryDirectory() as tmp:
    ours = os.path.join(tmp, "compare")
    subprocess.run(["go", "build", "-o", ours, here], check=True, cwd=here)
    for i, (d, B, m, C) in enumerate(shapes):
        if o.shape is not None and i != o.shape or o.sampling == "sorf" and d < 64:
            continue
        peers = ["numpy"] + (["sklearn"] if i == 0 else [])
        ratios, best, own = {p: [] for p in peers}, {}, []
        for _ in range(o.rounds):
            g = run([ours] + ["-%s=%s" % x for x in zip(("d", "B", "m", "C", "threads", "sampling"), (d, B, m, C, o.threads, o.sampling))])
            own.append(statistics.median(g["seconds"]))
            for p in peers:
                r = run([o.python, os.path.join(here, "peers.py"), p] + [str(v) for v in (d, B, m, C, o.threads)])
                form, t = min(((f, statistics.median(s)) for f, s in r["forms"].items()), key=lambda x: x[1])
                best[p] = "%s %s" % (p if p == "sklearn" else "numpy " + r["numpy"], form)
                ratios[p].append((t / own[-1], t))
        for p in peers:
            q = sorted(r for r, _ in ratios[p])
            t = statistics.median(t for _, t in ratios[p])
            row = dict(d=d, B=B, m=m, C=C, threads=o.threads, sampling=o.sampling, isa=g["isa"], peer=best[p], ratio=round(statistics.median(q), 2), least=round(q[0], 2), greatest=round(q[-1], 2), ms=round(1e3 * statistics.median(own), 3), peer_ms=round(1e3 * t, 3))
            if o.json:
                print(json.dumps(row), flush=True)
            else:
                print("d=%(d)d B=%(B)d m=%(m)d C=%(C)d threads=%(threads)d sampling=%(sampling)s isa=%(isa)s: %(ms).3f ms; %(peer)s: %(peer_ms).3f ms; ratio %(ratio).2f [%(least).2f %(greatest).2f]" % row, flush=True)
