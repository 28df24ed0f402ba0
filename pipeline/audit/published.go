package audit

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/pipeline/internal/history"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// bounds returns the limits of the output topics, on which the bytes of a prediction depend.
func (r *retrace) bounds(ctx context.Context) (history.Limits, error) {
	predictions, err := record.OutputTopic(ctx, r.config.Client, model.PredictionsTopic(r.config.Model))
	if err != nil {
		return history.Limits{}, err
	}
	return history.Limits{Predictions: predictions.MaxMessageBytes, Quarantine: ingest.DefaultMaxMessageBytes, Passed: r.config.Passed}, nil
}

// publishedAs looks in the predictions topic for the prediction of q under a seq. It first looks in
// the partition that the learner uses now. It then looks in all others, because the topic may have
// had fewer partitions when the prediction was made.
func (q *question) publishedAs(ctx context.Context, c model.Config, seq int64) (bool, error) {
	topic := model.PredictionsTopic(c.Model)
	first, end, err := input.Offsets(ctx, c.Client, topic, c.Report)
	if err != nil {
		return false, err
	}
	for i := range end {
		p := (int(q.Partition) + i) % len(end)
		s := search{client: c.Client, topic: topic, partition: p, end: end[p], id: q.ID, seq: seq, config: c}
		r, err := s.find(ctx, first[p])
		if err != nil {
			return false, err
		}
		if r != nil {
			q.Seq, q.published = seq, *r
			q.Published = Place{topic, p, r.Offset}
			return true, nil
		}
	}
	return false, nil
}

// search looks for a prediction in a partition.
type search struct {
	client    *ingest.Client
	topic     string
	partition int
	end       int64
	id        string
	seq       int64
	config    model.Config
}

// pageRecords is the number of offsets that are read at once.
const pageRecords = 512

// find returns the prediction, or nil if there is none at or after offset low.
//
// Predictions are written in ascending order of seq, except that a successor may go back to repeat
// some. If a page begins below a seq and a later page does not, there is a copy of that seq in
// between, so that halving the partition ends at a copy. If this copy is incomplete, the whole
// partition is read.
func (s *search) find(ctx context.Context, low int64) (*ingest.Record, error) {
	from, high := low, s.end
	for high-from > 2*pageRecords {
		middle := from + (high-from)/2
		rs, err := s.page(ctx, middle)
		if err != nil {
			return nil, err
		}
		if r := s.among(rs); r != nil {
			return r, nil
		}
		if seq, ok := firstSeq(rs); ok && seq < s.seq {
			from = middle
		} else {
			high = middle
		}
	}
	r, err := s.scan(ctx, from, high)
	if r == nil && err == nil && from > low {
		r, err = s.scan(ctx, low, s.end)
	}
	return r, err
}

// scan reads from the offset from on, until it finds the prediction, or until a page past the
// offset to begins with a greater seq.
func (s *search) scan(ctx context.Context, from, to int64) (*ingest.Record, error) {
	for at := from; at < s.end; at += pageRecords {
		rs, err := s.page(ctx, at)
		if err != nil {
			return nil, err
		}
		if r := s.among(rs); r != nil {
			return r, nil
		}
		if seq, ok := firstSeq(rs); at > to && ok && seq > s.seq {
			return nil, nil
		}
	}
	return nil, nil
}

// page returns the records of one page.
func (s *search) page(ctx context.Context, from int64) ([]ingest.Record, error) {
	to := min(from+pageRecords, s.end)
	rs, err := input.NewCursor(s.client.Fetcher(s.topic, s.partition)).Take(ctx, from, to, s.config.Report)
	var gap *ingest.GapError
	if errors.As(err, &gap) {
		return nil, fmt.Errorf("%w: %q deletes old predictions, read again: %w", ErrUnproved, s.topic, err)
	}
	return rs, err
}

// among returns the prediction if it is one of rs; otherwise nil.
func (s *search) among(rs []ingest.Record) *ingest.Record {
	for i := range rs {
		if value(&rs[i], "ce_id") == s.id && value(&rs[i], "ce_sequence") == strconv.FormatInt(s.seq, 10) {
			return &rs[i]
		}
	}
	return nil
}

// firstSeq returns the seq of the first prediction; ok is false if there is no prediction.
func firstSeq(rs []ingest.Record) (seq int64, ok bool) {
	for i := range rs {
		if n, err := strconv.ParseInt(value(&rs[i], "ce_sequence"), 10, 64); err == nil {
			return n, true
		}
	}
	return 0, false
}

// value returns a header of a record, "" if it has none.
func value(r *ingest.Record, header string) string {
	for _, h := range r.Headers {
		if h.Key == header {
			return string(h.Value)
		}
	}
	return ""
}
