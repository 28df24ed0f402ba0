package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/ingest"
)

// input is an input partition and the position in it.
type input struct {
	topic     string
	id        [16]byte // topic ID, which tells a topic from a later one of the same name
	partition int32
	next      int64 // first offset that no BATCH covers
	mark      mark  // of the record before next, if it was verified at the start
}

func (in *input) String() string { return fmt.Sprintf("%s/%d", in.topic, in.partition) }

// inputs are the partitions that a learner reads, sorted by topic and partition. The
// records of a BATCH are in this order.
type inputs []*input

func (ins inputs) find(topic string, partition int32) *input {
	i, ok := slices.BinarySearchFunc(ins, &input{topic: topic, partition: partition}, compareInputs)
	if !ok {
		return nil
	}
	return ins[i]
}

func compareInputs(a, b *input) int {
	return cmp.Or(strings.Compare(a.topic, b.topic), int(a.partition)-int(b.partition))
}

// span holds the records of one input that a read_committed reader gets from the
// offsets [from, to).
type span struct {
	in       *input
	from, to int64
	records  []ingest.Record
}

// gap is a range of offsets, [from, to), that was deleted before it was read.
type gap struct {
	in       *input
	from, to int64
}

// source collects spans from its inputs as they arrive. Of each input it holds the
// response that records are being taken from and one more that is read ahead, so that
// a slow learner puts back-pressure on the fetchers.
type source struct {
	client *ingest.Client
	ends   []int64        // offset of each input at which reading stops; nil: follow
	gaps   bool           // continue after lost input; otherwise it is an error
	budget *ingest.Budget // for the bytes that are read ahead
	report func(Event)

	feeds    []feed
	arrivals chan arrival
	first    int           // feed that the next round of collect begins with
	left     int           // bytes that still fit into the current BATCH
	open     int           // feeds that have not ended
	grown    []growth      // added partitions that grew has not returned yet
	names    []growth      // topics, with the number of partitions that are read
	every    time.Duration // interval of discover
}

// growth is a topic to which partitions were added.
type growth struct {
	topic string
	id    [16]byte
	count int // partitions, with those added
}

// partitionsEvery is the interval at which added partitions are looked for. It is
// a variable so that tests can shorten it.
var partitionsEvery = 5 * time.Second

// feed is what has arrived of one input and was not taken yet.
type feed struct {
	in    *input
	taken int64 // first offset not taken
	fetch ingest.Fetched
	lost  bool          // fetch has no records because they are lost
	more  chan struct{} // signals the fetcher that fetch is used up
}

type arrival struct {
	feed int
	ingest.Fetched
	added *growth // instead of records: added partitions, read by feeds
	feeds []feed
	lost  bool  // instead of records: the offsets before Next are lost
	err   error // io.EOF at the end
}

func newSource(client *ingest.Client, ins inputs, ends []int64, gaps bool, budget *ingest.Budget, report func(Event)) *source {
	s := &source{client: client, budget: budget, ends: ends, gaps: gaps, report: report, arrivals: make(chan arrival, len(ins)), open: len(ins), every: partitionsEvery}
	for _, in := range ins {
		s.feeds = append(s.feeds, newFeed(in))
		if n := len(s.names); n == 0 || s.names[n-1].topic != in.topic {
			s.names = append(s.names, growth{topic: in.topic, id: in.id})
		}
		s.names[len(s.names)-1].count++
	}
	return s
}

func newFeed(in *input) feed { return feed{in: in, taken: in.next, more: make(chan struct{}, 1)} }

// run fetches until ctx is done or every input has ended.
func (s *source) run(ctx context.Context) {
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

// discover looks for partitions that are added to the input topics, until ctx is
// done, and has them followed from their first record.
func (s *source) discover(ctx context.Context, follow func([]feed)) {
	t := time.NewTicker(s.every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		for i := range s.names {
			known := &s.names[i]
			feeds, err := s.added(ctx, known)
			switch {
			case err != nil && ingest.Temporary(err): // reported by the readers of the topic
				continue
			case err != nil:
				s.arrive(ctx, arrival{err: err})
				return
			case len(feeds) == 0:
				continue
			}
			known.count += len(feeds)
			grown := *known
			if !s.arrive(ctx, arrival{added: &grown, feeds: feeds}) {
				return
			}
			follow(feeds)
		}
	}
}

// added returns feeds of the partitions of a topic that are not known yet.
func (s *source) added(ctx context.Context, known *growth) (feeds []feed, err error) {
	id, n, err := s.client.Partitions(ctx, known.topic)
	if err != nil || n <= known.count {
		return nil, err
	}
	if !ingest.SameTopic(id, known.id) {
		return nil, recreated(known.topic)
	}
	first, _, err := s.client.Offsets(ctx, known.topic)
	if err != nil {
		return nil, err
	}
	for p := known.count; p < len(first); p++ {
		feeds = append(feeds, newFeed(&input{topic: known.topic, id: known.id, partition: int32(p), next: first[p]}))
	}
	return feeds, nil
}

// inputs returns all inputs, with those added.
func (s *source) inputs() inputs {
	ins := make(inputs, len(s.feeds))
	for i := range s.feeds {
		ins[i] = s.feeds[i].in
	}
	slices.SortFunc(ins, compareInputs)
	return ins
}

// grew returns the topics to which partitions were added since the last call.
func (s *source) grew() []growth {
	grown := s.grown
	s.grown = nil
	return grown
}

func (s *source) follow(ctx context.Context, i int, f feed) {
	in, offset, more := f.in, f.taken, f.more
	w := newWitness(s.client, in, s.budget, s.report)
	for first := true; ; {
		if s.ends != nil && offset >= s.ends[i] {
			s.arrive(ctx, arrival{feed: i, err: io.EOF})
			return
		}
		got, err := w.poll(ctx, offset)
		var pieces []arrival
		var lost *ingest.LostRange
		switch {
		case errors.As(err, &lost):
			pieces = []arrival{{feed: i, lost: true, Fetched: ingest.Fetched{Next: lost.LogStart}}}
		case err != nil:
			s.arrive(ctx, arrival{feed: i, err: err})
			return
		case got.Next == offset:
			s.budget.Release(got.Held)
			s.report(lag(in, offset, &got))
			continue
		default:
			if s.ends != nil {
				got = until(got, s.ends[i])
			}
			pieces = split(i, got)
		}
		for _, a := range pieces {
			if a.lost && !s.gaps {
				s.arrive(ctx, arrival{feed: i, err: &lostInput{in.topic, in.partition, offset, a.Next}})
				return
			}
			if !first {
				select {
				case <-more:
				case <-ctx.Done():
					return
				}
			}
			first, offset = false, a.Next
			if !s.arrive(ctx, a) {
				return
			}
		}
	}
}

// until returns got without the records at or after the offset end.
func until(got ingest.Fetched, end int64) ingest.Fetched {
	got.Next = min(got.Next, end)
	for n := len(got.Records); n > 0 && got.Records[n-1].Offset >= end; n-- {
		got.Records = got.Records[:n-1]
	}
	return got
}

// split splits got into pieces, each of which is either records or a gap.
func split(feed int, got ingest.Fetched) (pieces []arrival) {
	at := int64(-1)
	for _, hole := range got.Missing {
		if hole.From >= got.Next {
			break
		}
		before := got
		before.Next = hole.From
		n := 0
		for n < len(got.Records) && got.Records[n].Offset < hole.From {
			n++
		}
		before.Records, got.Records = got.Records[:n:n], got.Records[n:]
		if n > 0 {
			pieces = append(pieces, arrival{feed: feed, Fetched: before})
		}
		at = min(hole.To, got.Next)
		pieces = append(pieces, arrival{feed: feed, lost: true, Fetched: ingest.Fetched{Next: at, End: got.End, HighWatermark: got.HighWatermark, LogStart: got.LogStart}})
	}
	if at < got.Next {
		pieces = append(pieces, arrival{feed: feed, Fetched: got})
	}
	for i := range pieces { // they share memory, which the last one releases
		pieces[i].Held = 0
	}
	pieces[len(pieces)-1].Held = got.Held
	return pieces
}

func (s *source) arrive(ctx context.Context, a arrival) bool {
	select {
	case s.arrivals <- a:
		return true
	case <-ctx.Done():
		return false
	}
}

// batchBytes is the size at which a BATCH ends, however few records it has.
const batchBytes = 8 << 20

// weight returns the approximate number of bytes that a record takes in memory.
func weight(r *ingest.Record) int {
	n := 128 + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += 64 + len(h.Value)
	}
	return n
}

// take collects up to size records, waiting no longer than linger after the first of
// them, or returns one gap. It returns nothing when partitions were added before any
// record arrived, and io.EOF once every input has ended.
func (s *source) take(ctx context.Context, size int, linger time.Duration) ([]span, *gap, error) {
	var late <-chan time.Time // nil, and so never ready, before the first record
	took := make([]span, len(s.feeds))
	n := 0
	s.left = batchBytes
	for n < size {
		took = append(took, make([]span, len(s.feeds)-len(took))...)
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
			if len(s.grown) > 0 && n == 0 { // before any of their records
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
		if took[i].in != nil && took[i].to > took[i].from {
			spans = append(spans, took[i])
		}
	}
	if n == 0 && len(spans) == 0 && s.open == 0 {
		return nil, nil, io.EOF
	}
	slices.SortFunc(spans, func(a, b span) int { return compareInputs(a.in, b.in) })
	return spans, nil, nil
}

// gap takes the next gap of some feed; nil if there is none.
func (s *source) gap() *gap {
	for i := range s.feeds {
		f := &s.feeds[i]
		if f.lost && f.fetch.Next > f.taken {
			g := &gap{f.in, f.taken, f.fetch.Next}
			f.taken, f.lost = f.fetch.Next, false
			s.usedUp(f)
			return g
		}
	}
	return nil
}

func (s *source) accept(a arrival) error {
	switch {
	case a.err == io.EOF:
		s.open--
	case a.err != nil:
		return a.err
	case a.added != nil:
		s.grown = append(s.grown, *a.added)
		s.feeds = append(s.feeds, a.feeds...)
		s.open += len(a.feeds)
	default:
		f := &s.feeds[a.feed]
		f.fetch, f.lost = a.Fetched, a.lost
	}
	return nil
}

// lags reports the lag of each input.
func (s *source) lags() {
	for i := range s.feeds {
		if f := &s.feeds[i]; f.fetch.HighWatermark > 0 {
			s.report(lag(f.in, f.taken, &f.fetch))
		}
	}
}

func lag(in *input, next int64, got *ingest.Fetched) Lag {
	return Lag{Topic: in.topic, Partition: in.partition, Next: next, End: got.HighWatermark, Stable: got.End, First: got.LogStart}
}

// collect moves up to room records from the feeds to took and returns their number.
// Feeds with pending records get equal shares.
func (s *source) collect(took []span, room int) (n int) {
	for room > n && s.left > 0 {
		full := 0
		for i := range s.feeds {
			if s.feeds[i].pending() {
				full++
			}
		}
		if full == 0 {
			return n
		}
		share := max(1, (room-n)/full)
		for k := range s.feeds {
			i := (s.first + k) % len(s.feeds)
			if f := &s.feeds[i]; f.pending() && room > n && s.left > 0 {
				n += s.from(f, &took[i], min(share, room-n))
			}
		}
		s.first = (s.first + 1) % len(s.feeds)
	}
	return n
}

func (f *feed) pending() bool { return f.fetch.Next > f.taken && !f.lost }

// from moves up to most records of f to sp, and stops after the record that fills the
// BATCH. It copies them, because each of them refers to the memory of the whole
// response.
func (s *source) from(f *feed, sp *span, most int) int {
	if sp.in == nil {
		sp.in, sp.from = f.in, f.taken
	}
	n := 0
	for n < min(most, len(f.fetch.Records)) && s.left > 0 {
		s.left -= weight(&f.fetch.Records[n])
		n++
	}
	sp.records = appendCopies(sp.records, f.fetch.Records[:n])
	f.fetch.Records = f.fetch.Records[n:]
	if len(f.fetch.Records) == 0 {
		f.taken = f.fetch.Next // after offsets that a read_committed reader does not get
		s.usedUp(f)
	} else {
		f.taken = sp.records[len(sp.records)-1].Offset + 1
	}
	sp.to = f.taken
	return n
}

// usedUp releases the response of f and lets its fetcher continue.
func (s *source) usedUp(f *feed) {
	s.budget.Release(f.fetch.Held)
	f.fetch.Records, f.fetch.Held = nil, 0
	f.more <- struct{}{}
}

// appendCopies appends deep copies of rs to dst.
func appendCopies(dst, rs []ingest.Record) []ingest.Record {
	size, headers := 0, 0
	for i := range rs {
		size += len(rs[i].Key) + len(rs[i].Value)
		headers += len(rs[i].Headers)
		for _, h := range rs[i].Headers {
			size += len(h.Value)
		}
	}
	bytes, hs := make([]byte, 0, size), make([]ingest.Header, 0, headers)
	own := func(b []byte) []byte {
		if b == nil {
			return nil
		}
		at := len(bytes)
		bytes = append(bytes, b...)
		return bytes[at:len(bytes):len(bytes)]
	}
	dst = slices.Grow(dst, len(rs))
	for _, r := range rs {
		r.Key, r.Value = own(r.Key), own(r.Value)
		if r.Headers != nil {
			at := len(hs)
			for _, h := range r.Headers {
				hs = append(hs, ingest.Header{Key: h.Key, Value: own(h.Value)})
			}
			r.Headers = hs[at:len(hs):len(hs)]
		}
		dst = append(dst, r)
	}
	return dst
}

// retry calls ingest.Retry and reports each failed attempt as an event.
func retry(ctx context.Context, report func(Event), f func() error) error {
	return ingest.Retry(ctx, func(err error) { report(Retrying{err}) }, f)
}

// pollRetry polls until the broker answers.
func pollRetry(ctx context.Context, f *ingest.Fetcher, offset int64, report func(Event)) (got ingest.Fetched, err error) {
	err = retry(ctx, report, func() (err error) {
		got, err = f.Poll(ctx, offset)
		return err
	})
	return got, err
}

// cursor reads a partition by ranges of offsets, such as those in the model log.
type cursor struct {
	fetcher *ingest.Fetcher
	budget  *ingest.Budget // of fetcher; nil: unlimited
	next    int64
	ahead   []ingest.Record
	reached int64 // every record before it is in ahead or was taken
	held    int64 // bytes of the budget that ahead holds
}

// take returns copies of the records in [from, to).
func (c *cursor) take(ctx context.Context, from, to int64, report func(Event)) (took []ingest.Record, err error) {
	if from != c.next {
		c.next = from
		c.drop()
	}
	var since time.Time // of the first response that the log ends before to
	for {
		n := 0
		for n < len(c.ahead) && c.ahead[n].Offset < to {
			n++
		}
		took = appendCopies(took, c.ahead[:n])
		if c.ahead = c.ahead[n:]; len(c.ahead) == 0 {
			c.release()
		}
		if c.reached >= to {
			c.next = to
			return took, nil
		}
		got, err := pollRetry(ctx, c.fetcher, c.reached, report)
		if err == nil && got.Next == c.reached && got.HighWatermark < to {
			if since.IsZero() {
				since = time.Now()
			}
			err = c.ended(ctx, to, time.Since(since), got.HighWatermark, report)
		}
		c.ahead, c.held = got.Records, got.Held
		if err != nil {
			c.drop()
			return nil, err
		}
		c.reached = got.Next
	}
}

// drop forgets what was read ahead, which take reads again.
func (c *cursor) drop() {
	c.reached = c.next
	c.release()
}

func (c *cursor) release() {
	c.ahead = nil
	if c.budget != nil {
		c.budget.Release(c.held)
	}
	c.held = 0
}

// ended returns *ingest.PastEnd if the log ends before the offset to, unless that may
// be temporary: a broker that has just restarted may not know its end yet.
func (c *cursor) ended(ctx context.Context, to int64, waited time.Duration, end int64, report func(Event)) error {
	var truncated, known bool
	err := retry(ctx, report, func() (err error) {
		_, truncated, known, err = c.fetcher.Truncated(ctx, to, -1)
		return err
	})
	if err == nil && (truncated || !known && waited > truncationPersists) {
		return c.fetcher.PastEnd(to, end)
	}
	return err
}
