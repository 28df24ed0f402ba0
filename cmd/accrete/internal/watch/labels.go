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
