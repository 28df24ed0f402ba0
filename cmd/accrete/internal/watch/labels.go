package watch

import (
	"fmt"
	"time"
)

// labelled observes how often records with labels arrive, because without them nothing
// is learned, however many records are predicted.
type labelled struct {
	first, last time.Time // of the batches with labels
	batches     int64     // number of batches with labels
	unlabelled  int64     // records since last
	since       time.Time // of the first of these
}

// patient is how many mean intervals between labels may pass without one.
const patient = 20

// observe takes a batch at the time now into account. It returns a reason if there should have been
// labels: if records have arrived without any for NoProgress and for patient times the mean interval
// between batches with labels. Otherwise, also if no records have arrived, the reason is empty.
func (l *labelled) observe(learned, predicted int64, now time.Time) (reason string) {
	if learned > 0 {
		if l.batches == 0 {
			l.first = now
		}
		l.last, l.unlabelled = now, 0
		l.batches++
		return ""
	}
	if l.unlabelled == 0 {
		l.since = now
	}
	l.unlabelled += predicted
	if l.batches < 2 || l.unlabelled == 0 || now.Sub(l.since) <= max(NoProgress, patient*l.last.Sub(l.first)/time.Duration(l.batches-1)) {
		return ""
	}
	return fmt.Sprintf("no labels for %v: %d records were predicted since, and nothing was learned", now.Sub(l.last).Truncate(time.Second), l.unlabelled)
}

// never counts the records of a model that has never had a label.
type never struct {
	records int64
	said    bool
}

// manyUnlabelled is the number of records after which a model that has never had a label logs that.
const manyUnlabelled = 1000

// observe counts records without a label and reports whether to log them now. It does so once.
func (n *never) observe(records int64) bool {
	n.records += records
	if n.said || n.records < manyUnlabelled {
		return false
	}
	n.said = true
	return true
}

// Stopped logs, at the end of a run, that no record has had a label, unless that was logged before.
func (w *Watch) Stopped() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now.Examples == 0 && w.never.records > 0 && !w.never.said {
		w.unlabelled()
	}
}

// unlabelled logs that nothing was learned, for example because input.label is misspelt.
func (w *Watch) unlabelled() {
	w.log.Warn().Int64("records", w.never.records).Msg("no record has had a label yet, so nothing was learned: check input.label")
}
