// Package optim solves regularised empirical risk minimisation to a gap that it
// proves:
//
//	min over x of  P(x) = 1/n Σ φ_i(⟨A_i, x⟩) + λ₂/2 ‖x‖² + λ₁ ‖x‖₁
//
// with the doubly stochastic primal-dual coordinate method (DSPDC) of Yu, Lin
// and Yang (2015). Numbers in parentheses are equations of that paper. Solve is
// Algorithm 1, for any number q of primal and m of dual coordinates a step, and
// Algorithm 2 where the matrix is Factored. SolveBlocks is the block form of
// section 5, for any Regularizer and BlockLoss. The methods that the paper
// compares itself with (SPDC, SDCA, SVRG) run under the same Config, and
// NormalEquations solve problems of the square loss directly.
//
// The package reads no clock and does no input or output. Seeds and inputs
// decide every bit of a result, on every machine.
package optim
