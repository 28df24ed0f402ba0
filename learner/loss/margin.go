package loss

// The losses of margins (hinge, squared, smoothed, and least squares one against
// the rest) compare a score with a sign: +1 for the class, -1 for any other. Two
// classes have one score, for class 1. More have a score each, whose losses are
// added (one against the rest).

// sign returns the sign that score i is compared with.
func sign(f []float64, i int, y float64) float64 {
	if len(f) == 1 {
		i = 1
	}
	if int(y) == i {
		return 1
	}
	return -1
}

func signs(classes int) int {
	if classes > 2 {
		return classes
	}
	return 1
}

// nearest sets dst to the distribution nearest to (1+f)/2, which is what the
// scores would be if they were right: the projection on the simplex (Michelot
// 1986). The largest score gets the largest share, and alone if no other is
// as large, which rounding each to [0, 1] would not promise.
func nearest(dst, f []float64) {
	if len(f) == 1 {
		u := max(-1, min(1, f[0]))
		dst[0], dst[1] = (1-u)/2, (1+u)/2
		return
	}
	top := f[0]
	for _, u := range f {
		top = max(top, u)
	}
	// Only differences matter, and whatever is 1 or more below the top gets nothing.
	for i, u := range f {
		dst[i] = max(u-top, -4) / 2
	}
	threshold := -2.0
	for {
		sum, n, dropped := -1.0, 0.0, false
		for _, v := range dst {
			if v > threshold {
				sum += v
				n++
			}
		}
		next := sum / n
		for _, v := range dst {
			dropped = dropped || v > threshold && v <= next
		}
		threshold = next
		if !dropped {
			break
		}
	}
	for i, v := range dst {
		dst[i] = max(0, v-threshold)
	}
}
