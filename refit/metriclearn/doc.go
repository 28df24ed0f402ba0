// Package metriclearn learns metrics in which the nearest neighbours of a point have its class:
// large margin nearest neighbours (Weinberger and Saul 2009). It learns them for one task, or for
// many tasks that share a metric and have one of their own each (Parameswaran and Weinberger 2010,
// in the form of Yu, Lin and Yang 2015, section 5.3). Package optim solves the problem, which is
// convex, and certifies the solution.
package metriclearn
