package bench

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/watch"
	"github.com/accrete-ml/accrete/internal/deviation"
	"github.com/accrete-ml/accrete/learner"
)

// report is the result for one set.
type report struct {
	Set       string          `json:"set"`
	Task      string          `json:"task"`
	Examples  int             `json:"examples"`
	Inputs    int             `json:"inputs"`
	Targets   int             `json:"targets"`
	Baselines watch.Baselines `json:"baselines"` // progressive
	Results   []result        `json:"results"`
	Peers     []peer          `json:"peers,omitempty"`
}

type result struct {
	Algorithm    string          `json:"algorithm"`
	Progressive  display.Figure  `json:"progressive"`
	Test         *display.Figure `json:"test"` // null for a stream
	Features     int             `json:"features"`
	Seconds      float64         `json:"seconds"`
	PerSecond    float64         `json:"examples_per_second"`
	PerCPUSecond float64         `json:"examples_per_cpu_second"`
	Intervals    []interval      `json:"intervals,omitempty"` // of each target, with --intervals
	Spread       *spread         `json:"spread,omitempty"`    // with --orders
}

func (c *Command) text(reports []report) string {
	var b strings.Builder
	for i, r := range reports {
		if i > 0 {
			b.WriteString("\n\n")
		}
		task, _ := learner.ParseTask(r.Task)
		fmt.Fprintf(&b, "%s: %s of %s, %s of %s\n", r.Set, r.Task, display.Targets(task, r.Targets), display.Count(int64(r.Examples), "example"), display.Count(int64(r.Inputs), "input"))
		fmt.Fprintf(&b, "%-16s %11s %11s %9s %11s %11s", "", "progressive", "test", "features", "examples/s", "per CPU s")
		classes, costs := c.showsClasses(r)
		if classes {
			b.WriteString(classHeader(c.Precision))
		}
		if costs {
			fmt.Fprintf(&b, " %9s %11s", "mean cost", "most prob.")
		}
		b.WriteString(deviationHeader(r))
		if c.Intervals > 0 {
			fmt.Fprintf(&b, " %9s %11s", "inside", "mean width")
		}
		row := func(name string, progressive float64) { fmt.Fprintf(&b, "\n%-16s %11.4f", name, progressive) }
		for _, a := range r.Results {
			row(a.Algorithm, a.Progressive.Value())
			test := ""
			if a.Test != nil {
				test = fmt.Sprintf("%.4f", a.Test.Value())
			}
			fmt.Fprintf(&b, " %11s %9s %11s %11s", test, display.Thousands(int64(a.Features)), display.Thousands(int64(a.PerSecond)), display.Thousands(int64(a.PerCPUSecond)))
			if classes {
				b.WriteString(classRow(figures(a)))
			}
			if f := figures(a); costs && f != nil && f.MeanCost != nil {
				fmt.Fprintf(&b, " %9.4f %11.4f", *f.MeanCost, *f.ProbableCost)
			}
			b.WriteString(deviationRow(a))
			for _, v := range a.Intervals[:min(1, len(a.Intervals))] {
				fmt.Fprintf(&b, " %9.4f %11.4g", v.Coverage, v.Width)
			}
		}
		b.WriteString(peersText(r, len(r.Results) > 0 && r.Results[0].Test == nil))
		row("linear", r.Baselines.Linear)
		row(display.Majority(task), r.Baselines.Majority)
		row("no change", r.Baselines.NoChange)
		b.WriteString(spreadText(r, classes))
	}
	return b.String()
}

// deviationOf returns the figures of the loss on the test rows, or on the rows of a stream. It
// returns nil if the loss has none.
func deviationOf(a result) *deviation.Figures {
	if a.Test != nil {
		return a.Test.Figures
	}
	return a.Progressive.Figures
}

// deviationHeader and deviationRow return the column headers and the cells of the figures of the
// loss.
func deviationHeader(r report) string {
	for _, a := range r.Results {
		switch f := deviationOf(a); {
		case f != nil && f.Crossed != nil:
			var b strings.Builder
			fmt.Fprintf(&b, " %11s", f.Name())
			for _, q := range f.Quantiles {
				fmt.Fprintf(&b, " %8s", fmt.Sprintf("<%v", *q.Tau))
			}
			return b.String() + fmt.Sprintf(" %8s", "crossed")
		case f != nil && f.Below != nil:
			return fmt.Sprintf(" %11s %8s", f.Name(), "below")
		case f != nil:
			return fmt.Sprintf(" %11s", f.Name())
		}
	}
	return ""
}

func deviationRow(a result) string {
	f := deviationOf(a)
	switch {
	case f == nil:
		return ""
	case f.Crossed != nil:
		var b strings.Builder
		fmt.Fprintf(&b, " %11.4g", f.Value())
		for _, q := range f.Quantiles {
			fmt.Fprintf(&b, " %8.4f", *q.Below)
		}
		return b.String() + fmt.Sprintf(" %8.4f", *f.Crossed)
	case f.Below != nil:
		return fmt.Sprintf(" %11.4g %8.4f", f.Value(), *f.Below)
	}
	return fmt.Sprintf(" %11.4g", f.Value())
}

// figures returns the figures of the classes on the test rows, or of the progressive predictions of
// a stream.
func figures(a result) *display.Classes {
	if a.Test != nil {
		return a.Test.Classes
	}
	return a.Progressive.Classes
}

// showsClasses reports whether the table of a set has the columns of classHeader, and whether it
// has those of costs.
func (c *Command) showsClasses(r report) (classes, costs bool) {
	for _, a := range r.Results {
		f := figures(a)
		if f == nil {
			continue
		}
		costs = costs || f.MeanCost != nil
		classes = classes || f.Curve != nil && (c.ClassFigures || c.Costs != "none" || f.Imbalanced())
	}
	return classes, costs
}

// classHeader and classRow return the column headers and the cells of the figures of the classes.
func classHeader(precision float64) string {
	return fmt.Sprintf(" %8s %8s %8s %8s %8s %8s", "AUC", "PR-AUC", "F1", "best F1", fmt.Sprintf("rec@%.3g", precision), "balanced")
}

func classRow(f *display.Classes) string {
	if f == nil || f.Curve == nil {
		return ""
	}
	return fmt.Sprintf(" %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f", f.AUC, f.PRAUC, f.F1, f.BestF1, f.Recall, f.BalancedError)
}
