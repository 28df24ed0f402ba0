package learner

import (
	"github.com/accrete-ml/accrete/learner/metric"
)

// Metric is a metric of the inputs that is given, where otherwise the warm-up learns column
// weights: see package metric.
type Metric = metric.Metric

// MetricFile is the content of a metric file, as JSON.
type MetricFile = metric.File

// Numbers are finite, as JSON has them.
type Numbers = metric.Numbers

// ErrMetric refuses rows that a Metric is not for.
var ErrMetric = metric.ErrColumns

// ParseMetric reads a MetricFile.
func ParseMetric(text []byte) (*Metric, error) { return metric.Parse(text) }
