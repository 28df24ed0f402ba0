package kernel

import "github.com/accrete-ml/accrete/internal/vec"

// mixedSum is a Sum in which some parts have features of their own. It is a Featured kernel: each
// of its random features belongs to one part, which is drawn with a probability in proportion to
// the part's weight. The first parameter is the index of the part. A prepared row begins with the
// number of inputs, followed by the prepared rows of all parts.
type mixedSum struct{ Sum }

// histogramSum is a mixedSum in which some parts require inputs of 0 or more.
type histogramSum struct {
	mixedSum
	nonNegative
}

// ofParts returns the Sum k as the type that its parts require.
func (k Sum) ofParts() Kernel {
	own, bounded := false, false
	for _, p := range k.Parts() {
		_, featured := p.(Featured)
		_, domain := p.(Bounded)
		own, bounded = own || featured, bounded || domain
	}
	switch {
	case bounded:
		return histogramSum{mixedSum: mixedSum{k}}
	case own:
		return mixedSum{k}
	}
	return k
}

func (k mixedSum) WithParts(parts []Scaled) Kernel {
	copy(k.kernels[:], parts)
	return k.ofParts()
}

func (k mixedSum) WithLengthScale(scale float64) Kernel {
	return k.WithParts(k.kernels.rescaled(scale))
}

// sizesOf is Sizes for a part. If the part is a kernel with frequencies, these take the place of
// parameters, and the row itself that of a prepared row.
func sizesOf(part Kernel, dim int) (parameters, prepared int) {
	if own, ok := part.(Featured); ok {
		return own.Sizes(dim)
	}
	return dim, dim
}

func (k mixedSum) Sizes(dim int) (parameters, prepared int) {
	for _, p := range k.Parts() {
		n, long := sizesOf(p, dim)
		parameters, prepared = max(parameters, n), prepared+long
	}
	return 1 + parameters, 1 + prepared
}

func (k mixedSum) Prepare(dst []float64, x []float32) {
	dst[0] = float64(len(x))
	dst = dst[1:]
	for _, p := range k.Parts() {
		_, long := sizesOf(p, len(x))
		if own, ok := p.(Featured); ok {
			own.Prepare(dst[:long], x)
		} else {
			for i, v := range x {
				dst[i] = float64(v)
			}
		}
		dst = dst[long:]
	}
}

// Pairs computes all random features of a part together.
func (k mixedSum) Pairs(dst, x, w []float64) {
	dim, features := int(x[0]), len(dst)/2
	size := len(w) / features
	scratch := make([]float64, len(w)+len(dst))
	for i, p := range k.kernels {
		if p == nil {
			break
		}
		n, long := sizesOf(p, dim)
		row := x[1 : 1+long]
		x = x[long:]
		own, ok := p.(Featured)
		numbers, pairs := scratch[:0], scratch[len(w):]
		for f := range features {
			v := w[f*size : (f+1)*size]
			switch {
			case int(v[0]) != i:
			case ok:
				numbers = append(numbers, v[1:1+n]...)
			default:
				dst[2*f+1], dst[2*f] = vec.Sincos(vec.Dot(row, v[1:1+n]))
			}
		}
		if len(numbers) == 0 {
			continue
		}
		pairs = pairs[:2*(len(numbers)/n)]
		own.Pairs(pairs, row, numbers)
		for f := range features {
			if int(w[f*size]) == i {
				dst[2*f], dst[2*f+1] = pairs[0], pairs[1]
				pairs = pairs[2:]
			}
		}
	}
}

func (k mixedSum) Sample(w []float32, dim int, s *Source) {
	all, _ := k.Sizes(dim)
	part := k.shares(len(w)/all, s)
	clear(w)
	for i, p := range k.Parts() {
		n, _ := sizesOf(p, dim)
		own := make([]float32, 0, len(w))
		for _, at := range part {
			if at == i {
				own = own[:len(own)+n]
			}
		}
		p.Sample(own, dim, s)
		for j, at := range part {
			if at == i {
				w[j*all] = float32(i)
				own = own[copy(w[j*all+1:j*all+1+n], own):]
			}
		}
	}
}
