package optim_test

import (
	"context"
	"fmt"

	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/refit/optim"
	"github.com/accrete-ml/accrete/refit/optim/matrix"
)

// A logistic regression, and a bound of its distance from the optimum.
func ExampleSolve() {
	p := &optim.Problem{
		A:       matrix.NewDense(4, 2, []float64{1, 0, 1, 1, 1, 2, 1, 3}),
		Targets: []float64{0, 0, 1, 1},
		Loss:    loss.Logistic{},
		L2:      0.01,
	}
	s, err := optim.Solve(context.Background(), p, optim.Config{Gap: 1e-9}, optim.Start{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("x = %.3f, certified: %v\n", s.X, s.Gap() <= 1e-9)
	// Output: x = [-3.390 2.490], certified: true
}

// Least squares with a penalty that leaves out whole groups of columns.
func ExampleSolveBlocks() {
	rows := matrix.NewDense(4, 4, []float64{
		1, 0, 0.1, 0,
		0, 1, 0, 0.1,
		1, 1, 0, 0.2,
		1, -1, 0.1, 0,
	})
	p := &optim.BlockProblem{
		A:            optim.NewColumns(rows, 2, 2),
		Regularizers: []optim.Regularizer{optim.Elastic{L2: 0.01}, optim.Group{L2: 0.01, Norm: 0.1}},
	}
	for _, target := range []float64{2, 1, 3, 1} {
		p.Losses = append(p.Losses, optim.Sum{Loss: loss.Square{}, Targets: []float64{target}})
	}
	s, err := optim.SolveBlocks(context.Background(), p, optim.Config{Gap: 1e-9}, optim.Start{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("x = %.2f\n", s.X)
	// Output: x = [1.97 0.99 0.00 0.00]
}
