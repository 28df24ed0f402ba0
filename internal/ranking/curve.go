package ranking

// Curve holds the figures that depend on the order of the rows by the probability of a
// class. Rows of equal probability count as one step.
type Curve struct {
	AUC           float64  `json:"auc"`                      // area under the ROC curve; ties count half
	PRAUC         float64  `json:"pr_auc"`                   // average precision
	BestF1        float64  `json:"best_f1"`                  // at the best threshold in hindsight
	BestThreshold *float64 `json:"best_threshold,omitempty"` // the least probability that it accepts; nil for a mean
	Precision     float64  `json:"precision"`                // as asked for
	Recall        float64  `json:"recall"`                   // the greatest with at least that precision; 0 if there is none
}

// point is the rows of the same odds: their weights in the class and in others.
type point struct{ odds, in, out float64 }

// curve returns the figures of n points, which at returns in descending order of odds.
// in and out are the sums of all points, both above 0.
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

// F1 returns the harmonic mean of precision and recall for the weights of rows found
// rightly, found wrongly and not found, and 0 if nothing was found rightly.
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
