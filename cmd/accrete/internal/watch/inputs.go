package watch

import (
	"slices"
	"time"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// lastShift is the last change of the inputs that was logged.
type lastShift struct {
	at      time.Time
	columns []string
}

// shifted logs a change of the inputs. A change of the same columns as before is logged at most
// once a minute.
func (w *Watch) shifted(ev event.Shifted, now time.Time) {
	if slices.Equal(ev.Columns, w.shift.columns) && now.Sub(w.shift.at) < time.Minute {
		return
	}
	w.shift = lastShift{now, ev.Columns}
	w.log.Warn().Int64("row", ev.Inputs.AlarmAt).Float64("distance", ev.Inputs.Height).Strs("columns", ev.Columns).Msg("the inputs have changed: their distribution differs from that of the reference")
}

// inputs updates the metrics from the monitor of the inputs.
func (w *Watch) inputs(in *learner.Inputs) {
	if in == nil || in.Compared == 0 {
		return
	}
	w.metrics.InputDistance.Set(in.Distance)
	w.metrics.InputMoved.Set(float64(len(in.Moved)))
	w.metrics.InputChanges.Add(float64(max(0, in.Alarms-w.shifts)))
	w.shifts = in.Alarms
}
