package pipeline

import (
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/memory"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// A learner of 50 partitions, each with 8 MiB of records compressed to one batch of a
// few KiB, keeps to the formula, which says less than 256 MiB, and uses most of what it
// says. The same holds for a successor that replays everything. It takes 3 s.
func TestManyCompressedPartitionsKeepToTheFormula(t *testing.T) {
	if testing.Short() {
		t.Skip("it decompresses 800 MiB")
	}
	const partitions, most = 50, 256 << 20
	addr, in := kafkatest.Addr(t), kafkatest.Name("rings")
	c := kafkatest.ClientOf(t, addr, nil)
	z := kafkatest.ClientOf(t, addr, func(c *ingest.Config) { c.Compression, c.MaxBatchBytes = ingest.Zstd, 16<<20 })
	var values []string
	padding := strings.Repeat(" ", 1<<18)
	for _, v := range learntest.Rings(32 * partitions) {
		values = append(values, v[:len(v)-1]+padding+"}")
	}
	kafkatest.Fill(t, z, in, partitions, values)
	values = nil
	// What is in use at a peak depends on when garbage is collected. So the most of a few
	// learners counts for how much of the formula is used.
	var cfg model.Config
	var limit, largest int64
	for i := 0; i < 5 && largest <= limit*2/3; i++ {
		var ev *learntest.Events
		var used int64
		cfg, ev = learntest.Config(c, fmt.Sprintf("m%d", i), in)
		cfg.Learner = learntest.Newton
		used, limit = peak(t, func(set func(int64)) {
			cfg.Report = func(e event.Event) {
				if m, ok := e.(event.Memory); ok {
					set(m.Limit) // as the program does
				}
				ev.Add(e)
			}
			learnAll(t, cfg)
		})
		if n := learned(ev); n != 32*partitions-32*partitions/50 {
			t.Errorf("learned %d examples", n)
		}
		t.Logf("learning: %d MiB, %d MiB by the formula", used>>20, limit>>20)
		if largest = max(largest, used); used > limit || limit > most {
			t.Errorf("learning takes %d MiB, %d MiB by the formula: want less than that, and %d MiB at most", used>>20, limit>>20, most>>20)
		}
	}
	if largest <= limit*2/3 {
		t.Errorf("no learner takes more than %d MiB, %d MiB by the formula: want at least 2/3", largest>>20, limit>>20)
	}
	used, _ := peak(t, func(set func(int64)) {
		set(limit)
		proved(t, cfg, 0)
	})
	t.Logf("verifying: %d MiB", used>>20)
	if used > limit {
		t.Errorf("verifying takes %d MiB, %d MiB by the formula of the learner", used>>20, limit>>20)
	}
}

// A learner states its limit before it reads anything, and counts a snapshot before it reads
// that, and a BATCH before it learns that: the garbage of a start is collected in time.
func TestTheLimitIsKnownBeforeAnythingIsRead(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	values := learntest.Rings(1200)
	kafkatest.Fill(t, c, in, 1, values[:600])
	cfg, ev := learntest.Config(c, "m", in)
	learnAll(t, cfg)
	kafkatest.Fill(t, c, in, 1, values[600:])
	first := ev.All()
	ev.Reset()
	learnAll(t, cfg)
	var limit, atStart int64
	for _, e := range first {
		if m, ok := e.(event.Memory); ok {
			atStart = m.Limit
			break
		}
	}
	if atStart < memory.Base+2*memory.Read {
		t.Errorf("a new learner begins with a limit of %d bytes", atStart)
	}
	seen := 0
	for _, e := range ev.All() {
		switch e := e.(type) {
		case event.Memory:
			limit = e.Limit
		case event.Claimed:
			if seen++; limit < atStart {
				t.Errorf("claimed with a limit of %d bytes, want at least %d, as in the beginning", limit, atStart)
			}
		case event.Restored:
			if want := atStart + 10*int64(e.Bytes); limit < want {
				t.Errorf("restored %d bytes with a limit of %d, want at least %d", e.Bytes, limit, want)
			}
			seen++
		}
	}
	if seen != 2 {
		t.Error("the learner has not restored a snapshot")
	}
}

// The limit of an existing model is that of the options that it keeps, whatever a new one would
// get.
func TestTheLimitIsThatOfTheModelInTheLog(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(600))
	cfg, ev := learntest.Config(c, "m", in)
	cfg.Learner.Algorithm = "newton"
	learnAll(t, cfg)
	limit := func(c model.Config) (last int64) {
		t.Helper()
		ev.Reset()
		learnAll(t, c)
		for _, e := range ev.All() {
			if m, ok := e.(event.Memory); ok {
				last = m.Limit
			}
		}
		return last
	}
	auto := cfg
	auto.Learner.Forest, auto.Learner.ForestTrial, auto.Learner.ForestPairs, auto.Learner.ForestRegrow, auto.Learner.ForestLasting, auto.AutoForest = 100, true, true, true, true, true
	if got, want := limit(auto), limit(cfg); got != want {
		t.Errorf("a model without trees has a limit of %d bytes, want %d", got, want)
	}
}

// peak returns the most memory that f takes, as Go's memory limit counts it, with that
// limit set to what f sets. Both count from what was in use before, of which the program
// has as much as the formula says for it.
func peak(t *testing.T, f func(set func(int64))) (most, limit int64) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // that of the program
	debug.FreeOSMemory()
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	read := func() int64 {
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64() - sample[1].Value.Uint64())
	}
	before := read()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				most = max(most, read()-before)
			}
		}
	}()
	var to atomic.Int64
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	f(func(bytes int64) {
		to.Store(bytes)
		debug.SetMemoryLimit(before + bytes)
	})
	close(stop)
	<-done
	return most, to.Load()
}

// A second model, which learns columns that are adopted, has features, factors and windows of its
// own in the limit.
func TestTheLimitHasRoomForASecondModel(t *testing.T) {
	cfg := model.Config{Learner: learner.Config{Mixture: true, Warmup: learner.NewestWarmup}, Report: func(event.Event) {}}
	one, err := newBound(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Decode.Adopt = true
	two, err := newBound(cfg)
	if err != nil {
		t.Fatal(err)
	}
	empty := new(memory.Estimate).Limit()
	for _, b := range []*bound{one, two} {
		b.Encodes(50, 0)
	}
	if got, want := two.Limit()-empty, 2*(one.Limit()-empty); got != want {
		t.Errorf("with a second model the limit grows by %d bytes, want %d", got, want)
	}
}
