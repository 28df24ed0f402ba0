package optim

import (
	"fmt"
	"math"
)

// groupSize returns the number of columns of a group that λ₁ penalises together, at least 1.
func (p *Problem) groupSize() int { return max(1, p.Group) }

// byColumn reports whether λ₁ penalises every column, each by itself.
func (p *Problem) byColumn() bool { return p.groupSize() == 1 && p.Exempt == 0 }

func (p *Problem) validateGroups() error {
	_, columns := p.A.Dims()
	switch {
	case p.Exempt < 0 || p.Exempt > columns:
		return fmt.Errorf("%d of %d columns exempt from l1: want 0 to %d", p.Exempt, columns, columns)
	case p.Group < 0 || (columns-p.Exempt)%p.groupSize() != 0:
		return fmt.Errorf("%d columns in groups of %d", columns-p.Exempt, p.Group)
	}
	return nil
}

// l1Norm returns the factor of λ₁ in P: the sum of the norms of the groups of x.
func (p *Problem) l1Norm(x []float64) float64 {
	var sum float64
	if p.byColumn() {
		for _, v := range x {
			sum += math.Abs(v)
		}
		return sum
	}
	size, end := p.groupSize(), len(x)-p.Exempt
	for from := 0; from < end; from += size {
		sum += norm(x[from : from+size])
	}
	return sum
}

// threshold moves each group of v towards 0 by the norm t, but not past it: the
// proximal map of t times l1Norm.
func (p *Problem) threshold(v []float64, t float64) {
	if p.byColumn() {
		for j := range v {
			v[j] = soft(v[j], t)
		}
		return
	}
	size, end := p.groupSize(), len(v)-p.Exempt
	for from := 0; from < end; from += size {
		thresholdGroup(v[from:from+size], t)
	}
}

// thresholdGroup is threshold for one group.
func thresholdGroup(v []float64, t float64) {
	square := 0.0
	for _, a := range v {
		square += float64(a * a)
	}
	keep := 0.0
	if square > float64(t*t) {
		keep = 1 - t/math.Sqrt(square)
	}
	for j := range v {
		v[j] *= keep
	}
}
