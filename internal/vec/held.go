package vec

// HeldColumns is the number of columns in a panel of coefficients for HeldSum.
const HeldColumns = 8

// fewColumns is a number of first columns that take less time than all of them.
const fewColumns = 4

// HeldSum sets the first columns of dst, [HeldColumns][Lanes], to sums of features times
// coefficients, for a panel of rows. The other columns of dst are undefined afterwards. The
// coefficients a are [panels of frequencies][2][Panel][HeldColumns]. The features are in memory:
// those of panel p of the frequencies, [2][Panel][Lanes], begin at f[p*stride].
//
// The cosines of all frequencies are one float32 chain, in order from +0, and the sines another.
// The result is +0 plus their float64 sum, which is Sum for a single group.
func HeldSum(dst []float64, f []float32, stride int, a []float32, columns int) {
	panels := len(a) / (2 * Panel * HeldColumns)
	if panels < 1 || len(a) != panels*2*Panel*HeldColumns || stride < 2*Panel*Lanes || len(f) < (panels-1)*stride+2*Panel*Lanes || len(dst) != HeldColumns*Lanes || columns > HeldColumns {
		panic("vec: HeldSum of slices that do not fit together")
	}
	if columns <= fewColumns && active.heldSumFew != nil {
		active.heldSumFew(dst, f, stride, a)
		return
	}
	active.heldSum(dst, f, stride, a)
}

// Spread adds the features f of a run of rows, [panels of rows][2][Panel][Lanes], times their
// factors, [panels][stride][Lanes], to dst, [Panel][2][stride]. It uses the first scores of the
// factors and treats the others as 0. For a run, the result is the same as with Gradient and
// AddChains.
func Spread(dst []float64, f, factors []float32, scores, stride int, s *Scratch) {
	panels := len(f) / (2 * Panel * Lanes)
	if panels < 1 || panels*Lanes > Run || len(f) != panels*2*Panel*Lanes || scores < 1 || scores > stride || len(factors) < panels*stride*Lanes || len(dst) != Panel*2*stride {
		panic("vec: Spread of slices that do not fit together")
	}
	active.spreadSum(dst, f, factors, scores, stride, s)
}

func heldSumGeneric(dst []float64, f []float32, stride int, a []float32) {
	for c := range HeldColumns {
		for i := range Lanes {
			var sums [2]float32
			for h := range sums {
				for p := range len(a) / (2 * Panel * HeldColumns) {
					x, b := f[p*stride+h*Panel*Lanes:], a[(2*p+h)*Panel*HeldColumns:]
					for j := range Panel {
						sums[h] = FMA(x[j*Lanes+i], b[j*HeldColumns+c], sums[h])
					}
				}
			}
			dst[c*Lanes+i] = float64(sums[0]) + float64(sums[1]) + 0
		}
	}
}

func spreadSumGeneric(dst []float64, f, factors []float32, scores, stride int, s *Scratch) {
	acc := s.chains(Panel * 2 * scores * width)
	for i := range len(f) / (2 * Panel * Lanes) {
		t := f[i*2*Panel*Lanes:]
		for j := range Panel {
			copy(s.tile.cos[j][:], t[j*Lanes:])
			copy(s.tile.sin[j][:], t[(Panel+j)*Lanes:])
		}
		s.tile.spread(acc, factors[i*stride*Lanes:], scores)
	}
	for row := range 2 * Panel {
		addChainsGeneric(dst[row*stride:row*stride+scores], acc[row*scores*width:(row+1)*scores*width])
	}
}
