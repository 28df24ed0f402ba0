// Package papers contains the experiments of the papers that Accrete is based
// on, as run by accrete bench --paper: the problems of section 6 of Yu, Lin and
// Yang (2015), and the quality of the metrics learned by their problem for
// related tasks.
package papers
