package papers

import (
	"fmt"
	"strings"
)

// Report is the result of the experiments.
type Report struct {
	Contests  []ContestReport  `json:"contests"`
	Neighbors []NeighborReport `json:"neighbors"`
}

// ContestReport is the result of the methods on one problem.
type ContestReport struct {
	Figure  string         `json:"figure"`
	Problem string         `json:"problem"`
	Methods []MethodReport `json:"methods"`

	curves []curve
}

// MethodReport is the result of one method on one problem.
type MethodReport struct {
	Method   string   `json:"method"`
	FirstGap float64  `json:"first_gap"`
	Gap      float64  `json:"gap"` // at the end
	Passes   float64  `json:"passes"`
	Seconds  float64  `json:"seconds"` // of processor time, here and below
	Reach    []*Reach `json:"reach"`   // one per goal; null for a goal that was not reached
}

// Reach is the effort needed to reach a gap.
type Reach struct {
	Gap     float64 `json:"gap"`
	Passes  float64 `json:"passes"`
	Seconds float64 `json:"seconds"`
}

// goals are the gaps at which methods are compared.
var goals = []float64{1e-2, 1e-4, 1e-6}

func newContestReport(c *contest, curves []curve) ContestReport {
	r := ContestReport{Figure: c.figure, Problem: c.title, curves: curves}
	for _, curve := range curves {
		first, last := curve.points[0], curve.points[len(curve.points)-1]
		m := MethodReport{Method: curve.name, FirstGap: first.Gap(), Gap: last.Gap(), Passes: last.Passes, Seconds: last.Seconds}
		for _, goal := range goals {
			var at *Reach
			for _, p := range curve.points {
				if p.Gap() <= goal {
					at = &Reach{goal, p.Passes, p.Seconds}
					break
				}
			}
			m.Reach = append(m.Reach, at)
		}
		r.Methods = append(r.Methods, m)
	}
	return r
}

func (r *Report) String() string {
	var b strings.Builder
	for _, c := range r.Contests {
		fmt.Fprintf(&b, "%s: %s\n%-16s %9s %9s", c.Figure, c.Problem, "", "first gap", "last gap")
		for _, goal := range goals {
			fmt.Fprintf(&b, " %17s", fmt.Sprintf("%.0e: passes, s", goal))
		}
		for _, m := range c.Methods {
			fmt.Fprintf(&b, "\n%-16s %9.1e %9.1e", m.Method, m.FirstGap, m.Gap)
			for _, at := range m.Reach {
				text := "-"
				if at != nil {
					text = fmt.Sprintf("%.0f, %.2f", at.Passes, at.Seconds)
				}
				fmt.Fprintf(&b, " %17s", text)
			}
		}
		b.WriteString("\n\n")
	}
	fmt.Fprintf(&b, "%-32s %15s %15s %15s %15s", "errors of 3 nearest neighbours", "euclidean", "one", "many", "one - many")
	for _, n := range r.Neighbors {
		fmt.Fprintf(&b, "\n%-32s %15v %15v %15v %15v", fmt.Sprintf("%s, %d splits", n.Tasks, n.Splits), n.Euclidean, n.One, n.Many, n.Gain)
	}
	return b.String()
}
