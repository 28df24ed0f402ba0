package loss

// The losses of margins compare a score with a sign: +1 for the class, -1 for any other. They are
// hinge, squared hinge, smoothed hinge, and one-vs-rest least squares. Two classes have one score,
// which belongs to class 1. More classes have one score each, and the losses of these scores are
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

// nearest sets dst to the distribution nearest to (1+f)/2, which would be the distribution itself
// if the scores were perfect: the projection on the simplex (Michelot 1986). The largest score gets
// the largest share, and no other class gets as much unless its score is as large. Rounding each
// number to [0, 1] would not guarantee that.
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
	// Only differences matter. A score that is 2 or more below the top gets nothing.
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
