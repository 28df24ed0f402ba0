package newton

import (
	"slices"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/engine"
)

// A window is long beside a mixture, with enough effort, few inputs and noise in the labels: then the members that
// learn from all rows do so from all of these, and the others as they did. In every case the bounds
// of the memory have room for it.
func TestWindowsAreLongWhereRowsAndLabelsSuitIt(t *testing.T) {
	plain, _ := sixClasses(true)
	for _, test := range []struct {
		name   string
		change func(p *engine.Problem)
		rows   int
	}{
		{"long", func(p *engine.Problem) {}, longRows},
		{"trees", func(p *engine.Problem) { p.Options.Forest = 50 }, longRows},
		{"trees on trial", func(p *engine.Problem) { p.Options.Forest, p.Options.ForestTrial = 50, true }, longRows},
		{"least penalty", func(p *engine.Problem) { p.Fit.Lambda = longPenalty }, longRows},
		{"less penalty", func(p *engine.Problem) { p.Fit.Lambda = 1e-4 }, windowRows},
		{"most inputs", func(p *engine.Problem) { p.Dim = longInputs }, longRows},
		{"least effort", func(p *engine.Problem) { p.Options.Effort = longRows / effortRows }, longRows},
		{"automatic effort", func(p *engine.Problem) { p.Options.Effort = engine.AutoEffort }, longRows},
		{"noisy labels", func(p *engine.Problem) { p.Options.Effort, p.Fit.Lambda = engine.AutoEffort, noisyPenalty }, noisyEffort * effortRows},
		{"more inputs", func(p *engine.Problem) { p.Dim = longInputs + 1 }, windowRows},
		{"less effort", func(p *engine.Problem) { p.Options.Effort = longRows/effortRows - 1 }, windowRows},
		{"trees, less effort", func(p *engine.Problem) { p.Options.Forest, p.Options.Effort = 50, 16 }, windowRows},
		{"without a mixture", func(p *engine.Problem) { p.Options.Lean = false }, windowRows},
		{"before", func(p *engine.Problem) { p.Options.Long = false }, windowRows},
	} {
		p := withLongWindow(plain.Problem)
		test.change(&p)
		w := newEngine(p)
		if w.length != test.rows || w.forest.length != test.rows {
			t.Errorf("%s: the window has %d rows, %d for leaves, want %d", test.name, w.length, w.forest.length, test.rows)
		}
		for m, who := range w.members {
			if who.whole() && who.rows < test.rows || !who.whole() && who.rows != 1024 {
				t.Errorf("%s: member %d learns from %d rows", test.name, m, who.rows)
			}
		}
		if most := packed(p.Options, p.Dim); most < test.rows*p.Dim || TreeBytes(p.Options) < 2*test.rows {
			t.Errorf("%s: a copy of %d numbers, and %d bytes of a tree", test.name, most, TreeBytes(p.Options))
		}
	}
	for _, by := range [][]member{ensemble, trialEnsemble, forestEnsemble, earlyEnsemble} {
		if slices.ContainsFunc(by, func(who member) bool { return who.rows > windowRows }) {
			t.Error("a long window has changed the members of others")
		}
	}
}

// Trees of pairs change the members with leaves, but not the rows of a long window.
func TestPairsKeepLongWindows(t *testing.T) {
	w, _ := withTrees(true)
	p := w.Problem
	p.Options.Long, p.Options.Lean, p.Options.Effort, p.Before = true, true, rowVisitsPerExample, nil
	w = newEngine(p)
	w.plantPairs(1)
	for _, m := range w.forest.members[:len(pairMembers)] {
		if got := w.members[m]; got.rows != longRows || got.rho != pairMembers[0].rho {
			t.Errorf("member %d is %+v", m, got)
		}
	}
}

// A long window of labels that are mostly noise takes half of the row visits, and every other one all
// of them.
func TestLongWindowsOfNoiseTakeHalfOfTheVisits(t *testing.T) {
	plain, _ := sixClasses(true)
	for _, test := range []struct {
		name   string
		change func(p *engine.Problem)
		visits int64
	}{
		{"noise", func(p *engine.Problem) {}, noisyVisits},
		{"trees", func(p *engine.Problem) { p.Options.Forest, p.Options.ForestTrial = 50, true }, noisyVisits},
		{"less noise", func(p *engine.Problem) { p.Fit.Lambda = longPenalty }, rowVisitsPerExample},
		{"a shorter window", func(p *engine.Problem) { p.Dim = longInputs + 1 }, rowVisitsPerExample},
		{"an effort of its own, or before", func(p *engine.Problem) { p.Options.Sparing = false }, rowVisitsPerExample},
	} {
		p := withLongWindow(plain.Problem)
		p.Options.Sparing, p.Fit.Lambda = true, noisyPenalty
		test.change(&p)
		if w := newEngine(p); w.visits != test.visits {
			t.Errorf("%s: %d row visits, want %d", test.name, w.visits, test.visits)
		}
	}
}

// withLongWindow returns p with the options of a long window, and a fit of its own.
func withLongWindow(p engine.Problem) engine.Problem {
	fit := *p.Fit
	p.Fit, p.Options.Long, p.Options.Lean, p.Options.Effort, p.Before = &fit, true, true, rowVisitsPerExample, nil
	return p
}
