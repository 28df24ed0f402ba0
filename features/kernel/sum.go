package kernel

import (
	"strconv"
	"strings"
)

// Sum is the weighted mean of its parts, Σ wᵢ kᵢ / Σ wᵢ. Each frequency belongs to one part, which
// is drawn with a probability in proportion to its weight.
type Sum struct {
	kernels parts
	weights [maxParts]float64
}

// String returns the parts with plus signs between them. Unless all weights are 1, each part
// follows its weight and an asterisk.
func (k Sum) String() string {
	var terms []string
	weighted := false
	all := k.Parts()
	for i := range all {
		weighted = weighted || k.weights[i] != 1
	}
	for i, p := range all {
		if weighted {
			terms = append(terms, strconv.FormatFloat(k.weights[i], 'g', -1, 64)+"*"+p.String())
		} else {
			terms = append(terms, p.String())
		}
	}
	return strings.Join(terms, "+")
}

func (k Sum) Parts() []Scaled      { return k.kernels.all() }
func (k Sum) LengthScale() float64 { return k.kernels.lengthScale() }

func (k Sum) WithLengthScale(scale float64) Kernel { return k.WithParts(k.kernels.rescaled(scale)) }

func (k Sum) WithParts(parts []Scaled) Kernel {
	copy(k.kernels[:], parts)
	return k
}

func (k Sum) Eval(x, y []float64) float64 {
	sum := 0.0
	for i, p := range k.Parts() {
		sum += float64(k.weights[i] * p.Eval(x, y))
	}
	return sum / k.total()
}

func (k Sum) total() float64 {
	sum := 0.0
	for _, w := range k.weights {
		sum += w
	}
	return sum
}

// shares assigns n random features to the parts, and returns the part of each feature. It uses
// steps of the golden ratio from a random start, so that each part has nearly its share of a block.
func (k Sum) shares(n int, s *Source) []int {
	at, total := s.Uint64(), k.total()
	part := make([]int, n)
	for i := range part {
		rest := unit(at) * total
		for part[i] < len(k.weights)-1 && k.weights[part[i]+1] > 0 && rest >= k.weights[part[i]] {
			rest -= k.weights[part[i]]
			part[i]++
		}
		at += golden
	}
	return part
}

func (k Sum) Sample(w []float32, dim int, s *Source) {
	part := k.shares(len(w)/dim, s)
	all := make([]float32, len(w))
	for i, p := range k.Parts() {
		own := all[:0]
		for _, at := range part {
			if at == i {
				own = own[:len(own)+dim]
			}
		}
		p.Sample(own, dim, s)
		for j, at := range part {
			if at == i {
				own = own[copy(w[j*dim:(j+1)*dim], own):]
			}
		}
	}
}
