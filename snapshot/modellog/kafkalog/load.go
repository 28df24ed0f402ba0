package kafkalog

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Chunks reads the first n chunks of a snapshot in the log. It returns
// *ingest.GapError if they were trimmed.
func (l *Log) Chunks(ctx context.Context, at modellog.Stored, n int) ([][]byte, error) {
	want := at.Chunks[:n]
	chunks := make([][]byte, 0, n)
	for next := want[0]; len(chunks) < n; {
		got, err := l.fetch(ctx, next)
		if err != nil {
			return nil, err
		}
		for _, r := range got.Records {
			if len(chunks) < n && r.Offset == want[len(chunks)] {
				chunks = append(chunks, r.Value)
			}
		}
		if next = got.Next; len(chunks) < n && next > want[len(chunks)] {
			return nil, fmt.Errorf("%w: record %d of %q is missing", snapshot.ErrTruncated, want[len(chunks)], l.config.Topic)
		}
	}
	return chunks, nil
}
