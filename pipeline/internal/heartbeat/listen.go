package heartbeat

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
)

// Seen is a record of the heartbeats topic.
type Seen struct {
	Offset int64
	Beat   Beat
}

// Listen sends the records of the heartbeats topic, from the offset next on, to a channel.
func (h *Heart) Listen(ctx context.Context, next int64, to chan<- Seen) error {
	f := h.client.Fetcher(h.topic, 0)
	for {
		got, err := input.Poll(ctx, f, next, h.report)
		var gap *ingest.GapError
		var past *ingest.PastEnd
		switch {
		case errors.As(err, &gap):
			next = gap.LogStart
			continue
		case errors.As(err, &past), errors.Is(err, ingest.ErrUnknownTopic): // the topic was deleted; the Heart creates it again
			next = 0
			if err := new(ingest.Backoff).Pause(ctx, err); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		for _, r := range got.Records {
			b := Seen{Offset: r.Offset}
			if json.Unmarshal(r.Value, &b.Beat) != nil {
				continue
			}
			select {
			case to <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		next = got.Next
	}
}
