package history

import "math"

// paired compares the losses of two predictions for the same rows.
type paired struct {
	compared, loss, mean, squares float64 // sum of the weights; mean and squares are of the differences of the losses, squares with those of the weights
}

// compare adds the losses of a row by the new way to predict and by the other.
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

// better reports whether the losses of the new way are less by more than chance. The variance of
// a mean with weights w is Σw²d²/(Σw)², whatever the unit of the weights.
func (p *paired) better() bool {
	deviation := math.Sqrt(p.squares / p.compared / p.compared)
	return p.mean+float64(surely*deviation) < 0
}
