package ranking

// Curve holds the figures that depend on the order of the rows by the probability of a
// class. Rows of equal probability count as one step.
type Curve struct {
	AUC           float64  `json:"auc"`                      // area under the ROC curve; ties count half
	PRAUC         float64  `json:"pr_auc"`                   // average precision
	BestF1        float64  `json:"best_f1"`                  // at the best threshold in hindsight
	BestThreshold *float64 `json:"best_threshold,omitempty"` // least probability that it accepts; nil for means over several classes
	Precision     float64  `json:"precision"`                // as requested
	Recall        float64  `json:"recall"`                   // the greatest recall with at least that precision; 0 if there is none
}

// point holds the rows with the same odds: their weights in the class and in other classes.
type point struct{ odds, in, out float64 }

// curve returns the figures for n points. at returns the points in descending order of their odds.
// in and out are the sums over all points, both above 0.
func curve(n int, at func(int) point, in, out, precision float64) Curve {
	c := Curve{Precision: precision}
	hits, misses, area, average, best := 0.0, 0.0, 0.0, 0.0, 0.0
	for i := range n {
		p := at(i)
		if p.in+p.out == 0 {
			continue
		}
		area += float64(p.out * (hits + float64(p.in/2)))
		hits, misses = hits+p.in, misses+p.out
		average += p.in * hits / (hits + misses)
		if f := F1(hits, misses, in-hits); f > c.BestF1 {
			c.BestF1, best = f, probability(p.odds)
		}
		if hits >= precision*(hits+misses) {
			c.Recall = max(c.Recall, min(1, hits/in))
		}
	}
	c.BestThreshold = &best
	c.AUC, c.PRAUC = min(1, area/(in*out)), min(1, average/in)
	return c
}

// F1 returns the harmonic mean of precision and recall. Its arguments are the weights of the rows
// that are found correctly, found wrongly, and not found. It returns 0 if no row is found
// correctly.
func F1(hits, misses, lost float64) float64 {
	if !(hits > 0) {
		return 0
	}
	found := float64(2 * hits)
	return found / (found + misses + max(0, lost))
}

func probability(odds float64) float64 {
	if odds > 1 {
		return 1 / (1 + 1/odds)
	}
	return odds / (1 + odds)
}
