package oracle

import (
	"context"

	"github.com/accrete-ml/accrete/ingest"
)

// Load reads the topics of a model to their present ends. The model log must
// still have its beginning.
func Load(ctx context.Context, c *ingest.Client, model string, inputs ...string) (World, error) {
	w := World{Model: model, Inputs: map[Partition][]ingest.Record{}}
	for _, topic := range append([]string{model + ".log", model + ".predictions", model + ".quarantine"}, inputs...) {
		first, end, err := c.Offsets(ctx, topic)
		if err != nil {
			return w, err
		}
		for p := range end {
			var rs []ingest.Record
			for f, next := c.Fetcher(topic, p), first[p]; next < end[p]; {
				got, err := f.Poll(ctx, next)
				if err != nil {
					if ingest.Temporary(err) {
						continue
					}
					return w, err
				}
				rs, next = append(rs, got.Records...), got.Next
			}
			switch topic {
			case model + ".log":
				w.Log = rs
			case model + ".predictions":
				w.Predictions = append(w.Predictions, rs...)
			case model + ".quarantine":
				w.Quarantine = append(w.Quarantine, rs...)
			default:
				w.Inputs[Partition{topic, int32(p)}] = rs
			}
		}
	}
	return w, nil
}
