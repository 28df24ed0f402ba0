package vec

// Gram adds phiᵀ phi to the lower triangle of g, n x n and row-major, for rows phi of n numbers
// each. The rest of g is not touched.
//
// Rows are processed in runs of 256, counted from the first. In a run, the product of two columns
// is one chain of float32 fused multiply-adds from +0 over the rows, in order. The greater column
// is the first factor. The runs are added in float64, in order.
func Gram(g []float64, phi []float32, n int, s *Scratch) {
	if n < 1 || len(phi)%n != 0 || len(g) < n*n {
		panic("vec: Gram of slices that do not fit together")
	}
	for ; len(phi) > 0; phi = phi[min(Run*n, len(phi)):] {
		rows := min(Run, len(phi)/n)
		tall, wide := columnPanels(&s.tall, phi, n, rows, Panel), columnPanels(&s.wide, phi, n, rows, Lanes)
		for i := 0; i < n; i += Panel {
			for j := 0; j < min(i+Panel, n); j += Lanes {
				t := s.phases[:Panel*Lanes]
				active.product(t, wide[j*rows:(j+Lanes)*rows], tall[i*rows:(i+Panel)*rows], rows)
				for r := max(0, j-i); r < min(Panel, n-i); r++ {
					active.accumulate(g[(i+r)*n+j:(i+r)*n+min(j+Lanes, i+r+1)], t[r*Lanes:(r+1)*Lanes])
				}
			}
		}
	}
}

// columnPanels packs the columns of the first rows of phi into panels of width columns,
// [rows][width], and pads the last panel with zeros.
func columnPanels(memory *[]float32, phi []float32, n, rows, width int) []float32 {
	size := Panels(n, width) * width * rows
	if cap(*memory) < size {
		*memory = make([]float32, size)
	}
	dst := (*memory)[:size]
	for j := 0; j < n; j += width {
		panel := dst[j*rows : (j+width)*rows]
		if j+width <= n && (width == Lanes || width == Panel) {
			packColumns(panel, phi[j:], n, rows, width)
			continue
		}
		for r := range rows {
			k := copy(panel[r*width:(r+1)*width], phi[r*n+j:(r+1)*n])
			clear(panel[r*width+k : (r+1)*width])
		}
	}
	return dst
}

// packColumns packs a whole panel of columnPanels. It copies arrays, which needs no function call.
func packColumns(panel, phi []float32, n, rows, width int) {
	for r := range rows {
		to, from := panel[r*width:], phi[r*n:]
		if width == Lanes {
			*(*[Lanes]float32)(to) = *(*[Lanes]float32)(from)
		} else {
			*(*[Panel]float32)(to) = *(*[Panel]float32)(from)
		}
	}
}

// Project sets t, [Panel][Lanes], to the products of a panel of vectors w, [dim][Panel], with a
// panel of rows x, [dim][Lanes]: each is a chain of float32 fused multiply-adds from +0, in the
// order of the coordinates.
func Project(t, x, w []float32, dim int) {
	if len(t) != Panel*Lanes || len(x) != dim*Lanes || len(w) != dim*Panel {
		panic("vec: Project of slices that do not fit together")
	}
	active.product(t, x, w, dim)
}

// productGeneric computes t[i*Lanes+j] = FMA(w[k*Panel+i], x[k*Lanes+j], t[i*Lanes+j]) from +0,
// for k = 0, 1, ..., dim-1.
func productGeneric(t, x, w []float32, dim int) {
	clear(t[:Panel*Lanes])
	for k := range dim {
		for i, u := range w[k*Panel : (k+1)*Panel] {
			t := t[i*Lanes : (i+1)*Lanes]
			for j, v := range x[k*Lanes : (k+1)*Lanes] {
				t[j] = FMA(u, v, t[j])
			}
		}
	}
}

// accumulateGeneric computes dst[i] += float64(f[i]).
func accumulateGeneric(dst []float64, f []float32) {
	for i := range dst {
		dst[i] += float64(f[i])
	}
}
