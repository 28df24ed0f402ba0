package input

import (
	"sync/atomic"

	"github.com/accrete-ml/accrete/ingest"
)

// feed is the part of an input that has arrived and was not taken yet.
type feed struct {
	in    *Partition
	taken int64 // first offset not taken; set by take
	fetch ingest.Fetched
	gap   bool           // fetch has no records because they are lost
	more  chan struct{}  // signals the fetcher that fetch is used up
	reads *ingest.Budget // budget for fetch and for what the fetcher has read ahead
	idle  bool           // the input was at its end when fetch was empty
	first int64          // time of the first record of fetch, if timed; see Source.Align
	timed bool

	reached *atomic.Int64 // copy of taken for the fetcher
}

func newFeed(in *Partition, reads *ingest.Budget) feed {
	f := feed{in: in, more: make(chan struct{}, 1), reads: reads, reached: new(atomic.Int64)}
	f.take(in.Next)
	return f
}

// take marks everything before the offset next as taken.
func (f *feed) take(next int64) {
	f.taken = next
	f.reached.Store(next)
}

func (f *feed) pending() bool { return f.fetch.Next > f.taken && !f.gap }

type arrival struct {
	feed int
	ingest.Fetched
	added *growth // instead of records: added partitions, read by feeds
	feeds []feed
	idle  bool  // instead of records: there are no more
	lost  bool  // instead of records: the offsets before Next are lost
	err   error // io.EOF at the end
}

// until returns got without the records at or after the offset end.
func until(got ingest.Fetched, end int64) ingest.Fetched {
	got.Next = min(got.Next, end)
	for n := len(got.Records); n > 0 && got.Records[n-1].Offset >= end; n-- {
		got.Records = got.Records[:n-1]
	}
	return got
}

// split divides got into pieces that are either records or a gap.
func split(feed int, got ingest.Fetched) (pieces []arrival) {
	at := int64(-1)
	for _, gap := range got.Missing {
		if gap.From >= got.Next {
			break
		}
		before := got
		before.Next = gap.From
		n := 0
		for n < len(got.Records) && got.Records[n].Offset < gap.From {
			n++
		}
		before.Records, got.Records = got.Records[:n:n], got.Records[n:]
		if n > 0 {
			pieces = append(pieces, arrival{feed: feed, Fetched: before})
		}
		at = min(gap.To, got.Next)
		pieces = append(pieces, arrival{feed: feed, lost: true, Fetched: ingest.Fetched{Next: at, End: got.End, HighWatermark: got.HighWatermark, LogStart: got.LogStart}})
	}
	if at < got.Next {
		pieces = append(pieces, arrival{feed: feed, Fetched: got})
	}
	for i := range pieces { // the pieces share memory, which the last one releases
		pieces[i].Held = 0
	}
	pieces[len(pieces)-1].Held = got.Held
	return pieces
}
