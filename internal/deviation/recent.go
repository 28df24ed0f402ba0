package deviation

import (
	"github.com/accrete-ml/accrete/internal/ranking"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
)

// Recent measures the last rows of a stream: at least ranking.RecentRows once there are that many,
// and fewer than twice that number. A nil Recent measures nothing.
type Recent struct {
	loss         loss.Loss
	older, newer *Meter
	rows         int // in newer
}

// NewRecent returns a Recent without rows, or nil for a loss without figures.
func NewRecent(l loss.Loss) *Recent {
	if New(l) == nil {
		return nil
	}
	return &Recent{loss: l, older: New(l), newer: New(l)}
}

// AddRow adds row i of p, as Meter.AddRow does.
func (r *Recent) AddRow(p *learner.Predictions, i int, y learner.Label, weight float64) {
	if r == nil {
		return
	}
	if r.rows == ranking.RecentRows {
		r.older, r.newer, r.rows = r.newer, New(r.loss), 0
	}
	r.older.AddRow(p, i, y, weight)
	r.newer.AddRow(p, i, y, weight)
	r.rows++
}

// Figures returns the figures for the recent rows, or nil if there are none.
func (r *Recent) Figures() *Figures {
	if r == nil {
		return nil
	}
	return r.older.Figures()
}
