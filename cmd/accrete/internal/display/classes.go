package display

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/internal/ranking"
)

// Classes are the figures of a classification beside its error.
type Classes struct {
	Class string  `json:"class,omitempty"` // the rarer of two classes
	Share float64 `json:"share,omitempty"` // share of the rows that are of this class
	*ranking.Figures
}

// NewClasses returns f with the name of the class, and nil if f is nil.
func NewClasses(f *ranking.Figures, names []string) *Classes {
	if f == nil {
		return nil
	}
	c := &Classes{Figures: f}
	for j := range f.Each[:min(len(f.Each), len(names))] {
		f.Each[j].Class = names[j]
	}
	if f.Class != nil {
		c.Share = f.Share
		if *f.Class < len(names) {
			c.Class = names[*f.Class]
		}
	}
	return c
}

// Imbalanced reports whether one of two classes is so rare that the error says little.
func (c *Classes) Imbalanced() bool { return c != nil && c.Figures.Imbalanced() }

// String formats the figures in one line.
func (c *Classes) String() string {
	var b strings.Builder
	if c.Curve != nil {
		fmt.Fprintf(&b, "AUC %.4f, PR-AUC %.4f, recall %.4f at precision %v, ", c.AUC, c.PRAUC, c.Recall, c.Precision)
	}
	fmt.Fprintf(&b, "F1 %.4f", c.F1)
	if c.Curve != nil && c.BestThreshold != nil {
		fmt.Fprintf(&b, " (at best %.4f, threshold %.4g)", c.BestF1, *c.BestThreshold)
	} else if c.Curve != nil {
		fmt.Fprintf(&b, " (at best %.4f)", c.BestF1)
	}
	fmt.Fprintf(&b, ", balanced error %.4f", c.BalancedError)
	fmt.Fprintf(&b, ", log loss %.4f, calibration error %.4f", c.LogLoss, c.CalibrationError)
	if c.MeanCost != nil {
		fmt.Fprintf(&b, ", mean cost %.4f (of the most probable class %.4f)", *c.MeanCost, *c.ProbableCost)
	}
	return b.String()
}

// Label returns what the figures describe: the rarer class and its share, or the number of classes.
func (c *Classes) Label() string {
	if c.Class != "" {
		return fmt.Sprintf("class %q, %.2f %% of the rows", c.Class, 100*c.Share)
	}
	return fmt.Sprintf("mean of %s, each against the rest", Count(int64(c.Figures.Classes), "class"))
}
