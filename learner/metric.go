package learner

import (
	"github.com/accrete-ml/accrete/learner/metric"
)

// Metric is a given metric of the inputs, in place of the column weights of the warm-up: see
// package metric.
type Metric = metric.Metric

// MetricFile is the content of a metric file, as JSON.
type MetricFile = metric.File

// Numbers are finite, as JSON has them.
type Numbers = metric.Numbers

// ErrMetric means that rows do not have the columns of a Metric.
var ErrMetric = metric.ErrColumns

// ParseMetric reads a MetricFile.
func ParseMetric(text []byte) (*Metric, error) { return metric.Parse(text) }
