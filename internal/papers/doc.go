// Package papers has the experiments of the papers that Accrete builds on, as
// accrete bench --paper runs them: the problems of section 6 of Yu, Lin and Yang
// (2015), and the metrics that come out of their problem for related tasks.
package papers
