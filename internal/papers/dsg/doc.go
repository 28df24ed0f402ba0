// Package dsg contains the experiments of Dai et al. (2014) on doubly stochastic functional
// gradients and the experiments of Li and Póczos (2016) on steps in existing features, as run by
// accrete bench --paper. They are the rate of convergence of a kernel ridge regression (section
// 7.1), the posterior of a Gaussian process (7.2), a support vector machine in comparison with
// other kernel methods (7.3), and the objective of DSG, UDSG and CDSG over time and features.
//
// The first three run a plain form of the paper's algorithm, not the learner.
package dsg
