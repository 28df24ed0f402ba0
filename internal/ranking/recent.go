package ranking

// RecentRows is the least number of rows that Recent covers once there are that many. It covers
// fewer than twice that number.
const RecentRows = 10_000

// Recent measures the last rows of a stream. It begins a Meter every RecentRows rows, and returns
// the figures of the older of the last two.
type Recent struct {
	older, newer *Meter
	rows         int // in newer
}

// NewRecent returns a Recent without rows.
func NewRecent() *Recent { return &Recent{older: New(true), newer: New(true)} }

// Add adds a row, as Meter.Add does.
func (r *Recent) Add(p []float64, predicted, class int, weight float64) {
	if r.rows == RecentRows {
		r.older, r.newer, r.rows = r.newer, New(true), 0
	}
	r.older.Add(p, predicted, class, weight)
	r.newer.Add(p, predicted, class, weight)
	r.rows++
}

// AddCost adds the costs of the row that was added last, as Meter.AddCost does.
func (r *Recent) AddCost(paid, probable, weight float64) {
	r.older.AddCost(paid, probable, weight)
	r.newer.AddCost(paid, probable, weight)
}

// Figures returns the result of Meter.Figures for the recent rows.
func (r *Recent) Figures(precision float64) *Figures { return r.older.Figures(precision) }
