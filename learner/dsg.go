package learner

// DSG grows the model by one block a step (Dai et al. 2014, algorithm 1). A
// model that may not grow any further changes all of its blocks at once
// instead, which converges like new ones: each block is an unbiased estimate of
// the kernel, and their mean a better one.
type DSG struct{}

func (DSG) Blocks(_ int64, n, most int) (from, to int) {
	if n < most {
		return n, n + 1
	}
	return 0, n
}

func (DSG) String() string { return "dsg" }
