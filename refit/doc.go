// Package refit solves regularised empirical risk minimisation to a gap that it
// proves:
//
//	min over x of  P(x) = 1/n Σ φ_i(⟨A_i, x⟩) + λ₂/2 ‖x‖² + λ₁ ‖x‖₁
//
// with the doubly stochastic primal-dual coordinate method (DSPDC) of Yu, Lin
// and Yang (2015), the whole paper: Algorithm 1 for any number q of primal and m
// of dual coordinates a step (Solve), Algorithm 2 for a matrix that is a product
// (Factored), the block form of section 5 with proximal maps of the caller's
// (SolveBlocks), and Algorithm 3, metrics for many related tasks (MetricProblem).
// The methods that the paper compares itself with run in the same harness (SPDC,
// SDCA, SVRG), and Contests are its section 6.
//
// What the stream uses it for is Refit: the same features as a live model, the
// last rows, the objective of the stream, and the solution with a certificate.
//
// For the multinomial loss it has a solver of its own with the same certificate
// (RefitSoftmax).
//
// Nothing here reads a clock or does input or output. Seeds
// and inputs decide every bit of a result, on every machine.
package refit
