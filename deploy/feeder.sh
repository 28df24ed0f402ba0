#!/bin/bash
# Examples for docker-compose.yml: 1000 a second without end, of two classes that
# no line divides, with an abrupt change of concept every 50 000, two inputs that
# say nothing, and one label in twenty wrong. The error of the best possible model
# is 0.05.
#
#   deploy/feeder.sh                 to standard output
#   deploy/feeder.sh BROKERS TOPIC   to a topic, with the tools of the Kafka image
set -euo pipefail

examples() {
  awk -v seed="${SEED:-1}" '
    function u() { return 2 * rand() - 1 }
    BEGIN {
      srand(seed)
      for (n = 0; ; n++) {
        if (n % 50000 == 0) { p = 3 * u(); q = 3 * u(); r = 3 * u() }
        a = u(); b = u(); c = u()
        inside = sin(p + 4 * a) * cos(q + 3 * b) + r * a * c > 0
        if (rand() < 0.05) inside = !inside
        printf "{\"features\":{\"a\":%.5f,\"b\":%.5f,\"c\":%.5f,\"d\":%.5f,\"e\":%.5f},\"label\":\"%s\"}\n", a, b, c, u(), u(), inside ? "inside" : "outside"
        if (n % 1000 == 999) { fflush(); system("sleep 1") }
      }
    }'
}

[ $# -gt 0 ] || { examples; exit; }
/opt/kafka/bin/kafka-topics.sh --bootstrap-server "$1" --create --if-not-exists --topic "$2" --partitions 1
examples | /opt/kafka/bin/kafka-console-producer.sh --bootstrap-server "$1" --topic "$2"
