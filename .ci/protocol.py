"""A client of the Open Inference Protocol that others wrote talks to a running demo.

usage: protocol.py BINARY
"""

import json
import secrets
import socket
import subprocess
import sys
import time
import urllib.request

import numpy
import tritonclient.http as protocol


def free_address():
    with socket.socket() as s:
        # On Linux on a host of its own, where nobody else takes the port meanwhile.
        s.bind(("127.%d.%d.1" % (1 + secrets.randbelow(254), secrets.randbelow(256)) if sys.platform == "linux" else "127.0.0.1", 0))
        return "%s:%d" % s.getsockname()


def check(condition, text):
    if not condition:
        sys.exit(f"protocol.py: {text}")


def until(condition, text, seconds=180):
    end = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except OSError:  # not listening yet
            pass
        check(time.monotonic() < end, f"waited too long until {text}")
        time.sleep(0.1)


def one_tensor(rows, names, binary):
    tensor = protocol.InferInput("rows", list(rows.shape), "FP64")
    tensor.set_data_from_numpy(rows, binary_data=binary)
    return [tensor]


def columns(rows, names, binary):
    inputs = []
    for j, name in enumerate(names):
        column = protocol.InferInput(name, [len(rows)], "FP64")
        column.set_data_from_numpy(numpy.ascontiguousarray(rows[:, j]), binary_data=binary)
        inputs.append(column)
    return inputs


def run(address):
    client = protocol.InferenceServerClient(address)
    until(client.is_server_live, "the server is live")
    until(client.is_server_ready, "the server is ready")
    until(lambda: client.is_model_ready("demo"), "the model is ready")
    server = client.get_server_metadata()
    check("binary_tensor_data" in server["extensions"], f"server metadata {server}")
    model = client.get_model_metadata("demo")
    check(len(model["inputs"]) == 10 and model["versions"], f"model metadata {model}")
    version = model["versions"][0]
    check(client.is_model_ready("demo", version), f"version {version} is not ready")
    check(not client.is_model_ready("other"), "another model is ready")

    names = [tensor["name"] for tensor in model["inputs"]]
    rows = numpy.random.default_rng(1).standard_normal((50, 10))
    wanted = None
    for inputs in one_tensor, columns:
        for binary_in in True, False:
            for binary_out in True, False:
                outputs = [protocol.InferRequestedOutput(name, binary_data=binary_out) for name in ("prediction", "probabilities", "classes")]
                answer = client.infer("demo", inputs(rows, names, binary_in), version, outputs, request_id="7")
                head = answer.get_response()
                check(head["id"] == "7" and head["model_name"] == "demo" and head["model_version"] == version, f"answer {head}")
                probabilities = answer.as_numpy("probabilities")
                classes = [c.decode() if isinstance(c, bytes) else c for c in answer.as_numpy("prediction")]
                check(probabilities.shape == (50, 2) and set(classes) <= {"a", "b"}, f"answer {classes} {probabilities}")
                named = [c.decode() if isinstance(c, bytes) else c for c in answer.as_numpy("classes")]
                check(classes == [named[i] for i in probabilities.argmax(axis=1)], f"classes {named}, answer {classes} {probabilities}")
                if wanted is None:
                    wanted = (classes, probabilities)
                check(classes == wanted[0] and (probabilities == wanted[1]).all(), f"{inputs.__name__}, binary {binary_in}, {binary_out}: other predictions")
    try:
        client.infer("demo", one_tensor(rows[:, :3].copy(), names, True))
        check(False, "three columns of ten were accepted")
    except protocol.InferenceServerException as error:
        check("want [rows, 10]" in error.message(), f"error {error.message()}")
    objects = json.dumps([{"features": dict(zip(names, row.tolist()))} for row in rows]).encode()
    request = urllib.request.Request(f"http://{address}/predict", objects)
    with urllib.request.urlopen(request) as answer:
        check(len(json.load(answer)) == 50, "/predict answers otherwise")
    client.close()


address = free_address()
demo = subprocess.Popen([sys.argv[1], "demo", "--for", "10m", "--json", "--http", address], stdout=subprocess.DEVNULL)
try:
    run(address)
finally:
    demo.terminate()
    demo.wait()
print("8 spellings of a request have the same predictions")
