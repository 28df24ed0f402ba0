package kafkalog

import (
	"context"
	"crypto/ed25519"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Reader reads single records of a model log, without folding it.
type Reader struct {
	Client *ingest.Client
	Topic  string
	Key    ed25519.PublicKey // verifies MANIFESTs; nil: unverified
	Again  bool              // retry after temporary errors
}

func (r Reader) poll(ctx context.Context, f *ingest.Fetcher, offset int64) (got ingest.Fetched, err error) {
	if !r.Again {
		return f.Poll(ctx, offset)
	}
	err = ingest.Retry(ctx, func(error) {}, func() (err error) {
		got, err = f.Poll(ctx, offset)
		return err
	})
	return got, err
}

// Manifest reads and verifies the MANIFEST at an offset. at is the time at which it was written, in
// Unix milliseconds. The error is *ingest.GapError if the MANIFEST was deleted.
func (r Reader) Manifest(ctx context.Context, offset int64) (m *modellog.Manifest, at int64, err error) {
	got, err := r.poll(ctx, r.Client.Fetcher(r.Topic, 0), offset)
	if err != nil {
		return nil, 0, err
	}
	if len(got.Records) == 0 || got.Records[0].Offset != offset {
		return nil, 0, fmt.Errorf("%w: record %d of %q is missing", snapshot.ErrTruncated, offset, r.Topic)
	}
	v, err := modellog.Parse(got.Records[0].Key, got.Records[0].Value)
	if err != nil {
		return nil, 0, err
	}
	m, ok := v.(*modellog.Manifest)
	if !ok {
		return nil, 0, fmt.Errorf("%w: record %d of %q is a %s, want a manifest", snapshot.ErrMismatch, offset, r.Topic, v.Type())
	}
	if r.Key != nil {
		if err := m.Verify(r.Key); err != nil {
			return nil, 0, err
		}
	}
	return m, got.Records[0].Time, nil
}

// Snapshot reads the MANIFEST and the serving part of a snapshot.
func (r Reader) Snapshot(ctx context.Context, at modellog.Ref) (*modellog.Manifest, *snapshot.Snapshot, error) {
	m, _, err := r.Manifest(ctx, at.Offset)
	if err != nil {
		return nil, nil, err
	}
	if m.Snapshot != at.Snapshot {
		return nil, nil, fmt.Errorf("%w: the manifest at offset %d is of snapshot %v, want %v", snapshot.ErrMismatch, at.Offset, m.Snapshot, at.Snapshot)
	}
	s, err := r.Serving(ctx, m, at.Offset)
	return m, s, err
}

// Serving reads the serving part of the snapshot that the MANIFEST at an offset completes.
func (r Reader) Serving(ctx context.Context, m *modellog.Manifest, offset int64) (*snapshot.Snapshot, error) {
	chunks, err := r.chunks(ctx, m, offset)
	if err != nil {
		return nil, err
	}
	file, err := modellog.AssembleServing(m, chunks, 0)
	if err != nil {
		return nil, err
	}
	return snapshot.DecodeServing(file, 0)
}

// chunks reads the chunks of the serving part of the snapshot that the MANIFEST at an offset
// completes. Other records may lie among them.
func (r Reader) chunks(ctx context.Context, m *modellog.Manifest, offset int64) (values [][]byte, err error) {
	n := m.ServingChunks()
	f := r.Client.Fetcher(r.Topic, 0)
	for next := m.FirstChunk; len(values) < n && next < offset; {
		got, err := r.poll(ctx, f, next)
		if err != nil {
			return nil, err
		}
		for _, rec := range got.Records {
			v, err := modellog.Parse(rec.Key, rec.Value)
			if c, ok := v.(*modellog.Chunk); err == nil && ok && !c.Challenger && c.Snapshot == m.Snapshot && c.Index == len(values) && len(values) < n {
				values = append(values, rec.Value)
			}
		}
		next = got.Next
	}
	if len(values) < n {
		return nil, fmt.Errorf("%w: %d of %d chunks of snapshot %v", snapshot.ErrTruncated, len(values), n, m.Snapshot)
	}
	return values, nil
}
