"""Produces the same rows with the serializers of confluent-kafka as Avro, Protocol Buffers and
JSON Schema, has a model learn each of them, and checks that their predictions are the same;
then reads predictions that accrete writes as Avro with the deserializer.

    producers.py ACCRETE REGISTRY DIRECTORY
"""
import json, math, random, secrets, socket, subprocess, sys, time

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

accrete, registry_program, directory = sys.argv[1:]
COLUMNS = ["x0", "x1", "x2"]
random.seed(3)
rows = []
for i in range(1500):
    x = [random.gauss(0, 1) for _ in COLUMNS]
    rows.append({**dict(zip(COLUMNS, x)), "y": "far" if math.hypot(*x) > 1.5 else "near"})

avro = json.dumps({"type": "record", "name": "Row", "fields": [{"name": c, "type": "double"} for c in COLUMNS] + [{"name": "y", "type": "string"}]})
schema = json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "title": "Row", "type": "object",
                     "properties": {**{c: {"type": "number"} for c in COLUMNS}, "y": {"type": "string"}}})


def message_class():
    file = descriptor_pb2.FileDescriptorProto(name="row.proto", syntax="proto3")
    m = file.message_type.add(name="Row")
    for i, name in enumerate(COLUMNS + ["y"]):
        kind = descriptor_pb2.FieldDescriptorProto.TYPE_STRING if name == "y" else descriptor_pb2.FieldDescriptorProto.TYPE_DOUBLE
        m.field.add(name=name, number=i + 1, type=kind, label=descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("Row"))


def run(*args):
    p = subprocess.run([accrete, *args], capture_output=True, text=True, cwd=directory, timeout=300)
    assert p.returncode == 0, (args, p.stdout[-500:], p.stderr[-2000:])
    return p.stdout


with socket.socket() as s:
    # On Linux on a host of its own, where nobody else takes the port meanwhile.
    s.bind(("127.%d.%d.1" % (1 + secrets.randbelow(254), secrets.randbelow(256)) if sys.platform == "linux" else "127.0.0.1", 0))
    address = "%s:%d" % s.getsockname()
broker = subprocess.Popen([accrete, "broker", "--listen", address, "--memory"], stdout=subprocess.DEVNULL)
registry = subprocess.Popen([registry_program], stdout=subprocess.PIPE, text=True)
try:
    url = registry.stdout.readline().strip()
    client = SchemaRegistryClient({"url": url})
    Row = message_class()
    for _ in range(900):
        try:
            socket.create_connection(tuple(address.split(":"))).close()
            break
        except OSError:
            time.sleep(0.1)
    serializers = {
        "avro": AvroSerializer(client, avro),
        "protobuf": lambda row, at, to=ProtobufSerializer(Row, client, {"use.deprecated.format": False}): to(Row(**row), at),
        "json-schema": JSONSerializer(schema, client),
    }
    admin = AdminClient({"bootstrap.servers": address, "enable.metrics.push": False})
    for made in admin.create_topics([NewTopic(f, 1, config={"retention.ms": "-1"}) for f in serializers]).values():
        made.result(300)

    def delivered(error, _):
        assert error is None, error

    producer = Producer({"bootstrap.servers": address, "compression.type": "gzip", "enable.idempotence": True, "enable.metrics.push": False})
    predictions = {}
    for format, serialize in serializers.items():
        for i, row in enumerate(rows):
            producer.produce(format, serialize(row, SerializationContext(format, MessageField.VALUE)), partition=0, on_delivery=delivered)
            producer.poll(0)
        assert producer.flush(300) == 0
        flags = []
        for option in [f"model=of-{format}", f"kafka.bootstrap.servers={address}", f"input.topics={format}", f"input.format={format}", "input.label=y",
                       f"input.registry.url={url}", "http.listen=off", "learner.max_features=64", f"output.format={'avro' if format == 'avro' else 'json'}",
                       f"output.registry.url={url}"]:
            flags += ["--set", option]
        report = json.loads(run("learn", "--to-end", "--json", *flags).splitlines()[-1])
        assert report["examples"] == len(rows) and not report.get("quarantined"), report
        got = [json.loads(line)["value"] for line in run("tail", "--to-end", "--last", "5000", "--json", *flags).splitlines()]
        predictions[format] = [(p["prediction"], p.get("probabilities"), p.get("loss")) for p in got]
        assert len(got) == len(rows), len(got)
        print(f"{format}: {len(got)} predictions, progressive error {report['progressive']:.4f}")
    assert predictions["avro"] == predictions["protobuf"] == predictions["json-schema"], "the formats lead to different predictions"
    consumer = Consumer({"bootstrap.servers": address, "group.id": "g", "auto.offset.reset": "earliest", "enable.metrics.push": False})
    consumer.subscribe(["of-avro.predictions"])
    read, values = AvroDeserializer(client), []
    while len(values) < len(rows):
        m = consumer.poll(300)
        assert m is not None and m.error() is None, m and m.error()
        values.append(read(m.value(), SerializationContext(m.topic(), MessageField.VALUE)))
    consumer.close()
    same = sum(v["prediction"] == p[0] or str(v["prediction"]) == str(p[0]) for v, p in zip(values, predictions["avro"]))
    print(f"{len(values)} predictions as Avro, read by confluent-kafka: {values[-1]}")
    assert same == len(rows), same
finally:
    for process in broker, registry:
        process.kill()
        process.wait()
