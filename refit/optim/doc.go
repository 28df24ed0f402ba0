// Package optim solves regularised empirical risk minimisation
//
//	min over x of  P(x) = 1/n Σ φ_i(⟨A_i, x⟩) + λ₂/2 ‖x‖² + λ₁ ‖x‖₁
//
// with the doubly stochastic primal-dual coordinate method (DSPDC) of Yu, Lin and Yang (2015), and
// certifies the gap that it reaches. Numbers in parentheses are equations of that paper. Solve is
// Algorithm 1, for any number q of primal and m of dual coordinates a step, and Algorithm 2 if the
// matrix is Factored. SolveBlocks is the block form of section 5, for any Regularizer and
// BlockLoss. The methods with which the paper compares its own (SPDC, SDCA, SVRG) run under the
// same Config, and NormalEquations solve problems of the square loss directly.
//
// The package reads no clock and does no input or output. Seeds and inputs decide every bit of a
// result, on every machine.
package optim
