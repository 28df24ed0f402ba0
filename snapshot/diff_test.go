package snapshot

import (
	"slices"
	"testing"
)

func TestDiff(t *testing.T) {
	a, b := sample(), sample()
	if ds := Diff(a, b); len(ds) != 0 {
		t.Errorf("two equal ones: %v", ds)
	}
	b.Step++
	b.Positions[0].Next += 5
	b.State.Serving[1].Data.([]float32)[2] += 0.5
	b.State.Resuming = b.State.Resuming[:len(b.State.Resuming)-1]
	b.Config = []byte(`{"learner":{"kernel":"gaussian:2.5","seed":2}}`)
	var got []string
	for _, d := range Diff(a, b) {
		got = append(got, d.What)
	}
	gone := a.State.Resuming[len(a.State.Resuming)-1].Name
	want := []string{"step", "options.learner.seed", "position " + a.Positions[0].Topic + "/0", a.State.Serving[1].Name, gone}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("differs in %q, want %q", got, want)
	}
}
