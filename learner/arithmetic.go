package learner

// Arithmetic is the version of what turns rows into bits. A log is learned again
// by programs of its own version only, so it grows by one with every change after
// which the same rows lead to another state or prediction.
const Arithmetic = 1

// Arithmetic returns the version of what the algorithm of c computes. A log is learned
// again by programs of its own version only, so it grows by one with every change after
// which the same rows lead to another state or prediction.
func (c Config) Arithmetic() int {
	e, err := c.Effective()
	if err != nil {
		return Arithmetic
	}
	version := Arithmetic
	if a, err := parseAlgorithm(e.Algorithm); err == nil && a.Descent != nil {
		version += a.Descent.Arithmetic(e.Direction) - 1
	}
	if e.Costs == costsF1 { // its window and its least weight have changed once
		version++
	}
	if e.Intervals != 0 { // in deviations of the label
		version++
	}
	if e.Mixture { // with the members short and reset, which take fewer steps of no use
		version += 3
	}
	return version
}
