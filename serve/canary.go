package serve

import (
	"context"
	"math"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Canary is a second model, which predicts for a share of the keys.
type Canary struct {
	Model  string  // its name
	Log    string  // topic of its model log
	Share  float64 // share of the keys, from 0 to 1
	Shadow string  // topic for its predictions, made in addition to those of the model; empty: they replace those of the model
}

// Chooses reports whether the canary predicts for a key, or for a value if the record has no
// key. The answer for a key depends only on the name of the model and on Share. A larger Share
// includes all keys of a smaller one.
func (c *Canary) Chooses(key, value []byte) bool {
	if len(key) == 0 {
		key = value
	}
	d := xxhash.New()
	d.WriteString(c.Model)
	d.Write([]byte{0})
	d.Write(key)
	return float64(d.Sum64()>>11) < c.Share*math.Exp2(53)
}

// CanaryModel returns the current model of the canary, or nil while there is none.
func (s *Scorer) CanaryModel() *Served { return s.canary.Load() }

// followCanary switches to each new snapshot of the canary, until ctx is done. While the log of
// the canary cannot be read, its last snapshot stays in use. Without one, the model predicts for
// all keys.
func (s *Scorer) followCanary(ctx context.Context) {
	c := s.config
	f := NewFollower(c.Client, c.Canary.Log, c.VerifyKey, func(id string, err error) { c.Report(CanaryFailed{err}) })
	var m *Served // the next model
	for ctx.Err() == nil {
		var err error
		if m == nil {
			m, err = f.Next(ctx)
		}
		if err == nil {
			err = s.enrich(ctx, m)
		}
		switch {
		case err == nil:
			s.canary.Store(m)
			c.Report(CanarySwitched{m})
			m = nil
		case ctx.Err() == nil:
			c.Report(CanaryFailed{err})
			select {
			case <-time.After(repairCheckInterval):
			case <-ctx.Done():
			}
		}
	}
}
