package pipeline

import (
	"testing"

	"github.com/accrete-ml/accrete/internal/kafkatest"
)

// TestVerifyFindsAStateThatTheHistoryDoesNotLeadTo plants a snapshot that is
// sound in itself, and whose state is not what the BATCHes before it make.
func TestVerifyFindsAStateThatTheHistoryDoesNotLeadTo(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, rings(300))
	cfg, ev := config(c, "m", in)
	learnAll(t, cfg)
	if v, err := Verify(t.Context(), cfg); err != nil || v.Compared != 1 || v.Divergent != 0 {
		t.Fatalf("before: %+v, %v", v, err)
	}
	l, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.history.freeze(l.journal.owner.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	changed := false
	for _, a := range s.State.Resuming {
		if v, ok := a.Data.([]float64); ok && len(v) > 0 && !changed {
			v[0], changed = v[0]+1, true
		}
	}
	if !changed {
		t.Fatal("there is no number to change")
	}
	if _, err := l.journal.save(t.Context(), s, l.out, cfg); err != nil {
		t.Fatal(err)
	}
	v, err := Verify(t.Context(), cfg)
	if err != nil || v.Compared != 2 || v.Divergent != 1 {
		t.Errorf("%+v, %v: want one of two snapshots to diverge", v, err)
	}
	if d, ok := last[Divergence](ev); !ok || d.Want == d.Got {
		t.Errorf("reported: %+v", d)
	}
}

func TestCompactedInputIsRefused(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("compacted")
	if err := c.Create(t.Context(), in, 1, map[string]string{"cleanup.policy": "compact"}); err != nil {
		t.Fatal(err)
	}
	cfg, _ := config(c, "m", in)
	if _, err := Open(t.Context(), cfg); err == nil {
		t.Error("a topic whose records the broker deletes is taken for history")
	}
}
