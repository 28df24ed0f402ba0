package divergence

import (
	"math"

	"github.com/accrete-ml/accrete/learner/internal/state"
)

// Found is what a Watch has found. Distances are divided by the threshold of an alarm.
type Found struct {
	Rows     int64   `json:"rows"`        // labelled or not, rows so far
	Compared int64   `json:"comparisons"` // comparisons of a block with the reference
	Distance float64 `json:"distance"`    // of the last comparison
	Alarms   int64   `json:"alarms"`
	AlarmAt  int64   `json:"last_alarm"` // row of the last alarm; 0 without one
	Height   float64 `json:"height"`     // distance of the last alarm
	// the columns whose distance was above the threshold at the last alarm, the largest distance
	// first, at most 20; none if only the dependence of the columns has changed
	Moved []int `json:"-"`
}

// mostMoved bounds Found.Moved.
const mostMoved = 20

// A Watch counts the alarms of a Monitor of raw rows.
type Watch struct {
	monitor *Monitor // nil before the first row
	rows    int      // in a block
	seen    bool     // see Monitor
	found   Found
}

// NewWatch returns a Watch that compares blocks of that many rows. If seen, any value that is in no
// row of the reference causes an alarm, as in models before the thirteenth version of the warm-up.
func NewWatch(rows int, seen bool) *Watch { return &Watch{rows: rows, seen: seen} }

func (w *Watch) begin(dim int) {
	w.monitor = NewMonitor(dim, w.rows)
	w.monitor.seen = w.seen
}

// Found returns what w has found.
func (w *Watch) Found() Found { return w.found }

// Add takes rows x of dim values into account. ignored marks the columns that are not compared; nil
// if all are compared. It has an effect only on the first rows of a reference.
func (w *Watch) Add(x []float64, dim int, ignored []bool) {
	if w.monitor == nil {
		w.begin(dim)
	}
	for from, rows := 0, len(x)/dim; from < rows; {
		if w.monitor.Starting() {
			w.monitor.Ignore(ignored)
		}
		n, s := w.monitor.Add(x[from*dim:])
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

// foundCounts are the columns of the array "monitor.found".
const foundCounts = 4

// Save adds w to the state of a learner.
func (w *Watch) Save(a *state.Arrays) {
	f := &w.found
	moved := make([]int64, len(f.Moved))
	for i, j := range f.Moved {
		moved[i] = int64(j)
	}
	state.Put(a, "monitor.found", foundCounts, []int64{f.Rows, f.Compared, f.Alarms, f.AlarmAt})
	state.Put(a, "monitor.distance", 2, []float64{f.Distance, f.Height})
	state.Put(a, "monitor.moved", 1, moved)
	if f.Rows > 0 {
		w.monitor.Save(a)
	}
}

// Load reads what Save wrote for rows of dim values into a Watch without rows.
func (w *Watch) Load(s *state.Reader, dim int) {
	w.found = takeFound(s, dim)
	if w.found.Rows == 0 || s.Err != nil {
		return
	}
	w.begin(dim)
	w.monitor.Load(s, w.found.Rows)
}

func takeFound(s *state.Reader, dim int) (f Found) {
	counts := state.Take[int64](s, "monitor.found", 1, foundCounts)
	distances := state.Take[float64](s, "monitor.distance", 1, 2)
	moved := state.Take[int64](s, "monitor.moved", state.AnySize, 1)
	if s.Err != nil {
		return f
	}
	f = Found{Rows: counts[0], Compared: counts[1], Alarms: counts[2], AlarmAt: counts[3], Distance: distances[0], Height: distances[1]}
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

// Saved returns what a Watch had found when the state of its learner was saved, from the part of
// the state that is needed for resuming. It returns nil if the learner had no Watch.
func Saved(resuming []state.Array) (*Found, error) {
	for i, a := range resuming {
		if a.Name == "monitor.found" {
			s := &state.Reader{In: resuming[i:]}
			f := takeFound(s, math.MaxInt)
			return &f, s.Err
		}
	}
	return nil, nil
}
