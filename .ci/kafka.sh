#!/usr/bin/env bash
# A real Apache Kafka for the tests: one KRaft node from the jars in Maven
# Central, without a container.
#
#   .ci/kafka.sh fetch      copy the jars (43 MB, once) into the cache
#   .ci/kafka.sh start      fetch if need be, format, start, print host:port once it serves
#   .ci/kafka.sh stop       SIGTERM and wait;   kill: SIGKILL and wait
#   .ci/kafka.sh restart    stop, start, same ports and data
#   .ci/kafka.sh status | addr | sasl | tls | log
#   .ci/kafka.sh clean      kill, and delete the data
#
# Listeners on the loopback: PLAINTEXT (addr); SASL_PLAINTEXT (sasl) with PLAIN,
# SCRAM-SHA-256 and SCRAM-SHA-512, user u, password pw, and OAUTHBEARER with unsigned
# tokens, where sessions of SCRAM-SHA-256 end after a second; and SSL (tls, printed with
# the directory of ca.pem and client.pem), which requires a certificate of the client,
# if openssl is installed. Topics are never created automatically, and retain all
# records whatever their timestamps; those with a retention.ms of their own are
# checked every 2 s. An unauthenticated client is a super user and may set ACLs; u
# may do everything that no ACL forbids.
#
# Environment: KAFKA_VERSION; KAFKA_DIR, where data, log, ports and pid are (a
# directory of this script's own); KAFKA_HEAP. KAFKA_NODE=2 (3, ...) means another
# broker, in KAFKA_DIR/node2, that joins the one of KAFKA_DIR, which has to run and
# stays the only controller.
# Exit codes: 0; 1 the broker failed; 2 wrong use; 69 the jars or a Java 17
# cannot be had, so that a caller may skip and go on.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/accrete-ci
version=${KAFKA_VERSION:-4.3.1}
lib=$cache/kafka-$version
first=${KAFKA_DIR:-$cache/kafka-run}
node=${KAFKA_NODE:-1}
dir=$first
[ "$node" = 1 ] || dir=$first/node$node
props=$dir/server.properties
log=$dir/kafka.log
cluster=MkU3OEVBNTcwNTJENDM2Qk

die() { local code=$1; shift; echo "kafka.sh: $*" >&2; exit "$code"; }

# lib appears by a rename once it is whole, so that its existence is enough.
fetch() {
  [ -d "$lib" ] && return 0
  command -v mvn >/dev/null || die 69 "NO REAL KAFKA: there is no mvn to fetch it with"
  mkdir -p "$cache"
  local tmp
  tmp=$(mktemp -d "$cache/fetch.XXXXXX")
  if ! timeout 300 mvn -q -B -f "$here/kafka-pom.xml" -Dkafka.version="$version" \
      dependency:copy-dependencies -DoutputDirectory="$tmp/lib" -DincludeScope=runtime </dev/null >"$tmp/log" 2>&1; then
    tail -5 "$tmp/log" >&2
    rm -rf "$tmp"
    die 69 "NO REAL KAFKA: Maven could not get kafka_2.13 $version"
  fi
  if [ ! -e "$tmp/lib/kafka_2.13-$version.jar" ]; then
    rm -rf "$tmp"
    die 69 "NO REAL KAFKA: Maven got no kafka_2.13-$version.jar"
  fi
  mv -T "$tmp/lib" "$lib" 2>/dev/null || [ -d "$lib" ] # another run may have been first
  rm -rf "$tmp"
}

java_at_least_17() {
  local v
  v=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -1)
  [ "${v:-0}" -ge 17 ]
}

# pid prints the broker's process id if the process is there and is this
# directory's broker, and not a later process with the same number.
pid() {
  local p
  p=$(cat "$dir/pid" 2>/dev/null) && [ -n "$p" ] || return 1
  tr '\0' '\n' <"/proc/$p/cmdline" 2>/dev/null | grep -qxF "$props" || return 1
  echo "$p"
}

port() { sed -n "s/^$1 //p" "$dir/ports" 2>/dev/null; }

listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Below the range from which the kernel takes the ports of outgoing connections. Those of
# the 2,500 brokers before are not taken again: they may just be down.
free_ports() {
  local name p
  mkdir -p "$cache"
  (
    flock 9
    p=$(cat "$cache/port" 2>/dev/null || true)
    [[ $p =~ ^2[0-9]{4}$ ]] || p=$((20000 + RANDOM % 10000))
    for name in plain sasl controller tls; do
      while p=$((20000 + (p - 20000 + 1) % 10000)); listening "$p"; do :; done
      echo "$name $p"
    done
    echo "$p" >"$cache/port"
  ) 9>"$cache/port.lock"
}

# certificates makes an authority, and certificates of it for the broker and a client.
certificates() {
  command -v openssl >/dev/null || return 1
  [ ! -e "$dir/tls/client.pem" ] || return 0
  (
    mkdir -p "$dir/tls" && cd "$dir/tls"
    openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=authority -keyout ca.key -out ca.pem
    local who
    for who in server client; do
      openssl req -newkey rsa:2048 -nodes -subj "/CN=$who" -keyout "$who.key" -out "$who.csr"
      printf 'subjectAltName=IP:127.0.0.1,DNS:localhost\n' >san
      openssl x509 -req -in "$who.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile san -out "$who.crt"
      cat "$who.key" "$who.crt" >"$who.pem.new"
      mv "$who.pem.new" "$who.pem"
    done
  ) >"$dir/openssl.log" 2>&1 || { cat "$dir/openssl.log" >&2; die 1 "openssl could not make certificates"; }
}

configure() {
  [ -e "$dir/ports" ] || free_ports >"$dir/ports"
  local plain sasl controller module=org.apache.kafka.common.security
  plain=$(port plain) sasl=$(port sasl) controller=$(sed -n 's/^controller //p' "$first/ports")
  local roles=broker listeners=PLAINTEXT://127.0.0.1:$plain,SASL://127.0.0.1:$sasl
  if certificates; then listeners=$listeners,TLS://127.0.0.1:$(port tls); fi
  local advertised=$listeners
  if [ "$node" = 1 ]; then
    roles=broker,controller listeners=$listeners,CONTROLLER://127.0.0.1:$controller
  fi
  cat >"$props" <<P
process.roles=$roles
node.id=$node
controller.quorum.voters=1@127.0.0.1:$controller
controller.listener.names=CONTROLLER
listeners=$listeners
advertised.listeners=$advertised
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SSL
listener.name.tls.ssl.client.auth=required
listener.name.tls.ssl.keystore.type=PEM
listener.name.tls.ssl.keystore.location=$dir/tls/server.pem
listener.name.tls.ssl.truststore.type=PEM
listener.name.tls.ssl.truststore.location=$dir/tls/ca.pem
inter.broker.listener.name=PLAINTEXT
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER
listener.name.sasl.oauthbearer.sasl.jaas.config=$module.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="u";
listener.name.sasl.scram-sha-256.connections.max.reauth.ms=1000
listener.name.sasl.plain.sasl.jaas.config=$module.plain.PlainLoginModule required user_u="pw";
listener.name.sasl.scram-sha-256.sasl.jaas.config=$module.scram.ScramLoginModule required;
listener.name.sasl.scram-sha-512.sasl.jaas.config=$module.scram.ScramLoginModule required;
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
super.users=User:ANONYMOUS
log.dirs=$dir/data
auto.create.topics.enable=false
num.partitions=1
default.replication.factor=1
min.insync.replicas=1
replica.lag.time.max.ms=2000
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
num.network.threads=2
num.io.threads=4
log.cleaner.dedupe.buffer.size=4194304
log.cleaner.backoff.ms=1000
log.retention.ms=-1
log.retention.check.interval.ms=2000
log.segment.delete.delay.ms=1000
message.max.bytes=8388608
P
  cat >"$dir/log4j2.properties" <<P
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
logger.server.name = kafka.server.KafkaRaftServer
logger.server.level = info
P
}

start() {
  if pid >/dev/null; then addr; return 0; fi
  fetch
  java_at_least_17 || die 69 "NO REAL KAFKA: it needs Java 17 or newer"
  mkdir -p "$dir"
  configure
  local logging=-Dlog4j2.configurationFile=file:$dir/log4j2.properties
  local small=(-XX:+UseSerialGC -XX:TieredStopAtLevel=1)
  if [ ! -e "$dir/data/meta.properties" ]; then
    java "${small[@]}" -Xmx128m "$logging" -cp "$lib/*" kafka.tools.StorageTool format -t "$cluster" -c "$props" \
      --add-scram 'SCRAM-SHA-256=[name=u,password=pw]' --add-scram 'SCRAM-SHA-512=[name=u,password=pw]' >"$dir/format.log" 2>&1 ||
      { cat "$dir/format.log" >&2; die 1 "the data directory could not be formatted"; }
  fi
  [ -e "$log" ] && cat "$log" >>"$log.old"
  : >"$log" # otherwise a line of the previous start would be taken for one of this start
  setsid java "${small[@]}" -Xms64m -Xmx"${KAFKA_HEAP:-384m}" "$logging" -cp "$lib/*" kafka.Kafka "$props" </dev/null >"$log" 2>&1 &
  local p=$! waited=0
  echo "$p" >"$dir/pid"
  # The broker logs this once it is registered, unfenced and listening. That its port
  # accepts connections would not be enough.
  until grep -q 'Kafka Server started' "$log"; do
    kill -0 "$p" 2>/dev/null || { tail -30 "$log" >&2; die 1 "the broker died"; }
    [ $((waited += 1)) -lt 1800 ] || { tail -30 "$log" >&2; quit KILL; die 1 "the broker did not start within 180 s"; }
    sleep 0.1
  done
  addr
}

# quit signals the broker, waits until it is gone, and after 30 s kills it.
quit() {
  local p waited=0
  if p=$(pid); then
    kill -"$1" "$p" 2>/dev/null || true
    while pid >/dev/null; do
      [ $((waited += 1)) -ne 300 ] || kill -KILL "$p" 2>/dev/null || true
      sleep 0.1
    done
  fi
  rm -f "$dir/pid"
}

clean() {
  local other
  for other in "$dir"/node*/; do
    [ ! -d "$other" ] || KAFKA_NODE=$(basename "$other" | tr -d a-z) "$here/kafka.sh" clean
  done
  quit KILL
  rm -rf "$dir/data" "$dir/tls" "$dir/openssl.log" "$dir/ports" "$props" "$dir/log4j2.properties" "$dir/format.log" "$log" "$log.old"
  rmdir "$dir" 2>/dev/null || true
}

addr() { echo "127.0.0.1:$(port plain)"; }

case ${1:-} in
  fetch) fetch ;;
  start) start ;;
  stop) quit TERM ;;
  kill) quit KILL ;;
  restart) quit TERM; start ;;
  status) if pid >/dev/null; then echo up; else echo down; exit 1; fi ;;
  addr) addr ;;
  sasl) echo "127.0.0.1:$(port sasl)" ;;
  tls) [ ! -e "$dir/tls/client.pem" ] || echo "127.0.0.1:$(port tls) $dir/tls" ;;
  log) cat "$log" ;;
  clean) clean ;;
  *) die 2 "usage: $0 fetch|start|stop|kill|restart|status|addr|sasl|tls|log|clean" ;;
esac
