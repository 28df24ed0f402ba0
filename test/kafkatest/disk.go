package kafkatest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/internal/broker"
)

// Disk is an embedded broker that stores its topics in a directory and always
// restarts at the same address, so that a test can change its files while it is
// down.
type Disk struct {
	Addr string

	t      testing.TB
	dir    string
	broker *broker.Broker
}

// NewDisk starts a broker that runs until the test ends.
func NewDisk(t testing.TB) *Disk {
	t.Helper()
	d := &Disk{t: t, Addr: Address(t), dir: t.TempDir()}
	d.Start()
	t.Cleanup(d.Stop)
	return d
}

// Start starts the broker again.
func (d *Disk) Start() {
	d.t.Helper()
	b, err := broker.Start(broker.Config{Addr: d.Addr, Dir: d.dir})
	if err != nil {
		d.t.Fatal(err)
	}
	d.broker = b
}

// Stop stops the broker if it is running.
func (d *Disk) Stop() {
	if d.broker != nil {
		d.broker.Close()
		d.broker = nil
	}
}

// Down stops the broker, calls change, and starts the broker again.
func (d *Disk) Down(change func()) {
	d.t.Helper()
	d.Stop()
	change()
	d.Start()
}

// Change rewrites the record batches of a partition's newest segment. The
// broker must be down.
func (d *Disk) Change(topic string, partition int, change func(batches [][]byte) [][]byte) {
	d.t.Helper()
	dir := filepath.Join(d.dir, "data", "partitions", fmt.Sprintf("%s-%d", topic, partition))
	segments, err := filepath.Glob(filepath.Join(dir, "*.dat"))
	if err != nil || len(segments) != 1 {
		d.t.Fatalf("%s: %d segments, want 1, %v", dir, len(segments), err)
	}
	rewriteBatches(d.t, segments[0], change)
	os.Remove(filepath.Join(dir, "snapshot.json")) // the broker's metadata of the segment
}

// Cut removes the last n record batches from a partition. The broker must be
// down.
func (d *Disk) Cut(topic string, partition, n int) {
	d.t.Helper()
	d.Change(topic, partition, func(bs [][]byte) [][]byte { return cutTail(d.t, topic, bs, n) })
}

// Reseal changes one record batch and recomputes its checksum.
func Reseal(batches [][]byte, i int, change func([]byte)) [][]byte {
	b := slices.Clone(batches[i])
	change(b)
	binary.BigEndian.PutUint32(b[17:], crc32.Checksum(b[21:], crc32.MakeTable(crc32.Castagnoli)))
	batches[i] = b
	return batches
}
