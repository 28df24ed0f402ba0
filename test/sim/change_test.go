package sim

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/model"
)

// operatorRollsBack returns to an earlier snapshot or time, with accrete rollback. A
// running learner is fenced by it, and the next one learns the records again.
func (w *world) operatorRollsBack() bool {
	w.alone()
	w.finish("before the rollback")
	var p *process
	if w.more.IntN(2) == 0 {
		p = w.learning()
	}
	if w.violation != "" {
		return true
	}
	log := w.c.part(model.LogTopic(modelName), 0)
	f := w.fold(log)
	to := admin.RollbackTo{Reason: "the operator wants it"}
	if kept := f.Snapshots(); w.more.IntN(2) == 0 {
		to.Step = &kept[w.more.IntN(len(kept))].Manifest.Step
	} else {
		rs := w.c.records(log)
		to.Before = time.UnixMilli(rs[w.more.IntN(len(rs))].Time)
	}
	var report admin.RollbackReport
	nowhere := false
	w.command(fmt.Sprintf("rollback to %+v", to), func(ctx context.Context, c model.Config) (err error) {
		report, err = admin.Rollback(ctx, c, to)
		if errors.Is(err, admin.ErrNowhere) && (p != nil || !to.Before.IsZero()) { // a running learner trims its log
			nowhere = true
			return nil
		}
		return err
	})
	if last := w.lastDecision(log); w.violation == "" && !nowhere && report.Record == nil && !to.Before.IsZero() && !last.Before(to.Before) {
		w.fail("a rollback to before %v has nothing to do, and the last decision is of %v", to.Before, last)
	}
	if p != nil && report.Record != nil {
		w.ends("a rollback under a learner", p, func(err error) bool { return errors.Is(err, pipeline.ErrFenced) })
	}
	w.alone()
	w.goOn("after the rollback")
	return true
}

// lastDecision returns the time of the last decision in the log.
func (w *world) lastDecision(log *part) (last time.Time) {
	for _, rec := range w.c.records(log) {
		switch string(rec.Key) {
		case "batch", "gap", "rollback", "adopt", "upgrade":
			last = time.UnixMilli(rec.Time)
		}
	}
	return last
}

// anotherArithmetic makes the log one of a program with another arithmetic. A learner
// must refuse it before it claims the model, and may continue it with an UPGRADE.
func (w *world) anotherArithmetic() bool {
	w.alone()
	w.finish("before the change of version")
	if w.violation != "" {
		return true
	}
	log := w.c.part(model.LogTopic(modelName), 0)
	mine := w.config.Versions().Arithmetic
	other := mine + 1
	if mine%10 == 9 {
		other = mine - 1 // of as many digits, because the records keep their length
	}
	was, is := fmt.Appendf(nil, `"arithmetic":%d,`, mine), fmt.Appendf(nil, `"arithmetic":%d,`, other)
	w.c.mu.Lock()
	for i := range log.batches {
		if b := &log.batches[i]; bytes.Contains(b.raw, was) && b.good == nil {
			b.raw = bytes.ReplaceAll(b.raw, was, is)
			seal(b.raw)
		}
	}
	end := log.end
	w.c.mu.Unlock()
	w.refused("a log of another arithmetic", func(err error) bool { return errors.Is(err, model.ErrVersion) })
	w.stopped = false
	if w.violation == "" && log.end != end {
		w.fail("a learner that refuses another arithmetic has written to the log")
	}
	w.config.Upgrade = true
	w.goOn("after the upgrade")
	w.config.Upgrade = false
	w.goOn("without --upgrade, after the upgrade")
	if f := w.fold(log); w.violation == "" && f.Arithmetic() != mine {
		w.fail("after the upgrade the log is of arithmetic %d", f.Arithmetic())
	}
	return true
}

// partitionIsAdded adds a partition to the input of a running learner, which must
// find it within 30 s.
func (w *world) partitionIsAdded() bool {
	w.alone()
	p := w.learning()
	w.c.mu.Lock()
	t := w.c.topics[w.input]
	t.parts = append(t.parts, newPart())
	w.c.mu.Unlock()
	w.parts++
	rs := []ingest.Record{{Time: 1, Value: []byte(w.value())}, {Time: 2, Value: []byte(w.value())}}
	if err := w.own.Producer().Publish(context.Background(), w.input, w.parts-1, rs); err != nil {
		panic(err)
	}
	w.fed += len(rs)
	w.feed(10)
	since := time.Now()
	w.steps("learning from an added partition", func() bool { return w.over(p) || w.caughtUp() || time.Since(since) > 30*time.Second })
	if w.violation == "" && !w.caughtUp() {
		w.fail("a partition was added and is not learned from after 30 s: %v", p.err)
	}
	w.alone()
	w.goOn("with an added partition")
	return true
}

// transactionHangs leaves a transaction open in the input. The learner must stop
// before it, report a lag beyond it, and go on when it ends.
func (w *world) transactionHangs() bool {
	w.alone()
	p := w.learning()
	i := w.more.IntN(w.parts)
	part := w.c.part(w.input, int32(i))
	publish := func(n int) {
		var rs []ingest.Record
		for range n {
			rs = append(rs, ingest.Record{Time: 1_000 + int64(w.fed), Value: []byte(w.value())})
			w.fed++
		}
		if err := w.feeder.Publish(context.Background(), w.input, i, rs); err != nil {
			panic(err)
		}
	}
	publish(1 + w.more.IntN(5))
	w.c.mu.Lock()
	w.c.producers++
	id := w.c.producers
	b := &part.batches[len(part.batches)-1]
	binary.BigEndian.PutUint16(b.raw[21:], transactional)
	binary.BigEndian.PutUint64(b.raw[43:], uint64(id))
	seal(b.raw)
	part.open[id] = b.base
	from := b.base
	w.c.mu.Unlock()
	publish(1 + w.more.IntN(5))
	w.steps("a transaction hangs", func() bool {
		p.mu.Lock()
		l := p.lags[int32(i)]
		p.mu.Unlock()
		return w.over(p) || w.caughtUp() && l.Next == from && l.Stable == from && l.End == part.end
	})
	if w.violation == "" && w.over(p) {
		w.fail("a transaction hangs: the learner ended with: %v", p.err)
	}
	w.c.mu.Lock()
	commit := w.more.IntN(2) == 0
	delete(part.open, id)
	if !commit {
		part.abort(id, from)
	}
	w.c.store(part, marker(id, 0, commit))
	w.c.mu.Unlock()
	w.steps("the transaction has ended", func() bool { return w.over(p) || w.caughtUp() })
	w.alone()
	w.goOn("after the transaction")
	return true
}
