package vec

// CholeskySolves is CholeskySolve for each of the 8 columns of b, n x 8 and row-major,
// with the same bits.
func CholeskySolves(l []float64, n int, b []float64) {
	if n < 1 || len(l) < n*n || len(b) != n*strip {
		panic("vec: CholeskySolves of slices that do not fit together")
	}
	if !solvesVectors(n, l, b) {
		solvesGeneric(n, l, b)
	}
}

func solvesGeneric(n int, l, b []float64) {
	for i := range n {
		r := l[i*n : i*n+i+1]
		var lanes [8][strip]float64
		for j, u := range r[:i] {
			x, a := (*[strip]float64)(b[j*strip:]), &lanes[j%8]
			for c, v := range x {
				a[c] += float64(u * v)
			}
		}
		x := (*[strip]float64)(b[i*strip:])
		for c := range x {
			a := func(k int) float64 { return lanes[k][c] }
			x[c] = (x[c] - (((a(0) + a(4)) + (a(2) + a(6))) + ((a(1) + a(5)) + (a(3) + a(7))))) / r[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		r, x := l[i*n:i*n+i+1], (*[strip]float64)(b[i*strip:])
		for c := range x {
			x[c] /= r[i]
		}
		for j, u := range r[:i] {
			y := (*[strip]float64)(b[j*strip:])
			for c, v := range x {
				y[c] -= float64(u * v)
			}
		}
	}
}
