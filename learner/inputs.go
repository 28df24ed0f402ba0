package learner

import (
	"math"

	"github.com/accrete-ml/accrete/learner/divergence"
	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Inputs is what the monitor of the inputs has found: see Config.Monitor. Distances are
// divided by the threshold of an alarm.
type Inputs struct {
	Rows     int64   `json:"rows"`        // labelled or not, so far
	Compared int64   `json:"comparisons"` // of a block with its reference
	Distance float64 `json:"distance"`    // of the last one
	Alarms   int64   `json:"alarms"`
	AlarmAt  int64   `json:"last_alarm"` // row of the last alarm; 0 without one
	Height   float64 `json:"height"`     // its distance
	Moved    []int   `json:"-"`          // columns whose distance was above the threshold then, the largest first; none if only their dependence has changed; at most 20
}

// mostMoved bounds Inputs.Moved.
const mostMoved = 20

// inputs watches the raw rows.
type inputs struct {
	monitor *divergence.Monitor // nil before the first row
	rows    int                 // in a block
	found   Inputs
}

// Inputs returns what the monitor has found, and nil without Config.Monitor.
func (l *Learner) Inputs() *Inputs {
	if l.inputs == nil {
		return nil
	}
	f := l.inputs.found
	return &f
}

// add takes the first rows of b, which have been predicted, into account.
func (w *inputs) add(b *Batch, rows int) {
	if w.monitor == nil {
		w.monitor = divergence.NewMonitor(b.Dim(), w.rows)
	}
	for from := 0; from < rows; {
		if w.monitor.Starting() {
			w.monitor.Ignore(Clocks(b.types))
		}
		n, s := w.monitor.Add(b.x[from*b.dim : rows*b.dim])
		from += n
		w.found.Rows += int64(n)
		if s == nil {
			continue
		}
		w.found.Compared++
		w.found.Distance = s.Distance
		if s.Alarm {
			w.found.Alarms++
			w.found.AlarmAt, w.found.Height = w.found.Rows, s.Distance
			w.found.Moved = s.Moved()
			w.found.Moved = w.found.Moved[:min(len(w.found.Moved), mostMoved)]
		}
	}
}

// Clocks returns the columns that a monitor of the inputs has to ignore, as they change all
// the time: times, and keys of records. It returns nil if there are none.
func Clocks(types []ColumnType) (columns []bool) {
	for j, t := range types {
		switch t {
		case TimeColumn, TrendColumn, SinceColumn, RecordKeyColumn:
			if columns == nil {
				columns = make([]bool, len(types))
			}
			columns[j] = true
		}
	}
	return columns
}

// inputCounts are the columns of the array "monitor.found".
const inputCounts = 4

func (w *inputs) save(a *state.Arrays) {
	f := &w.found
	moved := make([]int64, len(f.Moved))
	for i, j := range f.Moved {
		moved[i] = int64(j)
	}
	state.Put(a, "monitor.found", inputCounts, []int64{f.Rows, f.Compared, f.Alarms, f.AlarmAt})
	state.Put(a, "monitor.distance", 2, []float64{f.Distance, f.Height})
	state.Put(a, "monitor.moved", 1, moved)
	if f.Rows > 0 {
		w.monitor.Save(a)
	}
}

// loadInputs returns what save wrote for rows of dim values.
func loadInputs(s *state.Reader, rows, dim int) *inputs {
	w := &inputs{rows: rows, found: takeInputs(s, dim)}
	if w.found.Rows == 0 || s.Err != nil {
		return w
	}
	w.monitor = divergence.NewMonitor(dim, rows)
	w.monitor.Load(s, w.found.Rows)
	return w
}

func takeInputs(s *state.Reader, dim int) (f Inputs) {
	counts := state.Take[int64](s, "monitor.found", 1, inputCounts)
	distances := state.Take[float64](s, "monitor.distance", 1, 2)
	moved := state.Take[int64](s, "monitor.moved", state.AnySize, 1)
	if s.Err != nil {
		return f
	}
	f = Inputs{Rows: counts[0], Compared: counts[1], Alarms: counts[2], AlarmAt: counts[3], Distance: distances[0], Height: distances[1]}
	s.Require(f.Rows >= 0 && f.Rows < 1<<60 && f.Compared >= 0 && f.Compared <= f.Rows && f.Alarms >= 0 && f.Alarms <= f.Compared && f.AlarmAt >= 0 && f.AlarmAt <= f.Rows, "monitor: counts are %v", counts)
	s.Require(f.Rows == 0 || dim > 0, "monitor: rows without values")
	s.Require(f.Distance >= 0 && f.Height >= 0, "monitor: distances are %v", distances)
	s.Require(len(moved) <= mostMoved, "monitor: %d columns have moved", len(moved))
	for _, j := range moved {
		s.Require(j >= 0 && int(j) < dim, "monitor: column %d of %d has moved", j, dim)
		f.Moved = append(f.Moved, int(j))
	}
	return f
}

// SavedInputs returns what the monitor of the inputs had found by a State, from its
// resuming part, and nil if the Learner had none.
func SavedInputs(resuming []Array) (*Inputs, error) {
	for i, a := range resuming {
		if a.Name == "monitor.found" {
			s := &state.Reader{In: resuming[i:]}
			f := takeInputs(s, math.MaxInt)
			return &f, s.Err
		}
	}
	return nil, nil
}
