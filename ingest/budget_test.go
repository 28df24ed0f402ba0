package ingest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// The memory held stays within the budget, independently of the number of
// partitions and of the compression ratio, except for a batch that is larger than
// the budget.
func TestBudgetHolds(t *testing.T) {
	const limit = 4 << 20
	k := newCluster(t)
	topic := k.topic(t, "t", 8)
	c := k.client(t, func(cfg *Config) { cfg.Compression, cfg.MaxBatchBytes = Zstd, 8<<20 })
	plain := k.client(t)
	ctx := within(t, time.Minute)
	big := map[int]int{0: 900_000, 1: 3 << 20, 2: 6 << 20} // bytes of a batch; one of 6 MiB is read alone
	for p := range 8 {
		for range 4 {
			half := bytes.Repeat([]byte{'x'}, big[p%3]/2)
			by := c
			if p == 0 {
				by = plain
			}
			if err := by.Producer().Publish(ctx, topic, p, []Record{{Value: half}, {Value: half}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, ends, err := c.Offsets(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBudget(limit)
	var mu sync.Mutex
	var waiting []int64  // to be released, by a goroutine of its own
	var held, most int64 // as counted here
	go func() {
		for ctx.Err() == nil {
			mu.Lock()
			for _, n := range waiting {
				held -= n
				b.Release(n)
			}
			waiting = nil
			mu.Unlock()
			time.Sleep(time.Millisecond)
		}
	}()
	var all sync.WaitGroup
	for p := range 8 {
		all.Go(func() {
			f := c.Fetcher(topic, p).Within(b)
			for next := int64(0); next < ends[p]; {
				got, err := f.Poll(ctx, next)
				if err != nil {
					t.Error(err)
					return
				}
				for _, r := range got.Records {
					if len(r.Value) == 0 {
						t.Error("a record without its value")
					}
				}
				next = got.Next
				mu.Lock()
				waiting = append(waiting, got.Held)
				held += got.Held
				most = max(most, held)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if most < 6<<20 || most > 6<<20+1<<10 {
		t.Errorf("at most %d bytes were held, want those of the one batch that goes alone", most)
	}
	if n := b.Most(); n < most || n > most+3<<20 { // three partitions are not compressed
		t.Errorf("at most %d bytes were in memory, %d of them held", n, most)
	}
}

func TestBudgetIsLeftByWhoGivesUp(t *testing.T) {
	b := NewBudget(10)
	if room, err := b.enter(t.Context(), nil); room != 10 || err != nil {
		t.Fatal(room, err)
	}
	b.leave(10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.enter(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	b.Release(3)
	if room, err := b.enter(t.Context(), nil); room != 3 || err != nil {
		t.Error(room, err)
	}
}

// Whoever holds all of the budget can still look at one record.
func TestPeekDoesNotWaitForTheBudget(t *testing.T) {
	k := newCluster(t)
	topic, c, ctx := k.topic(t, "t", 1), k.client(t), within(t, time.Minute)
	if err := c.Producer().Publish(ctx, topic, 0, []Record{{Value: []byte("a")}, {Value: []byte("b")}}); err != nil {
		t.Fatal(err)
	}
	f := c.Fetcher(topic, 0).Within(NewBudget(1))
	got, err := f.Poll(ctx, 0)
	if err != nil || got.Held == 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	if one, err := f.Peek(ctx, 1); err != nil || len(one.Records) != 1 || string(one.Records[0].Value) != "b" || one.Held != 0 {
		t.Errorf("%+v, %v", one, err)
	}
}
