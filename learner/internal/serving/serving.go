// Package serving is the serving part of a State: everything that predictions need, and its
// representation in arrays.
package serving

import (
	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/internal/decide"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/interval"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/posterior"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/internal/windows"
	"github.com/accrete-ml/accrete/learner/metric"
)

// Part is everything that predictions need, for writing it to a State or reading it.
type Part struct {
	BlockSize int
	Seed      uint64
	Sampling  features.Sampling
	Lags      int
	Targets   int // of a regression; 0 if it has only one

	Head   target.Head
	Dim    int
	Fit    *warmup.Fit    // nil before the first fit
	Metric *metric.Metric // nil if there is none
	engine.Served
	Kept      Selection       // of a pruned model, otherwise nil; Served then has only the selected coefficients
	Decision  *decide.Rule    // nil without Config.Costs
	Intervals *interval.Rule  // nil without Config.Intervals and Config.Variance
	Mixture   *mixture.Static // nil without Config.Mixture

	Posterior *posterior.Factor // nil without Config.Variance, and before the first fit
	Windows   *windows.Windows  // nil if there are none
}

// variance reports whether predictions have variances.
func (v *Part) variance() bool { return v.Intervals != nil && v.Intervals.Kind().Variance }

// modelFields are the columns of the array "model".
const (
	modelTask = iota
	modelClasses
	modelDim
	modelWidth
	modelBlocks
	modelSeed
	modelLags
	modelSampling
	modelFields
)

// Save writes v. The names and the order of the arrays are part of the snapshot format.
func (v Part) Save(a *state.Arrays) {
	var name, kernelName string
	var s warmup.Scaler
	var second []float32
	if v.Head.Loss != nil {
		name = v.Head.Loss.String()
	}
	if v.Fit != nil {
		kernelName, s, second = v.Fit.Kernel.String(), v.Fit.Scaler, v.Fit.Second
	}
	state.Put(a, "model", modelFields, []int64{
		int64(v.Head.Task), int64(v.Head.Classes), int64(v.Dim), int64(v.BlockSize), int64(v.Blocks), int64(v.Seed), int64(v.Lags), int64(v.Sampling),
	})
	state.Put(a, "kernel", len(kernelName), []byte(kernelName))
	state.Put(a, "loss", len(name), []byte(name))
	label := make([]float64, 0, 2*len(v.Head.Scales))
	for _, u := range v.Head.Scales {
		label = append(label, u.Mean, u.Deviation)
	}
	state.Put(a, "label", 2, label)
	if v.Fit != nil {
		v.Fit.Encoding.Save(a)
	}
	state.Put(a, "center", len(s.Center), s.Center)
	state.Put(a, "scale", len(s.Scale), s.Scale)
	state.Put(a, "metric", len(s.ColumnWeights), s.ColumnWeights)
	state.Put(a, "second", len(second), second)
	v.saveLeverage(a)
	v.Metric.Save(a)
	state.Put(a, "intercept", len(v.Intercept), v.Intercept)
	if v.Kept != nil {
		state.Put(a, "kept", len(v.Kept), v.Kept)
	}
	state.Put(a, "coefficients", v.Head.Scores(), v.Coef)
	v.saveForest(a)
	if v.Decision != nil {
		v.Decision.Save(a)
	}
	if v.Intervals != nil {
		v.Intervals.Save(a)
	}
	if v.variance() {
		v.Posterior.Save(a)
	}
	if v.Mixture != nil {
		v.Mixture.Save(a)
	}
	v.Windows.Save(a)
}
