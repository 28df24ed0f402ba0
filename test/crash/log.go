package main

import (
	"context"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// modelLog reads a model's log while it grows, and folds it by the rules that
// every reader follows.
type modelLog struct {
	fetcher *ingest.Fetcher
	fold    *modellog.Fold
	next    int64

	learned int64           // labelled rows in valid BATCHes
	rows    int64           // rows in them that have a prediction
	chunks  bool            // a snapshot has begun and is incomplete
	rivals  bool            // a challenger has begun and is incomplete
	refits  int             // number of complete challengers
	hashes  []snapshot.Hash // state hashes of the complete snapshots
}

func newModelLog(c *ingest.Client, model string) *modelLog {
	return &modelLog{fetcher: c.Fetcher(model+".log", 0), fold: modellog.NewFold(0, 3)}
}

func isClaim(r modellog.Record) bool    { _, ok := r.(*modellog.Claim); return ok }
func isChunk(r modellog.Record) bool    { c, ok := r.(*modellog.Chunk); return ok && !c.Challenger }
func isRival(r modellog.Record) bool    { c, ok := r.(*modellog.Chunk); return ok && c.Challenger }
func isManifest(r modellog.Record) bool { _, ok := r.(*modellog.Manifest); return ok }
func isBatch(r modellog.Record) bool    { _, ok := r.(*modellog.Batch); return ok }

// poll reads new records. Before the learner has created the log there are
// none.
func (l *modelLog) poll(ctx context.Context) ([]modellog.Record, error) {
	got, err := l.fetcher.Poll(ctx, l.next)
	if err != nil {
		if ingest.Temporary(err) {
			return nil, nil
		}
		return nil, err
	}
	var fresh []modellog.Record
	for _, r := range got.Records {
		v, err := l.fold.Add(r.Offset, r.Key, r.Value)
		if err != nil {
			return nil, err
		}
		if !v.Counts() {
			continue
		}
		switch r := v.Record.(type) {
		case *modellog.Claim:
			l.chunks, l.rivals = false, false
		case *modellog.Batch:
			l.learned += r.Counts.Learned + r.Counts.Labels
			l.rows += r.Counts.Learned + r.Counts.Predicted
		case *modellog.Chunk:
			l.chunks, l.rivals = l.chunks || !r.Challenger, l.rivals || r.Challenger
		case *modellog.Challenger:
			l.rivals = false
			l.refits++
		case *modellog.Manifest:
			l.chunks = false
			l.hashes = append(l.hashes, r.StateHash)
		}
		fresh = append(fresh, v.Record)
	}
	l.next = got.Next
	return fresh, nil
}

// await waits for a record of a kind.
func (l *modelLog) await(ctx context.Context, kind func(modellog.Record) bool) {
	for ctx.Err() == nil {
		fresh, err := l.poll(ctx)
		if err != nil {
			return
		}
		for _, r := range fresh {
			if kind(r) {
				return
			}
		}
	}
}

// catchUp reads to the current end.
func (l *modelLog) catchUp(ctx context.Context, c *ingest.Client, topic string) error {
	_, end, err := c.Offsets(ctx, topic)
	if err != nil {
		if ingest.Temporary(err) { // killed before the topic was created
			return nil
		}
		return err
	}
	for l.next < end[0] {
		if _, err := l.poll(ctx); err != nil {
			return err
		}
	}
	return nil
}
