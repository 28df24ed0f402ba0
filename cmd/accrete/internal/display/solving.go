package display

import (
	"fmt"
	"math"
	"time"

	"github.com/accrete-ml/accrete/refit/optim"
)

// Solving formats the progress of a refit. The time left assumes that the logarithm of the
// duality gap falls steadily, as it does for the solvers of package optim in theory.
type Solving struct {
	Relative float64 // duality gap to reach, relative to the objective at the beginning

	score int
	first optim.Point
	begun time.Time
}

// Text returns the progress at a point of the solution of one score.
func (s *Solving) Text(score int, at optim.Point, now time.Time) string {
	if s.begun.IsZero() || score != s.score {
		s.score, s.first, s.begun = score, at, now
	}
	text := fmt.Sprintf("refit: pass %.0f, duality gap %.2g", at.Passes, at.Gap())
	if score > 0 {
		text = fmt.Sprintf("refit of score %d: pass %.0f, duality gap %.2g", score+1, at.Passes, at.Gap())
	}
	share := math.Log(s.first.Gap()/at.Gap()) / math.Log(s.first.Gap()/(s.Relative*math.Abs(s.first.Primal)))
	return text + Left(now.Sub(s.begun), share)
}
