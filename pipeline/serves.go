package pipeline

import "github.com/accrete-ml/accrete/pipeline/event"

// serves reports which snapshot scorers serve, if that has changed.
func (l *Learner) serves() {
	c, ok := l.journal.Serves() // learning does not wait for an append
	if ok && (l.served == nil || *l.served != c) {
		l.served = &c
		l.config.Report(event.Serving{Choice: c})
	}
}
