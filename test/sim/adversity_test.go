package sim

import (
	"bytes"
	"context"
	"flag"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// endings are the faults of which a schedule has at most one, after all others. Each
// returns false if it does not apply to the current state, and leaves that state
// unchanged.
var endings = []struct {
	name string
	play func(*world) bool
}{
	{"log loses its tail", (*world).logLosesTail},
	{"outputs lose their tail", (*world).outputsLoseTail},
	{"operator rolls back", (*world).operatorRollsBack},
	{"another arithmetic", (*world).anotherArithmetic},
	{"input loses its tail", (*world).inputLosesTail},
	{"input is created again", (*world).inputIsCreatedAgain},
	{"input is mirrored", (*world).inputIsMirrored},
	{"partition is added", (*world).partitionIsAdded},
	{"transaction hangs", (*world).transactionHangs},
}

var (
	adverse    = flag.Bool("adverse", false, "whether schedules have elections, oversized records and endings")
	onlyEnding = flag.String("ending", "", "the ending of all schedules, which implies -adverse")
)

func adversity() bool { return *adverse || *onlyEnding != "" }

// ending plays one of the endings in half of the schedules, and reports whether it
// did.
func (w *world) ending() bool {
	if !adversity() || w.more.IntN(2) == 0 && *onlyEnding == "" || w.c.topics[model.LogTopic(modelName)] == nil {
		return false
	}
	e := endings[w.more.IntN(len(endings))]
	for _, only := range endings {
		if only.name == *onlyEnding {
			e = only
		}
	}
	w.note("ending: %s", e.name)
	if !e.play(w) {
		return false
	}
	w.stats.Endings = map[string]int{e.name: 1}
	return true
}

// alone ends all processes, whose requests do not arrive any more.
func (w *world) alone() {
	for _, p := range w.processes {
		if !p.dead {
			w.kill(p)
		}
	}
	w.late = nil
}

// oversize occasionally makes a record larger than the output topics accept.
func (w *world) oversize(r *ingest.Record) {
	large := func() int { return record.MinMessageBytes/2 + w.more.IntN(2*record.MinMessageBytes) }
	switch w.more.IntN(50) {
	case 0:
		r.Value = []byte(`{"features":"` + strings.Repeat("x", large()))
	case 1:
		r.Key = bytes.Repeat([]byte("k"), large())
	default:
		return
	}
	w.stats.Oversized++
}

// learning starts a learner and returns it when it has decided something new.
func (w *world) learning() *process {
	log := w.c.part(model.LogTopic(modelName), 0)
	end := log.end
	p := w.start(false)
	w.feed(8)
	w.steps("a learner before the fault", func() bool {
		if w.r.IntN(50) == 0 {
			w.feed(2)
		}
		return w.over(p) || log.end > end+3 && p.claimed() > 0
	})
	if w.violation == "" && w.over(p) {
		w.fail("before the fault the learner ended with: %v", p.err)
	}
	return p
}

func (w *world) over(p *process) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// caughtUp reports whether every input partition is decided to its stable offset.
func (w *world) caughtUp() bool {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	reached := map[int32]int64{}
	log := w.c.part(model.LogTopic(modelName), 0)
	for _, rec := range w.c.records(log) {
		v, err := modellog.Parse(rec.Key, rec.Value)
		if err != nil {
			continue
		}
		switch v := v.(type) {
		case *modellog.Batch:
			for _, g := range v.Ranges {
				reached[g.Partition] = max(reached[g.Partition], g.To)
			}
		case *modellog.Gap:
			reached[v.Partition] = max(reached[v.Partition], v.To)
		}
	}
	for i, p := range w.c.topics[w.input].parts {
		if n := len(w.c.records(p)); n > 0 && reached[int32(i)] <= w.c.records(p)[n-1].Offset {
			return false
		}
	}
	return true
}

// ends waits until p has ended with an error that why accepts.
func (w *world) ends(what string, p *process, why func(error) bool) {
	w.note("to be noticed: %s", what)
	w.expect = why
	w.steps(what, func() bool {
		if w.r.IntN(50) == 0 {
			w.feed(1)
		}
		return w.over(p)
	})
	w.expect = nil
	if w.violation == "" && !why(p.err) {
		w.fail("%s: the learner ended with: %v", what, p.err)
	}
	w.stats.Refusals++
}

// command runs an operator's command to its end.
func (w *world) command(name string, run func(context.Context, model.Config) error) {
	if w.violation != "" {
		return
	}
	var done error
	p := w.process(func(ctx context.Context, _ *process, c model.Config) error {
		done = run(ctx, c)
		return nil
	})
	w.note("start %d: %s", p.id, name)
	w.steps(name, func() bool { return w.over(p) })
	if w.violation == "" && done != nil {
		w.fail("%s: %v", name, done)
	}
}

// goOn checks that the model learns what there is, and what comes.
func (w *world) goOn(when string) {
	w.finish(when)
	w.feed(1 + w.more.IntN(20))
	w.finish(when + ", with more input")
}
