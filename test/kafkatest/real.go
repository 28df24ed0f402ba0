package kafkatest

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Fragile is a broker whose files a test can change while it is down. It is a
// Disk or a Real.
type Fragile interface {
	// Down stops the broker without warning, calls change, and starts the
	// broker again.
	Down(change func())

	// Cut removes the last n record batches from a partition. The broker must
	// be down.
	Cut(topic string, partition, n int)
}

// Real is the Apache Kafka that .ci/kafka.sh runs in KAFKA_DIR.
type Real struct {
	Addr string

	t      testing.TB
	script string
}

// OnFragile runs a test on a Disk and, where ACCRETE_TEST_KAFKA names
// .ci/kafka.sh, on a Real.
func OnFragile(t *testing.T, test func(t *testing.T, addr string, b Fragile)) {
	t.Run("embedded", func(t *testing.T) {
		d := NewDisk(t)
		test(t, d.Addr, d)
	})
	script := os.Getenv("ACCRETE_TEST_KAFKA")
	if script == "" {
		return
	}
	t.Run("kafka", func(t *testing.T) {
		r := &Real{t: t, script: script}
		r.Addr = r.run("start")
		test(t, r.Addr, r)
	})
}

func (r *Real) run(command string) string {
	r.t.Helper()
	out, err := exec.Command(r.script, command).Output()
	if err != nil {
		r.t.Fatalf("%s %s: %v", r.script, command, err)
	}
	return strings.TrimSpace(string(out))
}

// Down kills the broker, so that it recovers its logs when it starts.
func (r *Real) Down(change func()) {
	r.t.Helper()
	r.run("kill")
	change()
	r.run("start")
}

// Cut implements Fragile.
func (r *Real) Cut(topic string, partition, n int) {
	r.t.Helper()
	dir := filepath.Join(os.Getenv("KAFKA_DIR"), "data", fmt.Sprintf("%s-%d", topic, partition))
	segments, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(segments) != 1 {
		r.t.Fatalf("%s: %d segments, want 1, %v", dir, len(segments), err)
	}
	raw, err := os.ReadFile(segments[0])
	if err != nil {
		r.t.Fatal(err)
	}
	var ends []int
	for at := 0; at+12 <= len(raw); {
		at += 12 + int(binary.BigEndian.Uint32(raw[at+8:]))
		ends = append(ends, at)
	}
	if n >= len(ends) {
		r.t.Fatalf("%s has %d batches, of which %d were to be cut", topic, len(ends), n)
	}
	if err := os.Truncate(segments[0], int64(ends[len(ends)-1-n])); err != nil {
		r.t.Fatal(err)
	}
	for _, what := range []string{"*.index", "*.timeindex", "*.snapshot"} {
		found, _ := filepath.Glob(filepath.Join(dir, what))
		for _, f := range found {
			os.Remove(f)
		}
	}
}
