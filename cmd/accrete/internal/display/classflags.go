package display

import "fmt"

// ClassFlags select the figures of classes.
type ClassFlags struct {
	Precision    float64 `default:"0.9" help:"Precision at which to report the recall of a class (${default})."`
	ClassFigures bool    `name:"class-figures" help:"Print AUC, PR-AUC, recall, F1 and balanced error of every classification (default: if one of two classes has less than 20 % of the rows). --json always has them."`
}

// Validate rejects a precision out of range. Kong calls it.
func (c *ClassFlags) Validate() error {
	if !(c.Precision > 0 && c.Precision <= 1) {
		return fmt.Errorf("--precision is %v: want more than 0 and at most 1", c.Precision)
	}
	return nil
}

// Shows reports whether text output has the figures of the classes.
func (c *ClassFlags) Shows(f Figure) bool {
	return f.Classes != nil && (c.ClassFigures || f.Classes.Imbalanced() || f.Classes.MeanCost != nil)
}
