package pipeline

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// Records of three partitions by time are learned as those of one partition that has them in the
// order of their times, whatever the BATCHes, also by a learner that is stopped on the way. An
// early record behind a late one of its partition stays there. Verify finds the history.
func TestRecordsOfSeveralPartitionsAreLearnedByTime(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("bytime")
	one := in + ".sorted"
	const partitions, rows = 3, 600
	began := time.Now().UnixMilli()
	for topic, n := range map[string]int{in: partitions, one: 1} {
		if err := c.Create(t.Context(), topic, n, map[string]string{"retention.ms": "-1"}); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	values := learntest.Rings(rows)
	fill := func(from, to int) {
		by, clock := make([][]ingest.Record, partitions), make([]int64, partitions)
		var sorted []ingest.Record
		for i := from; i < to; i++ {
			p := r.IntN(partitions)
			at := began + int64(10*i)
			sorted = append(sorted, ingest.Record{Time: at, Value: []byte(values[i])})
			late := sorted[len(sorted)-1]
			if r.IntN(20) == 0 && clock[p] > 0 { // it follows what is before it in its partition
				late.Time = clock[p] - 1
				sorted[len(sorted)-1].Time = clock[p]
			}
			clock[p] = max(clock[p], late.Time)
			by[p] = append(by[p], late)
		}
		slices.SortStableFunc(sorted, func(a, b ingest.Record) int { return cmp.Compare(a.Time, b.Time) })
		for p, rs := range by {
			if err := c.Producer().Publish(t.Context(), in, p, rs); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Producer().Publish(t.Context(), one, 0, sorted); err != nil {
			t.Fatal(err)
		}
	}
	stopped, ev := learntest.Config(c, "stopped", in)
	stopped.Decode.ByTime = true
	fill(0, 250)
	learnAll(t, stopped)
	stopped.BatchSize = 37
	fill(250, rows)
	learnAll(t, stopped)
	whole, all := learntest.Config(c, "whole", in)
	whole.Decode.ByTime = true
	whole.BatchSize = 1000
	learnAll(t, whole)
	single, want := learntest.Config(c, "single", one)
	learnAll(t, single)
	for what, got := range map[string]*learntest.Events{"stopped": ev, "in one go": all} {
		if got, want := learntest.FinalHash(t, got), learntest.FinalHash(t, want); got != want {
			t.Errorf("%s: state hash %v, of one partition in the order of times: %v", what, got, want)
		}
	}
	if v, err := audit.Verify(t.Context(), stopped); err != nil || v.Divergent != 0 || v.Compared == 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}
