// Package metriclearn learns metrics in which the nearest neighbours of a point are
// of its class: large margin nearest neighbours (Weinberger and Saul 2009), for one
// task or for many that share a metric and have one each (Parameswaran and
// Weinberger 2010, in the form of Yu, Lin and Yang 2015, section 5.3). Package
// optim solves the problem, which is convex, and certifies the solution.
package metriclearn
