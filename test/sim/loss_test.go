package sim

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

func isErrLog(err error) bool     { return errors.Is(err, pipeline.ErrLog) }
func isErrHistory(err error) bool { return errors.Is(err, pipeline.ErrHistory) }

// logLosesTail removes the last batches of the model log, under a running learner or
// between two. A learner must exit if it, or a consumer of the predictions, has seen
// what is lost, and accrete rollback must lead out of it.
func (w *world) logLosesTail() bool {
	log := w.c.part(model.LogTopic(modelName), 0)
	w.alone()
	live := w.more.IntN(2) == 0
	var p *process
	if live {
		p = w.learning()
	}
	whole := *log
	n := 1 + w.more.IntN(8)
	if left := len(log.batches) - n; w.violation != "" || left < 3 || log.batches[left].base <= log.start {
		return w.violation != "" || live && w.instead()
	}
	w.c.mu.Lock()
	log.cut(n)
	w.c.mu.Unlock()
	if f := w.fold(log); !f.Seeded() { // no command leads out of that, only a backup
		*log = whole
		return live && w.instead()
	}
	if w.more.IntN(2) == 0 {
		w.c.mu.Lock()
		log.elect(0)
		w.c.mu.Unlock()
	}
	w.shorter = cut{w.fold(log).Seq(), w.c.order}
	what := fmt.Sprintf("the model log has lost its last %d batches (live: %v)", n, live)
	w.note("%s", what)
	if live {
		w.ends(what, p, isErrLog)
	}
	if w.seen() > w.fold(log).Seq() {
		w.refused(what, isErrLog)
		w.stopped = false
	}
	w.command("rollback", func(ctx context.Context, c model.Config) error {
		_, err := admin.Rollback(ctx, c, admin.RollbackTo{})
		return err
	})
	w.goOn("after the rollback")
	return true
}

// instead ends all processes and returns false, so that the schedule ends otherwise.
func (w *world) instead() bool {
	w.alone()
	return false
}

// seen returns the highest seq that a consumer of the outputs has seen.
func (w *world) seen() (seq int64) {
	for _, rs := range w.c.everything(model.PredictionsTopic(modelName)) {
		for _, r := range rs {
			n, _ := strconv.ParseInt(header(r, "ce_sequence"), 10, 64)
			seq = max(seq, n)
		}
	}
	return seq
}

// answered returns the seq of the last BATCH that has predictions, 0 if there is none
// after a seq.
func (w *world) answered(after int64) (seq int64) {
	for _, rec := range w.c.records(w.c.part(model.LogTopic(modelName), 0)) {
		v, err := modellog.Parse(rec.Key, rec.Value)
		if b, ok := v.(*modellog.Batch); err == nil && ok && b.Seq > after && b.Counts.Learned+b.Counts.Predicted > 0 {
			seq = b.Seq
		}
	}
	return seq
}

// outputsLoseTail removes the last batches of predictions, or of the markers of
// transactional delivery. Nobody can bring predictions back that were acknowledged,
// but the model must go on as if nothing had happened, and what is published again
// must be identical.
func (w *world) outputsLoseTail() bool {
	var p *process
	if w.more.IntN(2) == 0 {
		w.alone()
		p = w.learning()
	} else {
		w.alone()
	}
	name := model.PredictionsTopic(modelName)
	if w.config.Transactional && w.more.IntN(2) == 0 {
		name = model.ReleasedTopic(modelName)
	}
	w.c.mu.Lock()
	if t := w.c.topics[name]; t != nil {
		for _, part := range t.parts {
			if n := len(part.batches); n > 0 {
				part.cut(1 + w.more.IntN(min(n, 8)))
			}
			part.start = min(part.start, part.end)
			if w.more.IntN(2) == 0 {
				part.elect(0)
			}
		}
	}
	w.c.mu.Unlock()
	w.lossy = true
	w.note("%s has lost its tail", name)
	if p != nil {
		from := w.fold(w.c.part(model.LogTopic(modelName), 0)).Seq()
		w.feed(20)
		since, published := time.Now(), false
		w.steps("learning after "+name+" has lost its tail", func() bool {
			published = w.caughtUp() && w.seen() >= w.answered(from)
			return w.over(p) || published || time.Since(since) > time.Minute
		})
		if w.violation == "" && !w.over(p) && !published {
			w.fail("%s has lost its tail: the learner does not publish any more", name)
		}
		if w.violation == "" && w.over(p) {
			w.fail("%s has lost its tail: the learner ended with: %v", name, p.err)
		}
		w.alone()
	}
	w.goOn("after " + name + " has lost its tail")
	return true
}

// inputLosesTail truncates a partition of the input to its end, as an unclean election
// does, and may fill it again with other records. If what is lost was decided, the
// learner must notice it, and so must the next one. A learner may also notice that
// offsets are lost that it has read but not decided, because they have no record.
func (w *world) inputLosesTail() bool {
	w.alone()
	p := w.learning()
	w.steps("a learner before the input loses its tail", func() bool { return w.over(p) || w.caughtUp() })
	i := w.more.IntN(w.parts)
	part := w.c.part(w.input, int32(i))
	if w.violation != "" || len(part.batches) < 4 {
		return w.violation != "" || w.instead()
	}
	whole := *part
	whole.batches = slices.Clone(part.batches)
	n, more := 1+w.more.IntN(3), w.more.IntN(3)*w.more.IntN(20)
	if part.splits(n) {
		n++
	}
	w.c.mu.Lock()
	for _, b := range part.batches[len(part.batches)-n:] {
		w.note("to be lost: offsets %d to %d, attributes %#x", b.base, b.last, binary.BigEndian.Uint16(b.raw[21:]))
	}
	part.cut(n)
	from := part.end
	if more > 0 || w.more.IntN(2) == 0 {
		part.elect(0)
	}
	w.c.mu.Unlock()
	what := fmt.Sprintf("partition %d of the input has lost its last %d batches, and has %d other records in their place", i, n, more)
	for k := range more {
		r := ingest.Record{Time: 1, Key: fmt.Append(nil, k), Value: []byte(w.value())}
		if err := w.feeder.Publish(context.Background(), w.input, i, []ingest.Record{r}); err != nil {
			panic(err)
		}
	}
	d := w.decisions(int32(i), from)
	if d.next <= from || d.unmarked() && part.end >= d.next {
		w.expect = isErrHistory
		w.steps(what, func() bool { return w.over(p) || w.caughtUp() })
		w.alone()
		w.expect = nil
		d = w.decisions(int32(i), from) // also of what it had read before
	} else {
		w.ends(what, p, isErrHistory)
	}
	if w.violation != "" || d.next <= from || d.unmarked() && part.end >= d.next {
		*part = whole // for the oracle
		w.stopped = true
		return true
	}
	w.refused(what, isErrHistory)
	before := d.since
	nowhere := false
	w.command("rollback", func(ctx context.Context, c model.Config) error {
		_, err := admin.Rollback(ctx, c, admin.RollbackTo{Before: before})
		if errors.Is(err, admin.ErrNowhere) {
			beginning := int64(0)
			_, err = admin.Rollback(ctx, c, admin.RollbackTo{Seq: &beginning})
		}
		nowhere = errors.Is(err, admin.ErrNowhere)
		if nowhere {
			return nil
		}
		return err
	})
	if nowhere {
		*part = whole // for the oracle
		return true
	}
	w.stopped, w.rewound = false, true
	w.goOn("after the rollback of what was learned from lost input")
	w.command("verify", func(ctx context.Context, c model.Config) error {
		v, err := audit.Verify(ctx, c)
		if err == nil && v.Divergent > 0 {
			err = fmt.Errorf("%+v", v)
		}
		return err
	})
	return true
}

// splits reports whether a loss of the last n batches would separate a transaction that
// was aborted from its marker.
func (p *part) splits(n int) bool {
	first := p.batches[len(p.batches)-n]
	return slices.ContainsFunc(p.aborted, func(a aborted) bool { return a.last == first.base })
}

// decisions is what the log has of a partition of the input.
type decisions struct {
	next  int64     // first offset that is not decided
	since time.Time // of the first decision on an offset from a given one on
	gap   bool      // the last decision is a GAP
}

// unmarked reports whether the history has no fingerprint by which a partition that has
// lost its tail and was filled again could be recognised. See RELIABILITY.md.
func (d decisions) unmarked() bool { return d.gap }

// decisions returns the decisions in effect for a partition.
func (w *world) decisions(partition int32, from int64) (d decisions) {
	f := modellog.NewFold(0, 1<<30)
	decided := func(rec ingest.Record, to int64, gap bool) {
		if d.next, d.gap = to, gap; to > from && d.since.IsZero() {
			d.since = time.UnixMilli(rec.Time)
		}
	}
	for _, rec := range w.c.records(w.c.part(model.LogTopic(modelName), 0)) {
		v, err := f.Add(rec.Offset, rec.Key, rec.Value)
		if err != nil {
			panic(err)
		}
		switch r := v.Record.(type) {
		case *modellog.Batch:
			for _, g := range r.Ranges {
				if v.Counts() && g.Partition == partition {
					decided(rec, g.To, false)
				}
			}
		case *modellog.Gap:
			if v.Counts() && r.Partition == partition {
				decided(rec, r.To, true)
			}
		}
	}
	return d
}

// inputIsCreatedAgain replaces the input by a topic of the same name and content
// under a running learner.
func (w *world) inputIsCreatedAgain() bool {
	w.alone()
	w.finish("before the input is created again")
	p := w.learning()
	w.c.mu.Lock()
	w.c.topics[w.input].id[0] ^= 1
	w.c.mu.Unlock()
	what := "the input was created again under a learner"
	w.ends(what, p, isErrHistory)
	w.refused(what, isErrHistory)
	if w.config.OnGap == "record" { // the position after a GAP has no record that could be found again
		w.c.topics[w.input].id[0] ^= 1
		return true
	}
	w.adopt(admin.Adoption{})
	return true
}

// inputIsMirrored replaces the input by a topic of another name with the same
// records at other offsets, as a mirror to another cluster has them.
func (w *world) inputIsMirrored() bool {
	if w.config.OnGap == "record" { // as above
		return false
	}
	w.alone()
	w.finish("before the mirror")
	if w.more.IntN(2) == 0 { // decisions that no snapshot covers
		w.learning()
		w.alone()
	}
	old := w.input
	w.input = "mirrored"
	w.mirrors = append(w.mirrors, old)
	w.c.create(w.input, w.parts, w.c.topics[old].config)
	w.config.Topics = []string{w.input}
	for i, rs := range w.c.everything(old) {
		for len(rs) > 0 {
			n := min(len(rs), 1+w.more.IntN(20))
			if err := w.feeder.Publish(context.Background(), w.input, i, rs[:n]); err != nil {
				panic(err)
			}
			rs = rs[n:]
		}
	}
	w.refused("the input has another name", isErrHistory)
	w.adopt(admin.Adoption{Topics: map[string]string{old: w.input}})
	return true
}

// adopt runs accrete adopt, after which the model must go on.
func (w *world) adopt(a admin.Adoption) {
	unknown := false
	w.command("adopt", func(ctx context.Context, c model.Config) error {
		r, err := admin.Adopt(ctx, c, a)
		if errors.Is(err, admin.ErrAdopt) && strings.Contains(err.Error(), "is unknown") { // no record was read before the position
			unknown = true
			return nil
		}
		if err == nil && r.Record == nil {
			err = errors.New("there was nothing to adopt")
		}
		return err
	})
	if unknown {
		return
	}
	w.stopped = false
	w.goOn("after the adoption")
}
