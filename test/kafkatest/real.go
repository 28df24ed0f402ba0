package kafkatest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
)

// Fragile is a broker whose files a test can change while it is down. It is a
// Disk or a Real.
type Fragile interface {
	// Down stops the broker without warning, calls change, and starts the
	// broker again.
	Down(change func())

	// Change rewrites the record batches of a partition's only segment. The
	// broker must be down.
	Change(topic string, partition int, change func(batches [][]byte) [][]byte)

	// Cut removes the last n record batches from a partition. The broker must
	// be down.
	Cut(topic string, partition, n int)
}

// Real is the Apache Kafka that .ci/kafka.sh runs in KAFKA_DIR.
type Real struct {
	Addr string

	t      testing.TB
	script string
	dir    string
}

// script returns the path of .ci/kafka.sh, and skips the test where there is no
// Apache Kafka that may be killed.
func script(t testing.TB) string {
	t.Helper()
	path := os.Getenv("ACCRETE_TEST_KAFKA")
	if path == "" || os.Getenv("KAFKA_DIR") == "" {
		t.Skip("no Apache Kafka to kill: ACCRETE_TEST_KAFKA does not name .ci/kafka.sh, or KAFKA_DIR no directory")
	}
	return path
}

// NewReal starts the Apache Kafka if it does not run. It skips the test where
// there is none.
func NewReal(t testing.TB) *Real {
	t.Helper()
	r := &Real{t: t, script: script(t), dir: os.Getenv("KAFKA_DIR")}
	r.Addr = r.run("start")
	return r
}

// OnFragile runs a test on a Disk and, where ACCRETE_TEST_KAFKA names
// .ci/kafka.sh, on a Real, which all tests share: the test must not be parallel.
func OnFragile(t *testing.T, test func(t *testing.T, addr string, b Fragile)) {
	t.Run("embedded", func(t *testing.T) {
		d := NewDisk(t)
		test(t, d.Addr, d)
	})
	t.Run("kafka", func(t *testing.T) {
		r := NewReal(t)
		test(t, r.Addr, r)
	})
}

func (r *Real) run(command string, env ...string) string {
	r.t.Helper()
	cmd := exec.Command(r.script, command)
	cmd.Env, cmd.Stderr = append(append(os.Environ(), "KAFKA_DIR="+r.dir), env...), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("%s %s: %v", r.script, command, err)
	}
	return strings.TrimSpace(string(out))
}

// Down kills the broker, so that it recovers its logs when it starts. It returns when
// the broker leads all its partitions again.
func (r *Real) Down(change func()) {
	r.t.Helper()
	r.run("kill")
	change()
	r.run("start")
	c := ClientOf(r.t, r.Addr, nil)
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for topic := range r.topics() {
		for limit := time.Now().Add(time.Minute); ; <-poll.C {
			_, _, err := c.Offsets(r.t.Context(), topic)
			if err == nil || errors.Is(err, ingest.ErrUnknownTopic) {
				break
			}
			if time.Now().After(limit) {
				r.t.Fatalf("after the restart of the broker: %v", err)
			}
		}
	}
}

// topics returns the names of the topics that the broker has partitions of.
func (r *Real) topics() map[string]bool {
	r.t.Helper()
	dirs, err := filepath.Glob(filepath.Join(r.dir, "data", "*-*"))
	if err != nil {
		r.t.Fatal(err)
	}
	names := map[string]bool{}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		dash := strings.LastIndex(name, "-")
		if _, err := strconv.Atoi(name[dash+1:]); err == nil {
			names[name[:dash]] = true
		}
	}
	return names
}

// Change implements Fragile. The broker builds its indexes again when it
// recovers the partition.
func (r *Real) Change(topic string, partition int, change func(batches [][]byte) [][]byte) {
	r.t.Helper()
	dir := filepath.Join(r.dir, "data", fmt.Sprintf("%s-%d", topic, partition))
	segments, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(segments) != 1 {
		r.t.Fatalf("%s: %d segments, want 1, %v", dir, len(segments), err)
	}
	rewriteBatches(r.t, segments[0], change)
	for _, what := range []string{"*.index", "*.timeindex", "*.snapshot"} {
		found, _ := filepath.Glob(filepath.Join(dir, what))
		for _, f := range found {
			os.Remove(f)
		}
	}
}

// Cut implements Fragile.
func (r *Real) Cut(topic string, partition, n int) {
	r.t.Helper()
	r.Change(topic, partition, func(bs [][]byte) [][]byte { return cutTail(r.t, topic, bs, n) })
}

// cutTail returns the record batches without the last n.
func cutTail(t testing.TB, topic string, bs [][]byte, n int) [][]byte {
	t.Helper()
	if n > len(bs) {
		t.Fatalf("%s has %d batches, of which %d were to be cut", topic, len(bs), n)
	}
	return bs[:len(bs)-n]
}

// rewriteBatches changes the record batches of a segment, which both brokers
// store as they are on the wire. Incomplete batches at the end are dropped.
func rewriteBatches(t testing.TB, segment string, change func(batches [][]byte) [][]byte) {
	t.Helper()
	raw, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	var batches [][]byte
	for len(raw) >= 12 {
		n := 12 + int(binary.BigEndian.Uint32(raw[8:]))
		if n > len(raw) {
			break
		}
		batches, raw = append(batches, raw[:n:n]), raw[n:]
	}
	if err := os.WriteFile(segment, slices.Concat(change(batches)...), 0o600); err != nil {
		t.Fatal(err)
	}
}
