package input

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// The records of all inputs are taken by their times, of one input in their order, in BATCHes
// of any size; and not beyond an input that has more than has arrived.
func TestAlignedRecordsAreTakenByTheirTimes(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		ins := Partitions{{Topic: "a"}, {Topic: "a", Partition: 1}, {Topic: "b"}}
		s := NewSource(nil, ins, nil, false, ingest.NewBudget(1<<30), func(event.Event) {})
		s.Align(func(_ string, r *ingest.Record) int64 { return r.Time })
		var want []string
		for i := range ins {
			f := &s.feeds[i]
			at, n := rng.Int64N(50), int64(rng.IntN(40))
			for o := range n {
				at += rng.Int64N(9)
				f.fetch.Records = append(f.fetch.Records, ingest.Record{Offset: o, Time: at})
				want = append(want, fmt.Sprintf("%06d %d %06d", at, i, o))
			}
			f.fetch.Next, f.fetch.End, f.idle = n, n, n == 0
		}
		slices.Sort(want)
		s.open = len(ins)
		took := 0
		for took < len(want) {
			spans, _, err := s.Take(t.Context(), 1+rng.IntN(7), time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, sp := range spans {
				for _, r := range sp.Records {
					got = append(got, fmt.Sprintf("%06d %d %06d", r.Time, slices.Index(ins, sp.In), r.Offset))
				}
			}
			slices.Sort(got)
			if n := len(got); n == 0 || took+n > len(want) || !slices.Equal(got, want[took:took+n]) {
				t.Fatalf("seed %d: took %v after %d of %v", seed, got, took, want)
			}
			took += len(got)
		}
	}
}

func TestAlignedRecordsWaitForThoseOfAnInputThatHasMore(t *testing.T) {
	ins := Partitions{{Topic: "a"}, {Topic: "b"}}
	s := NewSource(nil, ins, nil, false, ingest.NewBudget(1<<30), func(event.Event) {})
	s.Align(func(_ string, r *ingest.Record) int64 { return r.Time })
	rs := []ingest.Record{{Offset: 0, Time: 1}, {Offset: 1, Time: 9}}
	s.feeds[0].fetch = ingest.Fetched{Records: rs, Next: 2, End: 2}
	s.left = batchBytes
	took := make([]Span, 2)
	if n := s.collect(took, 10); n != 0 {
		t.Errorf("%d records were taken before the other input has answered", n)
	}
	s.accept(arrival{feed: 1, Fetched: ingest.Fetched{Records: []ingest.Record{{Offset: 0, Time: 5}}, Next: 1, End: 7}})
	if n := s.collect(took, 10); n != 2 || took[0].To != 1 || took[1].To != 1 {
		t.Errorf("%d records, %+v, want those of the times 1 and 5", n, took)
	}
	s.accept(arrival{feed: 1, idle: true})
	if n := s.collect(took, 10); n != 1 || took[0].To != 2 {
		t.Errorf("%d records, %+v, want the one that is left", n, took)
	}
}

// Inputs that are read in the order of their times come to their end within any budget: none
// holds what another one needs to read on.
func TestAlignedRecordsAreReadWithinAnyBudget(t *testing.T) {
	const n, partitions = 40, 4
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // or it would wait for itself
	defer cancel()
	c, in := kafkatest.Client(t), kafkatest.Name("aligned")
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("%06d", i)
	}
	kafkatest.Fill(t, c, in, partitions, values[:n/2])
	kafkatest.Fill(t, c, in, partitions, values[n/2:])
	ins, err := Open(ctx, c, []string{in})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSource(c, ins, []int64{n / partitions, n / partitions, n / partitions, n / partitions}, false, ingest.NewBudget(1), func(event.Event) {})
	s.Align(func(_ string, r *ingest.Record) int64 {
		at, _ := strconv.ParseInt(string(r.Value), 10, 64)
		return at
	})
	reading, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		s.Run(reading)
		close(done)
	}()
	defer func() {
		stop()
		<-done
	}()
	var got []string
	for {
		spans, _, err := s.Take(ctx, 7, time.Millisecond)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v after %v", err, got)
		}
		var some []string
		for _, sp := range spans {
			for _, r := range sp.Records {
				some = append(some, string(r.Value))
			}
		}
		slices.Sort(some) // they are merged where they are joined
		got = append(got, some...)
	}
	if !slices.Equal(got, values) {
		t.Errorf("took %v", got)
	}
}
