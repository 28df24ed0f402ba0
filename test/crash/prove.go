package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// proofs is the number of random predictions that prove computes again.
const proofs = 100

// prove runs accrete prove for random predictions. What it says of each has to be what was
// published first.
func (w *world) prove(ctx context.Context, _ string) (s Summary, err error) {
	rng := rand.New(rand.NewPCG(w.seed, proofs))
	args := []string{"prove", "-c", w.config("crash"), "--json"}
	for n := 0; n < min(proofs, w.examples-len(w.garbage)); {
		if i := rng.IntN(w.examples); !w.garbage[i] {
			args = append(args, w.id(i))
			n++
		}
	}
	out, _, err := w.output(ctx, args...)
	if err != nil {
		s.Divergences++
		return s, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var r struct {
			ID    string
			Equal bool
			Step  int64
		}
		if err := d.Decode(&r); err != nil {
			return s, err
		}
		if !r.Equal || r.ID != args[4+s.Proved] {
			s.Divergences++
		}
		s.Proved++
	}
	if s.Proved != len(args)-4 {
		err = fmt.Errorf("%d of %d predictions are proved", s.Proved, len(args)-4)
	}
	return s, err
}
