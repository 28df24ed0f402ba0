package config

import "github.com/accrete-ml/accrete/learner"

// excludedBy returns a function that reports an option which cannot be combined with another one.
func (v *validation) excludedBy(other string) func(path, why string) {
	return func(path, why string) { v.add(path, "cannot be combined with %s: %s", other, why) }
}

// adopt reports options that exclude columns that are adopted.
func (v *validation) adopt() {
	if v.Input.OnChange != "adopt" {
		return
	}
	excluded := v.excludedBy("input.on_change: adopt")
	switch {
	case v.Input.Labels.TTL > 0:
		excluded("input.labels.ttl", "rows that wait for their label have the columns of their time")
	case v.Refit.Every > 0:
		excluded("refit.every", "a refit reads its records again, with the columns of the model alone")
	case v.Learner.Task == "novelty":
		excluded("learner.task", "which of two models is better shows in their errors, and novelty learns without labels")
	case v.Learner.KernelMetric != "":
		excluded("learner.kernel.metric", "a metric is for given columns")
	case v.Input.Sparse > 0:
		excluded("input.sparse", "every input is hashed by its name, and none has to be adopted")
	case v.Input.Missing == "quarantine":
		excluded("input.missing", "records from before a column came do not have it: want impute or zero")
	case len(v.Input.Columns.Names()) > 0:
		excluded("input.columns", "columns come from the records: want auto, or the types of some")
	}
}

// sparse reports options that exclude sparse inputs.
func (v *validation) sparse() {
	bits := v.Input.Sparse
	if bits == 0 {
		return
	}
	excluded := v.excludedBy("input.sparse")
	switch {
	case bits < learner.LeastSparse || bits > learner.MostSparse:
		v.add("input.sparse", "is %d: want 0 (none), or %d to %d bits", bits, learner.LeastSparse, learner.MostSparse)
	case v.Learner.Mixture == "off":
		excluded("learner.mixture", "the linear model of the inputs is a member of the mixture")
	case v.Learner.Task == "novelty":
		excluded("learner.task", "the linear model of the inputs learns from labels")
	case v.Learner.KernelMetric != "":
		excluded("learner.kernel.metric", "a metric is for given columns")
	case v.Input.Labels.TTL > 0:
		excluded("input.labels.ttl", "labels have to come with their records")
	case len(v.Input.Windows.Of()) > 0:
		excluded("input.windows", "windows are of given columns")
	case v.Input.Lags > 0:
		excluded("input.lags", "lags are of given columns")
	case v.Refit.Every > 0:
		excluded("refit.every", "a refit is of the random features, which see a projection of the inputs")
	}
}
