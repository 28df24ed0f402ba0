"""Validates real predictions and records against the schemas that accrete contract prints.

Usage: contract.py ACCRETE DIRECTORY
"""
import json
import random
import secrets
import socket
import subprocess
import sys
import time

from jsonschema import Draft202012Validator

accrete, directory = sys.argv[1:]
with socket.socket() as s:
    # On Linux on a host of its own, where nobody else takes the port meanwhile.
    s.bind(("127.%d.%d.1" % (1 + secrets.randbelow(254), secrets.randbelow(256)) if sys.platform == "linux" else "127.0.0.1", 0))
    address = "%s:%d" % s.getsockname()


def run(*args):
    return subprocess.run([accrete, *args], check=True, capture_output=True, text=True, cwd=directory).stdout


random.seed(1)
rows = []
for i in range(600):
    a, b = random.gauss(0, 1), random.gauss(0, 1)
    rows.append({"id": f"p{i}", "a": a, "kind": random.choice("xyz"), "b": b, "class": "yes" if a * b > 0 else "no", "number": a + b, "other": a - b})
with open(f"{directory}/rows.jsonl", "w") as f:
    f.writelines(json.dumps(r) + "\n" for r in rows)

models = {
    "classes": ["input.label=class"],
    "number": ["input.label=number", "learner.intervals=0.9", "learner.variance=on"],
    "targets": ["input.label=number,other", "learner.intervals=0.9"],
    "quantiles": ["input.label=number", "learner.loss=quantile:0.1,0.5,0.9"],
    "novelty": ["learner.task=novelty", "input.label=class"],
}
broker = subprocess.Popen([accrete, "broker", "--listen", address, "--dir", f"{directory}/broker"], stderr=subprocess.DEVNULL)
try:
    for _ in range(900):
        try:
            socket.create_connection(tuple(address.split(":"))).close()
            break
        except OSError:
            time.sleep(0.1)
    for name, options in models.items():
        flags = []
        for option in [f"model={name}", f"kafka.bootstrap.servers={address}", "input.topics=rows", "output.fields=id", "http.listen=off", "learner.max_features=64", *options]:
            flags += ["--set", option]
        if name == "classes":
            run("feed", "rows.jsonl", *flags)
        run("learn", "--to-end", *flags)
        predictions = [json.loads(line)["value"] for line in run("tail", "--to-end", "--last", "1000", "--json", *flags).splitlines()]
        assert len(predictions) == len(rows), len(predictions)
        for more in [], ["--online"]:
            schema, of_input = (json.loads(run("contract", *kind, *more, *flags)) for kind in ([], ["--input"]))
            for s, values in (schema, predictions), (of_input, rows):
                Draft202012Validator.check_schema(s)
                validator = Draft202012Validator(s)
                for value in values:
                    validator.validate(value)
        document = json.loads(run("contract", "--asyncapi", "--json", *flags))
        assert document["components"]["messages"]["prediction"]["payload"]["schema"] == json.loads(run("contract", *flags))
        print(f"{name}: {len(predictions)} predictions and {len(rows)} records are valid")
finally:
    broker.kill()
    broker.wait()
