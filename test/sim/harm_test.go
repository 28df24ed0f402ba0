package sim

import (
	"errors"
	"slices"

	"github.com/accrete-ml/accrete/pipeline"
)

// harm occasionally damages the model log: it removes the tail or a batch in
// the middle, recreates the log under a learner, or sets it to be compacted. A
// learner must detect the damage and exit. harm reports whether it did
// anything.
func (w *world) harm() bool {
	name := modelName + ".log"
	if w.r.IntN(6) != 0 || w.c.topics[name] == nil {
		return false
	}
	for _, p := range w.processes {
		if !p.dead {
			w.kill(p)
		}
	}
	w.late = nil
	whole := *w.c.topics[name]
	log := *whole.parts[0]
	log.batches = slices.Clone(log.batches)
	kept := false
	defer func() { // restore the log for the oracle; nothing may have been decided since
		w.c.mu.Lock()
		defer w.c.mu.Unlock()
		if !kept {
			*whole.parts[0] = log
		}
		w.c.topics[name] = &whole
		w.stopped = true
	}()
	broken := func(err error) bool { return errors.Is(err, pipeline.ErrLog) }
	if n := len(log.batches); w.r.IntN(4) == 0 && n > 12 && log.batches[n-8].base > log.start {
		at := n - 2 - w.r.IntN(6)
		part := whole.parts[0]
		part.batches = slices.Delete(slices.Clone(part.batches), at, at+1)
		w.refused("the model log lacks records", broken)
		return true
	}
	p := w.start(false)
	w.steps("a learner before the log is hurt", func() bool {
		if w.r.IntN(50) == 0 { // and again, because they may be in transactions that are aborted
			w.feed(8)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.ended || whole.parts[0].end > log.end+3 && len(p.events) > 0
	})
	if w.violation != "" {
		return true
	}
	var what string
	what, kept = w.hurt(&log)
	w.note("%s", what)
	w.expect = broken
	w.steps(what, func() bool {
		if w.r.IntN(50) == 0 {
			w.feed(1)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.ended
	})
	w.expect = nil
	if w.violation == "" && !broken(p.err) {
		w.fail("%s: the learner ended with: %v", what, p.err)
	}
	w.stats.Refusals++
	return true
}

// hurt damages the log of a running learner in one way, and sets *log to the
// log as it was before. kept reports whether the log still has all of its
// records.
func (w *world) hurt(log *part) (what string, kept bool) {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	name := modelName + ".log"
	t := w.c.topics[name]
	*log = *t.parts[0]
	log.batches = slices.Clone(log.batches)
	switch w.r.IntN(4) {
	case 0:
		w.c.create(name, 1, t.config)
		return "the model log was deleted and created again", false
	case 1:
		t.config = map[string]string{"cleanup.policy": "compact", "retention.ms": "-1", "retention.bytes": "-1"}
		return "the model log is to be compacted", true
	}
	part := t.parts[0]
	n := len(part.batches) - 1 - w.r.IntN(min(8, len(part.batches)-1))
	part.end = part.batches[n].base
	part.batches = part.batches[:n]
	part.writers = map[int64]*writer{}
	return "the model log has lost its tail", false
}
