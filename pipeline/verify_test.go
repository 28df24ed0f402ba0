package pipeline

import (
	"errors"
	"testing"

	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/internal/input"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// TestVerifyFindsAStateThatTheHistoryDoesNotLeadTo plants a snapshot that is valid by
// itself, but with a state or a lineage that does not follow from the BATCHes before
// it.
func TestVerifyFindsAStateThatTheHistoryDoesNotLeadTo(t *testing.T) {
	for _, algorithm := range []string{"dsg", "newton"} {
		for what, change := range map[string]func(*snapshot.Snapshot) (changed bool){
			"state": func(s *snapshot.Snapshot) bool {
				for _, a := range s.State.Resuming {
					if v, ok := a.Data.([]float64); ok && len(v) > 0 {
						v[0]++
						return true
					}
				}
				return false
			},
			"lineage": func(s *snapshot.Snapshot) bool { s.Lineage[0] ^= 1; return true },
		} {
			t.Run(algorithm+" "+what, func(t *testing.T) {
				c, in := kafkatest.Client(t), kafkatest.Name("rings")
				kafkatest.Fill(t, c, in, 1, learntest.Rings(300))
				cfg, ev := learntest.Config(c, "m", in)
				cfg.Learner.Algorithm = algorithm
				learnAll(t, cfg)
				if v, err := audit.Verify(t.Context(), cfg); err != nil || v.Compared != 1 || v.Divergent != 0 || v.Records != 300 || v.StateHash != learntest.FinalHash(t, ev) {
					t.Fatalf("before: %+v, %v", v, err)
				}
				l, err := Open(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				s, err := l.history.Freeze(l.journal.Owner.Epoch)
				if err != nil {
					t.Fatal(err)
				}
				if !change(s) {
					t.Fatal("there is nothing to change")
				}
				if _, err := l.journal.Save(t.Context(), s, nil, nil, l.out.await, cfg); err != nil {
					t.Fatal(err)
				}
				v, err := audit.Verify(t.Context(), cfg)
				if err != nil || v.Compared != 2 || v.Divergent != 1 {
					t.Errorf("%+v, %v: want one of two snapshots to diverge", v, err)
				}
				if d, ok := learntest.Last[audit.Divergence](ev); !ok || (d.Want == d.Got) != (what == "lineage") || d.Lineage != (what == "lineage") {
					t.Errorf("reported: %+v", d)
				}
			})
		}
	}
}

func TestCompactedInputIsRefused(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("compacted")
	if err := c.Create(t.Context(), in, 1, map[string]string{"cleanup.policy": "compact"}); err != nil {
		t.Fatal(err)
	}
	cfg, _ := learntest.Config(c, "m", in)
	if _, err := Open(t.Context(), cfg); !errors.Is(err, input.ErrTopic) {
		t.Errorf("a topic whose records the broker deletes is taken for history: %v", err)
	}
}
