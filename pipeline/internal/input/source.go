package input

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// Span holds the records of one input at the offsets [From, To), as far as a read_committed reader
// gets them.
type Span struct {
	In       *Partition
	From, To int64
	Records  []ingest.Record
}

// Gap is a range of offsets, [From, To), whose records were deleted before they were read.
type Gap struct {
	In       *Partition
	From, To int64
}

// Source collects spans from its inputs as they arrive. For each input it holds the response that
// records are being taken from, and one more that was read ahead. A slow learner thus puts
// back-pressure on the fetchers.
type Source struct {
	client *ingest.Client
	ends   []int64        // offset of each input at which reading stops; nil: follow
	gaps   bool           // continue after lost input; otherwise it is an error
	budget *ingest.Budget // for the bytes that all feeds read ahead
	report func(event.Event)

	feeds    []feed
	arrivals chan arrival
	first    int           // feed that the next round of collect begins with
	left     int           // bytes that still fit into the current BATCH
	open     int           // feeds that have not ended
	grown    []growth      // topics with added partitions that Grew has not returned yet
	names    []growth      // topics and the numbers of their partitions that are read
	every    time.Duration // interval of discover

	at func(topic string, r *ingest.Record) int64 // time of a record, see Align; nil: records are taken in any order
}

// NewSource returns a Source of the records of ins from their positions on, up to the offsets ends unless
// that is nil. With gaps it continues after lost input, which is otherwise an error.
func NewSource(client *ingest.Client, ins Partitions, ends []int64, gaps bool, budget *ingest.Budget, report func(event.Event)) *Source {
	s := &Source{client: client, budget: budget, ends: ends, gaps: gaps, report: report, arrivals: make(chan arrival, len(ins)), open: len(ins), every: PartitionsEvery}
	for _, in := range ins {
		s.feeds = append(s.feeds, newFeed(in, budget))
		if n := len(s.names); n == 0 || s.names[n-1].Topic != in.Topic {
			s.names = append(s.names, growth{Topic: in.Topic, ID: in.ID})
		}
		s.names[len(s.names)-1].Count++
	}
	return s
}

// Run fetches until ctx is done or every input has ended.
func (s *Source) Run(ctx context.Context) {
	var followers sync.WaitGroup
	n := 0
	follow := func(feeds []feed) {
		for _, f := range feeds {
			i := n
			followers.Go(func() { s.follow(ctx, i, f) })
			n++
		}
	}
	follow(slices.Clone(s.feeds))
	if s.ends == nil {
		s.discover(ctx, follow)
	}
	followers.Wait()
}

func (s *Source) follow(ctx context.Context, i int, f feed) {
	in, offset := f.in, f.taken
	w := newWitness(s.client, in, f.reads, func(ev event.Event) {
		if r, ok := ev.(event.Retrying); ok {
			ev = event.Retrying{Err: r.Err, Topic: in.Topic, Partition: in.Partition}
		}
		s.report(ev)
	})
	idle := false // whether the last arrival says that the input is at its end
	for first := true; ; {
		if s.ends != nil && offset >= s.ends[i] {
			s.arrive(ctx, arrival{feed: i, err: io.EOF})
			return
		}
		got, err := w.poll(ctx, offset)
		var pieces []arrival
		var gap *ingest.GapError
		switch {
		case errors.As(err, &gap):
			pieces = []arrival{{feed: i, lost: true, Fetched: ingest.Fetched{Next: gap.LogStart}}}
		case err != nil:
			s.arrive(ctx, arrival{feed: i, err: err})
			return
		case got.Next == offset:
			f.reads.Release(got.Held)
			s.report(lag(in, f.reached.Load(), &got)) // from the position taken: records that were read ahead are not learned yet
			if s.at != nil && !idle && offset >= got.End {
				if idle = true; !s.arrive(ctx, arrival{feed: i, idle: true}) {
					return
				}
			}
			continue
		default:
			if s.ends != nil {
				got = until(got, s.ends[i])
			}
			pieces = split(i, got)
		}
		for _, a := range pieces {
			if a.lost && !s.gaps {
				s.arrive(ctx, arrival{feed: i, err: &gapError{in.Topic, in.Partition, offset, a.Next}})
				return
			}
			if !first {
				if got.HighWatermark > 0 {
					s.report(lag(in, f.reached.Load(), &got)) // a paused learner takes nothing, but its lag is reported
				}
				if !s.awaitRoom(ctx, f, &got) {
					return
				}
			}
			first, idle, offset = false, false, a.Next
			if !s.arrive(ctx, a) {
				return
			}
		}
	}
}

// lagEvery is how often a lag is reported while there is no room to read ahead.
const lagEvery = 2 * time.Second

// awaitRoom waits until the feed is ready for the next response. Meanwhile it reports the lag when
// it grows, because a paused learner takes nothing. It returns false if ctx ends.
func (s *Source) awaitRoom(ctx context.Context, f feed, got *ingest.Fetched) bool {
	every := time.NewTicker(lagEvery)
	defer every.Stop()
	for {
		select {
		case <-f.more:
			return true
		case <-ctx.Done():
			return false
		case <-every.C:
		}
		end, err := s.client.End(ctx, f.in.Topic, int(f.in.Partition)) // an error is left to the next fetch
		if err == nil && end > got.End {
			now := *got
			now.End, now.HighWatermark = end, max(got.HighWatermark, end)
			waiting := lag(f.in, f.reached.Load(), &now)
			waiting.Waiting = true
			s.report(waiting)
		}
	}
}

func (s *Source) arrive(ctx context.Context, a arrival) bool {
	select {
	case s.arrivals <- a:
		return true
	case <-ctx.Done():
		return false
	}
}

// Take collects up to size records, or returns one gap. It waits for more records no longer than
// linger after the first. It returns nothing when partitions were added before any record arrived,
// and io.EOF once every input has ended.
func (s *Source) Take(ctx context.Context, size int, linger time.Duration) ([]Span, *Gap, error) {
	var late <-chan time.Time // nil, and so never ready, before the first record
	took := make([]Span, len(s.feeds))
	n := 0
	s.left = batchBytes
	for n < size {
		took = append(took, make([]Span, len(s.feeds)-len(took))...)
		n += s.collect(took, size-n)
		if n == 0 {
			if g := s.gap(); g != nil {
				return nil, g, nil
			}
		}
		if n == size || s.left <= 0 || s.open == 0 {
			break
		}
		if n > 0 && late == nil {
			late = time.After(linger)
		}
		select {
		case a := <-s.arrivals:
			if err := s.accept(a); err != nil {
				return nil, nil, err
			}
			if len(s.grown) > 0 && n == 0 { // return before any of their records are taken
				return nil, nil, nil
			}
			continue
		case <-late:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		break
	}
	spans := took[:0] // sorted below, because added partitions come last in feeds
	for i := range took {
		if took[i].In != nil && took[i].To > took[i].From {
			spans = append(spans, took[i])
		}
	}
	if n == 0 && len(spans) == 0 && s.open == 0 {
		return nil, nil, io.EOF
	}
	slices.SortFunc(spans, func(a, b Span) int { return Compare(a.In, b.In) })
	return spans, nil, nil
}

// gap takes the next gap of any feed; nil if there is none.
func (s *Source) gap() *Gap {
	for i := range s.feeds {
		f := &s.feeds[i]
		if f.gap && f.fetch.Next > f.taken {
			g := &Gap{f.in, f.taken, f.fetch.Next}
			f.take(f.fetch.Next)
			f.gap = false
			s.usedUp(f)
			return g
		}
	}
	return nil
}

func (s *Source) accept(a arrival) error {
	switch {
	case a.err == io.EOF:
		s.open--
		s.feeds[a.feed].idle = true
	case a.idle:
		s.feeds[a.feed].idle = true
	case a.err != nil:
		return a.err
	case a.added != nil:
		s.grown = append(s.grown, *a.added)
		s.feeds = append(s.feeds, a.feeds...)
		s.open += len(a.feeds)
	default:
		f := &s.feeds[a.feed]
		f.fetch, f.gap, f.idle, f.timed = a.Fetched, a.lost, false, false
	}
	return nil
}

// Lags reports the lag of each input.
func (s *Source) Lags() {
	for i := range s.feeds {
		if f := &s.feeds[i]; f.fetch.HighWatermark > 0 {
			taken := lag(f.in, f.taken, &f.fetch)
			taken.Waiting = true
			s.report(taken)
		}
	}
}

func lag(in *Partition, next int64, got *ingest.Fetched) event.Lag {
	if planted.Fault("lag") {
		got.HighWatermark = got.End
	}
	return event.Lag{Topic: in.Topic, Partition: in.Partition, Next: next, End: got.HighWatermark, Stable: got.End, First: got.LogStart}
}
