package pipeline

import (
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A process with a memory limit of 256 MiB learns 50 partitions, each with 8 MiB of
// records compressed to one batch of a few KiB. It takes 3 s.
func TestManyCompressedPartitionsFitIntoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it decompresses 400 MiB")
	}
	const partitions, limit = 50, 256 << 20
	addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, addr, nil)
	z := kafkatest.ClientOf(t, addr, func(c *ingest.Config) { c.Compression, c.MaxBatchBytes = ingest.Zstd, 16<<20 })
	var values []string
	padding := strings.Repeat(" ", 1<<18)
	for _, v := range rings(32 * partitions) {
		values = append(values, v[:len(v)-1]+padding+"}")
	}
	kafkatest.Fill(t, z, in, partitions, values)
	values = nil
	cfg, ev := config(c, "m", in)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	debug.FreeOSMemory()
	most, stop := uint64(0), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for t := time.NewTicker(time.Millisecond); ; {
			select {
			case <-stop:
				t.Stop()
				return
			case <-t.C:
				metrics.Read(sample)
				most = max(most, sample[0].Value.Uint64())
			}
		}
	}()
	learnAll(t, cfg)
	close(stop)
	<-done
	if n := learned(ev); n != int64(32*partitions-32*partitions/50) {
		t.Errorf("learned %d examples", n)
	}
	m, _ := last[event.Memory](ev)
	t.Logf("%d MiB at most, of a limit by the formula of %d MiB", most>>20, m.Limit>>20)
	if most > limit {
		t.Errorf("%d MiB of objects at one time, want at most %d", most>>20, limit>>20)
	}
}
