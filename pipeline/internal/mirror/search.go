package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// search looks for a position in one partition of a new topic.
type search struct {
	*Topic
	fetcher    *ingest.Fetcher
	was        snapshot.Position // in the old topic
	first, end int64             // offsets of the new partition
	last       *modellog.Range   // range that was decided last; nil if the log was trimmed past it
}

// position returns the next offset, and the fingerprint of the record before it.
func (s *search) position(ctx context.Context, at Start) (next int64, fingerprint uint64, err error) {
	if offset, ok := at.Offsets[s.was.Partition]; ok {
		if offset < s.first || offset > s.end {
			return 0, 0, fmt.Errorf("%w: %s/%d has offsets %d to %d, so %d is out of range", Err, s.Now, s.was.Partition, s.first, s.end, offset)
		}
		fingerprint, err = s.before(ctx, offset)
		return offset, fingerprint, err
	}
	switch {
	case at.Earliest:
		return s.first, 0, nil
	case at.End:
		fingerprint, err = s.before(ctx, s.end)
		return s.end, fingerprint, err
	}
	found, err := s.find(ctx)
	if err != nil {
		return 0, 0, err
	}
	if planted.Fault("adopted") {
		found.Offset++
	}
	return found.Offset + 1, input.Fingerprint(found), nil
}

// before returns the fingerprint of the record before an offset. It returns 0 if there is no such
// record, or if only control records are close to the offset.
func (s *search) before(ctx context.Context, offset int64) (uint64, error) {
	const near = 64
	c := input.NewCursor(s.fetcher)
	rs, err := c.Take(ctx, max(s.first, offset-near), offset, s.Report)
	var gap *ingest.GapError
	if errors.As(err, &gap) || err == nil && len(rs) == 0 {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return input.Fingerprint(&rs[len(rs)-1]), nil
}

const (
	// guesses is the number of offsets that are tried for the record decided last. Control records
	// of transactions may follow it, so that its offset is not known exactly.
	guesses = 64

	// matches is the number of matching records at which the search ends, because it could not tell
	// them apart.
	matches = 16
)

// find returns the record of the new partition that is the record decided last. The fingerprint
// covers the offset in the old topic, so it is computed with that offset. Because records may
// repeat, each match is confirmed or refuted by the digest of the whole range decided last, if the
// log still has that range.
func (s *search) find(ctx context.Context) (*ingest.Record, error) {
	if s.was.Fingerprint == 0 {
		return nil, fmt.Errorf("%w: the record of %s/%d that was learned last is unknown, because of a gap before offset %d: give the position in the new topic (--at %d:OFFSET)", Err, s.Was, s.was.Partition, s.was.Next, s.was.Partition)
	}
	for i := len(s.Decided) - 1; i >= 0 && s.last == nil; i-- {
		if r := &s.Decided[i]; r.Topic == s.Was && ingest.SameTopic(r.TopicID, s.was.TopicID) && r.Partition == s.was.Partition && r.To <= s.was.Next {
			s.last = r
		}
	}
	offsets := s.offsets()
	if r, err := s.same(ctx, offsets); r != nil || err != nil {
		return r, err
	}
	var confirmed, open []ingest.Record
	for next := s.first; next < s.end && len(confirmed)+len(open) < matches; {
		s.Report(event.Searching{Topic: s.Now, Partition: s.was.Partition, Done: next - s.first, Of: s.end - s.first})
		got, err := input.Poll(ctx, s.fetcher, next, s.Report)
		var gap *ingest.GapError
		if errors.As(err, &gap) {
			next = gap.LogStart
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range got.Records {
			r := &got.Records[i]
			if r.Offset >= s.end || !s.matches(r, offsets) {
				continue
			}
			yes, no, err := s.confirms(ctx, r.Offset)
			if err != nil {
				return nil, err
			}
			if yes {
				confirmed = input.AppendCopies(confirmed, got.Records[i:i+1])
			} else if !no {
				open = input.AppendCopies(open, got.Records[i:i+1])
			}
		}
		if got.Next == next { // an open transaction
			break
		}
		next = got.Next
	}
	if len(confirmed) == 0 {
		confirmed = open
	}
	if s.first == s.end {
		return nil, fmt.Errorf("%w: %s/%d is empty, so it does not have the record of %s/%d that was learned last, before offset %d: copy the records first, name the topic that has them (--topic %s=NEW), or read the partition from its beginning (--at earliest)", Err, s.Now, s.was.Partition, s.Was, s.was.Partition, s.was.Next, s.Was)
	}
	switch len(confirmed) {
	case 0:
		return nil, fmt.Errorf("%w: none of the records %d to %d of %s/%d matches the record of %s/%d that was learned last, before offset %d: name the topic that has the same records (--topic %s=NEW), or give the position (--at earliest, end or %d:OFFSET)", Err, s.first, s.end-1, s.Now, s.was.Partition, s.Was, s.was.Partition, s.was.Next, s.Was, s.was.Partition)
	case 1:
		return &confirmed[0], nil
	}
	var at []int64
	for _, r := range confirmed {
		at = append(at, r.Offset)
	}
	return nil, fmt.Errorf("%w: the record of %s/%d that was learned last is in %s several times, at offsets %v: give the position after it (--at %d:OFFSET)", Err, s.Was, s.was.Partition, s.Now, at, s.was.Partition)
}

// offsets returns the offsets that the record decided last may have had.
func (s *search) offsets() (out []int64) {
	from, to := max(0, s.was.Next-guesses), s.was.Next
	if s.last != nil {
		from, to = max(s.last.From+s.last.Records-1, s.last.To-guesses), s.last.To
	}
	for o := to - 1; o >= from; o-- {
		out = append(out, o)
	}
	return out
}

func (s *search) matches(r *ingest.Record, offsets []int64) bool {
	x := *r
	return slices.ContainsFunc(offsets, func(o int64) bool {
		x.Offset = o
		return input.Fingerprint(&x) == s.was.Fingerprint
	})
}

// same returns the record if it has the same offset in the new topic, so that no search is needed.
func (s *search) same(ctx context.Context, offsets []int64) (*ingest.Record, error) {
	for _, o := range offsets {
		if o < s.first || o >= s.end {
			continue
		}
		var got ingest.Fetched
		err := input.Retry(ctx, s.Report, func() (err error) {
			got, err = s.fetcher.Peek(ctx, o)
			return err
		})
		var gap *ingest.GapError
		if errors.As(err, &gap) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if len(got.Records) > 0 {
			if input.Fingerprint(&got.Records[0]) != s.was.Fingerprint {
				return nil, nil
			}
			yes, _, err := s.confirms(ctx, o)
			if err != nil || !yes {
				return nil, err
			}
			return &got.Records[0], nil
		}
	}
	return nil, nil
}

// confirms compares the records up to an offset with the range that was decided last. Both results
// are false if they cannot be compared.
func (s *search) confirms(ctx context.Context, offset int64) (yes, no bool, err error) {
	if s.last == nil || s.last.Records != s.last.To-s.last.From {
		return false, false, nil // the offsets of its records are unknown
	}
	n := int(s.last.Records)
	var rs []ingest.Record
	for back := int64(n); ; back *= 2 { // there may be control records in between
		from := max(s.first, offset+1-back)
		c := input.NewCursor(s.fetcher)
		rs, err = c.Take(ctx, from, offset+1, s.Report)
		var gap *ingest.GapError
		if errors.As(err, &gap) {
			return false, false, nil
		}
		if err != nil {
			return false, false, err
		}
		if len(rs) >= n || from == s.first || back > 4*int64(n) {
			break
		}
	}
	if len(rs) < n {
		return false, false, nil
	}
	digest := xxhash.New()
	for i, r := range rs[len(rs)-n:] {
		r.Offset = s.last.From + int64(i)
		input.HashRecord(digest, &r)
	}
	yes = digest.Sum64() == s.last.Digest
	return yes, !yes, nil
}
