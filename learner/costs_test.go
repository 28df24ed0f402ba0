package learner

import (
	"slices"
	"testing"
)

// Costs decide for another class at times, and change nothing else: no bit of what is
// learned, and no probability.
func TestCostsOnlyDecide(t *testing.T) {
	s := streamOf("ridge", "costs")
	plain := s.config
	plain.Costs = ""
	rows := s.rows(1550)
	l, m := newLearner(t, s.config), newLearner(t, plain)
	differ := 0
	for at := 0; at < rows.Len(); {
		p, q := l.Predict(rows.Slice(at, rows.Len())), m.Predict(rows.Slice(at, rows.Len()))
		if p.Len() != q.Len() || !slices.Equal(p.Values, q.Values) || q.Decision != (Decision{}) {
			t.Fatalf("row %d: with costs %v, without %v", at, p.Predictions, q.Predictions)
		}
		for i := range p.Len() {
			if c := p.Decision.Class(p.Row(i)); c != Best(p.Row(i)) {
				differ++
			}
		}
		at += p.Len()
		l.Learn(p)
		m.Learn(q)
	}
	if differ < 50 {
		t.Errorf("%d decisions differ from the most probable class", differ)
	}
	of, without := l.State(), m.State()
	drop := func(a Array) bool { return a.Name == "decision" || a.Name == "decision.counts" }
	if n := len(of.Serving) + len(of.Resuming) - len(without.Serving) - len(without.Resuming); n != 2 {
		t.Errorf("%d more arrays, want 2", n)
	}
	of.Serving, of.Resuming = slices.DeleteFunc(of.Serving, drop), slices.DeleteFunc(of.Resuming, drop)
	sameState(t, "without the decision", of, without)
}

func TestCostsAreForClasses(t *testing.T) {
	for _, c := range []Config{{Costs: "f2"}, {Costs: `{"a":-1}`}, {Costs: `{"a":2}`, Task: Regression}, {Costs: "f1", Task: Regression}, {Costs: "f1", Loss: "huber:1"}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if c, err := (Config{Costs: "f1"}).Effective(); err != nil || c.Task != Classification {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := (Config{Costs: "none"}).Effective(); err != nil || c.Costs != "" || c.Task != Auto {
		t.Errorf("%+v, %v", c, err)
	}
}

// Costs by class are a part of the model, and whitespace is not.
func TestCostsByClassAreRestored(t *testing.T) {
	s := streamOf("ridge", "costs")
	c := s.config
	c.Costs = ` { "b" : 9 } `
	l := newLearner(t, c)
	learn(l, s.rows(300), 300)
	again, err := Restore(c, l.State())
	if err != nil {
		t.Fatal(err)
	}
	sameState(t, "restored", again.State(), l.State())
	m, err := NewModel(l.State().Serving)
	if err != nil {
		t.Fatal(err)
	}
	rows := s.rows(301)
	p, q := l.Predict(rows.Slice(300, 301)), m.Predict(rows.Slice(300, 301))
	if !p.Decision.Is(&q.Decision) || !q.Decision.Named() {
		t.Errorf("the model decides by %v, the learner by %v", q.Decision, p.Decision)
	}
	c.Costs = `{"b":8}`
	if _, err := Restore(c, l.State()); err == nil {
		t.Error("other costs are accepted")
	}
}
