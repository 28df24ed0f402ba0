package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/accrete-ml/accrete/learner"
)

// Weighing holds the metrics of learner.balance and learner.half_life.
type Weighing struct {
	thinned, untimed       prometheus.Counter
	kept, weight, now      prometheus.Gauge
	wasThinned, wasUntimed int64
	was                    learner.Ages
}

func newWeighing(m maker) Weighing {
	return Weighing{
		thinned: m.counter("accrete_thinned_total", "Examples of frequent classes that were predicted and graded, and not learned (learner.balance)."),
		kept:    m.unknown("accrete_kept_share", "Share of the examples that are learned of the class that learner.balance thins most."),
		untimed: m.counter("accrete_untimed_total", "Examples without an event time, which learner.half_life gives their full weight."),
		weight:  m.unknown("accrete_age_weight", "Mean weight that learner.half_life gave the examples of the last batch because of their age: 1 if all of them came in time."),
		now:     m.unknown("accrete_event_time_seconds", "Event time of the stream, from which learner.half_life counts ages, in Unix seconds."),
	}
}

// Start sets the state after which Add counts: examples up to p are not counted.
func (w *Weighing) Start(p *learner.Progress) {
	if p.Thinned != nil {
		w.wasThinned = p.Thinned.Thinned
	}
	if p.Ages != nil {
		w.wasUntimed, w.was = p.Ages.Untimed, *p.Ages
	}
}

// Add updates the metrics with the examples since the last call of Add or Start.
func (w *Weighing) Add(p *learner.Progress) {
	if t := p.Thinned; t != nil {
		w.thinned.Add(float64(max(0, t.Thinned-w.wasThinned)))
		w.kept.Set(t.Least)
		w.wasThinned = t.Thinned
	}
	if a := p.Ages; a != nil {
		w.untimed.Add(float64(max(0, a.Untimed-w.wasUntimed)))
		if rows := a.Rows - w.was.Rows; rows > 0 {
			w.weight.Set(max(0, min(1, (a.Sum-w.was.Sum)/float64(rows))))
		}
		w.now.Set(a.Now)
		w.wasUntimed, w.was = a.Untimed, *a
	}
}
