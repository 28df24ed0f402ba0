package papers

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/refit/metriclearn"
	"github.com/accrete-ml/accrete/refit/optim"
)

// blockEntries returns DSPDC with m dual and q primal blocks per step, and the
// other methods with m dual blocks and all primal ones, as in sections 6.2 and
// 6.3. It adds DSPDC with all blocks of both kinds, which has no random steps
// and is not in the paper.
func blockEntries(p *optim.BlockProblem, m, q int) []entry {
	solve := func(ctx context.Context, c optim.Config) (*optim.Solution, error) {
		return optim.SolveBlocks(ctx, p, c, optim.Start{})
	}
	return []entry{
		{"DSPDC", solve, optim.Config{Primal: q, Dual: m}},
		{"DSPDC, m=n, q=p", solve, optim.Config{Dual: len(p.Losses)}},
		{"SPDC", solve, optim.Config{Method: optim.SPDC, Dual: m}},
		{"SDCA", solve, optim.Config{Method: optim.SDCA, Dual: m}},
	}
}

// matrixContest returns the problem of section 6.2: matrixRisk with the penalty
// 0.01.
func matrixContest(seed uint64, n, p, d, m, q int) *contest {
	return &contest{
		figure:  "figure 3",
		times:   1,
		title:   fmt.Sprintf("d=%d p=%d n=%d m=%d q=%d λ=0.01", d, p, n, m, q),
		entries: blockEntries(matrixRisk(seed, n, p, d, 0.01), m, q),
	}
}

// metricContest returns the problem of section 6.3 for the given tasks.
func metricContest(name string, tasks []metriclearn.Task, dim, m, q int) (*contest, error) {
	p, err := metriclearn.Problem(tasks, dim, metriclearn.Config{})
	if err != nil {
		return nil, err
	}
	n := len(p.Losses)
	return &contest{
		figure:  "figure 4",
		times:   1,
		title:   fmt.Sprintf("%s: %d tasks, d=%d, n=%d triplets, m=%d q=%d", name, len(tasks), dim, n, min(m, n), q),
		entries: blockEntries(p, min(m, n), min(q, len(p.Regularizers))),
	}, nil
}
