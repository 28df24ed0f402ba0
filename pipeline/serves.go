package pipeline

import (
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// serves reports which snapshot scorers serve, if that has changed. The goroutine that watches the
// log calls it, even while nothing is learned.
func (l *Learner) serves(c modellog.Choice) {
	if l.served == nil || *l.served != c {
		l.served = &c
		l.config.Report(event.Serving{Choice: c})
	}
}
