package enrich

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/table"
)

// follow reads a partition until ctx is done, and queues its changes.
func (r *Reader) follow(ctx context.Context, p *part) error {
	f := r.config.Client.Fetcher(p.of.Topic, int(p.number)).Within(r.budget)
	for {
		var got ingest.Fetched
		err := ingest.Retry(ctx, r.config.Retrying, func() (err error) {
			got, err = f.Poll(ctx, p.next)
			return err
		})
		var gap *ingest.GapError
		var past *ingest.PastEnd
		switch {
		case errors.As(err, &gap): // earlier records were deleted, maybe all of them
			if err := r.push(ctx, p, ingest.Fetched{Next: gap.LogStart, End: max(p.last, gap.LogStart)}); err != nil {
				return err
			}
			continue
		case errors.As(err, &past): // truncated: read the partition again
			p.next = 0
			r.set(func() {
				p.last, p.end = past.End, min(p.end, past.End)
				r.position(p)
			})
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			continue
		case err != nil:
			return err
		}
		err = r.push(ctx, p, got)
		r.budget.Release(got.Held)
		if err != nil {
			return err
		}
	}
}

// push adds the records in got to the queue, in pieces, and waits for room.
func (r *Reader) push(ctx context.Context, p *part, got ingest.Fetched) error {
	r.set(func() {
		p.last = got.End
		p.end = min(p.end, got.End) // do not wait for truncated records
	})
	rejected := Rejected{Topic: p.of.Topic, Partition: p.number}
	for rs := got.Records; p.next < got.Next; {
		one := piece{part: p, size: 128, Changes: table.Changes{Table: p.of.Name(), TopicID: p.id, Partition: p.number, From: p.next}}
		for len(rs) > 0 && one.size < pieceBytes {
			row, err := decode.TableRow(p.of, rs[0].Key, rs[0].Value, r.config.MaxBytes)
			if rs[0].Unread != nil {
				err = rs[0].Unread
			}
			if err == nil {
				one.Rows = append(one.Rows, row)
				one.size += 6*len(row.Key) + len(row.Values) + 32
			} else if one.Rejected++; rejected.Err == nil {
				rejected.Offset, rejected.Err = rs[0].Offset, err
			}
			one.To, rs = rs[0].Offset+1, rs[1:]
		}
		if len(rs) == 0 {
			one.To = got.Next
		}
		rejected.Records += one.Rejected
		if err := r.wait(ctx, func() bool { return r.size < aheadBytes }); err != nil {
			return err
		}
		r.set(func() {
			r.queue = append(r.queue, one)
			r.size += one.size
		})
		p.next = one.To
	}
	if rejected.Records > 0 {
		r.config.Rejected(rejected)
	}
	return nil
}

// discover checks for partitions that are added to a topic, and follows them. It reports a topic that
// is missing.
func (r *Reader) discover(ctx context.Context, g *errgroup.Group, t *topic) error {
	tick := time.NewTicker(cmp.Or(r.config.every, partitionsEvery))
	defer tick.Stop()
	known, missing := len(t.parts), false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		id, n, err := r.config.Client.Partitions(ctx, t.of.Topic)
		if gone := errors.Is(err, ingest.ErrUnknownTopic); gone != missing && (gone || err == nil) {
			missing = gone
			r.config.Missing(Missing{t.of.Topic, missing})
		}
		if err != nil { // follow reports it
			continue
		}
		if !ingest.SameTopic(id, t.id) {
			return fmt.Errorf("%w: the topic %q, of a table: start again, to read it from its beginning", ErrRenewed, t.of.Topic)
		}
		for ; known < n; known++ {
			p := &part{topic: t, number: int32(known)}
			r.set(func() { t.parts = append(t.parts, p) })
			g.Go(func() error { return r.follow(ctx, p) })
		}
	}
}
