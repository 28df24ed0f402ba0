// Package refit solves for the coefficients of a live model again. The features of the model stay,
// and its loss and a penalty are minimised over the last rows. A certificate bounds how far the
// solution, and the model before the refit, are from the optimum.
//
// Packages optim and metriclearn, which are below it, have the solvers and the metrics of Yu, Lin
// and Yang (2015). The multinomial loss has a solver of its own here, with the same certificate.
//
// Nothing here reads a clock or does input or output. Seeds and inputs decide every bit of a
// result, on every machine.
package refit
