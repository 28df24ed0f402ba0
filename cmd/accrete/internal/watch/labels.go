package watch

import (
	"fmt"
	"time"
)

// labelled observes how often records with labels arrive, because without them nothing
// is learned, however many records are predicted.
type labelled struct {
	first, last time.Time // of the batches with labels
	batches     int64     // of them
	unlabelled  int64     // records since last
}

// patient is how many mean intervals between labels may pass without one.
const patient = 20

// observe takes in a batch at the time now and returns why the labels are not as they
// should be, if they are not: none has come for NoProgress and for twenty times the
// mean interval between batches with labels, while records without labels have.
func (l *labelled) observe(learned, predicted int64, now time.Time) (reason string) {
	if learned > 0 {
		if l.batches == 0 {
			l.first = now
		}
		l.last, l.unlabelled = now, 0
		l.batches++
		return ""
	}
	l.unlabelled += predicted
	silence := now.Sub(l.last)
	if l.batches < 2 || silence <= max(NoProgress, patient*l.last.Sub(l.first)/time.Duration(l.batches-1)) {
		return ""
	}
	return fmt.Sprintf("no labels for %v: %d records were predicted since, and nothing was learned", silence.Truncate(time.Second), l.unlabelled)
}

// never counts the records of a model that has not had a label yet.
type never struct {
	records int64
	said    bool
}

// manyUnlabelled is how many records without a label a new model may have before that is logged.
const manyUnlabelled = 1000

// observe takes in records without a label and reports whether to log them now, which is once.
func (n *never) observe(records int64) bool {
	n.records += records
	if n.said || n.records < manyUnlabelled {
		return false
	}
	n.said = true
	return true
}

// Stopped logs at the end of a run that no record has had a label, unless that has been logged.
func (w *Watch) Stopped() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now.Examples == 0 && w.never.records > 0 && !w.never.said {
		w.unlabelled()
	}
}

// unlabelled logs that a model learns nothing, as with a misspelt input.label.
func (w *Watch) unlabelled() {
	w.log.Warn().Int64("records", w.never.records).Msg("no record has had a label yet, so nothing was learned: check input.label")
}
