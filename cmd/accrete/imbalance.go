package main

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
)

// classFlags select the figures of classes.
type classFlags struct {
	Precision    float64 `default:"0.9" help:"Precision at which to report the recall of a class (${default})."`
	ClassFigures bool    `name:"class-figures" help:"Print AUC, PR-AUC, recall, F1 and balanced error of every classification (default: if one of two classes has less than 20 % of the rows). --json always has them."`
}

// Validate rejects a precision out of range. Kong calls it.
func (c *classFlags) Validate() error {
	if !(c.Precision > 0 && c.Precision <= 1) {
		return fmt.Errorf("--precision %v: want more than 0 and at most 1", c.Precision)
	}
	return nil
}

// shows reports whether the text has the figures.
func (c *classFlags) shows(f display.Figure) bool {
	return f.Classes != nil && (c.ClassFigures || f.Classes.Imbalanced())
}

// text returns the lines of fit for the figures, empty if they are not shown.
func (c *classFlags) text(r fitReport) string {
	var b strings.Builder
	line := func(name string, f *display.Figure) {
		if f == nil || !c.shows(*f) {
			return
		}
		if b.Len() == 0 {
			fmt.Fprintf(&b, "classes      %s\n", f.Classes.Label())
		}
		fmt.Fprintf(&b, "%-12s %v\n", name, f.Classes)
	}
	line("progressive", &r.Progressive)
	line("test", r.Test)
	return b.String()
}

// benchFigures returns the columns of bench: those of the test set, or of the progressive
// predictions of a stream.
func benchFigures(a benchResult) *display.Classes {
	if a.Test != nil {
		return a.Test.Classes
	}
	return a.Progressive.Classes
}

// table reports whether bench shows the columns for a set.
func (c *classFlags) table(r benchReport) bool {
	for _, a := range r.Results {
		if f := benchFigures(a); f != nil && f.Curve != nil && (c.ClassFigures || f.Imbalanced()) {
			return true
		}
	}
	return false
}

// classHeader and classRow are the columns of bench.
func classHeader(precision float64) string {
	return fmt.Sprintf(" %8s %8s %8s %8s %8s %8s", "AUC", "PR-AUC", "F1", "best F1", fmt.Sprintf("rec@%.3g", precision), "balanced")
}

func classRow(f *display.Classes) string {
	if f == nil || f.Curve == nil {
		return ""
	}
	return fmt.Sprintf(" %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f", f.AUC, f.PRAUC, f.F1, f.BestF1, f.Recall, f.BalancedError)
}
