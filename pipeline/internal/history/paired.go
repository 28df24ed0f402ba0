package history

import "math"

// paired compares the losses of two predictions for the same rows.
type paired struct {
	// compared is the sum of the weights, loss the weighted mean of the losses of the new way, and
	// mean that of the differences from the losses of the other. squares is the sum of the squares
	// of weight times deviation of the difference.
	compared, loss, mean, squares float64
}

// compare adds the loss of a row predicted in the new way, and its loss predicted in the other way.
func (p *paired) compare(loss, other, weight float64) {
	d := loss - other
	if math.IsInf(d, 0) || d != d || !(weight > 0) {
		return
	}
	p.compared += weight
	before := d - p.mean
	p.mean += float64(weight * before / p.compared)
	p.squares += float64(float64(weight*weight) * float64(before*(d-p.mean)))
	p.loss += float64(weight * (loss - p.loss) / p.compared)
}

// better reports whether the losses of the new way are less by more than chance. The variance of a
// mean with weights w is Σw²d²/(Σw)², in whatever unit the weights are.
func (p *paired) better() bool {
	deviation := math.Sqrt(p.squares / p.compared / p.compared)
	return p.mean+float64(surely*deviation) < 0
}
