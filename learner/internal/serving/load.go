package serving

import (
	"math"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/decide"
	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/interval"
	"github.com/accrete-ml/accrete/learner/internal/lags"
	"github.com/accrete-ml/accrete/learner/internal/machine"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/posterior"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/internal/windows"
	"github.com/accrete-ml/accrete/learner/loss"
	"github.com/accrete-ml/accrete/learner/metric"
)

// maxFrequencies bounds the memory that an untrusted State can ask for.
const maxFrequencies = 1 << 28

// Load reads what Save wrote. Of the configuration, it sets only Lags, Targets and the fields above
// them, because the arrays have nothing else of it.
func Load(s *state.Reader) (v Part) {
	task, classes := v.loadSizes(s)
	if s.Err != nil {
		return v
	}
	kernelName := state.TakeString(s, "kernel")
	name := state.TakeString(s, "loss")
	label := state.Take[float64](s, "label", state.AnySize, 2)
	if n := len(label) / 2; n != 1 {
		s.Require(n > 1 && n <= target.MaxTargets && task != target.Classification && task != target.Novelty, "%d targets with task %d", n, task)
		v.Targets = n
	}
	v.loadHead(s, task, classes, name)
	if s.Err != nil {
		return v
	}
	for j := range v.Head.Scales {
		v.Head.Scales[j] = target.Scale{Mean: label[2*j], Deviation: label[2*j+1]}
		s.Require(label[2*j+1] > 0, "the deviation of the labels is %v", label[2*j+1])
	}
	var dim int
	if kernelName != "" {
		v.Fit = &warmup.Fit{Encoding: encode.Load(s, v.Dim)}
		dim = v.Fit.Width(v.Dim)
		v.loadKernel(s, kernelName)
	}
	rows := min(dim, 1)
	center := state.Take[float64](s, "center", rows, dim)
	scale := state.Take[float64](s, "scale", rows, dim)
	weights := state.Take[float64](s, "metric", rows, dim)
	second := state.TakeRow[float32](s, "second")
	leverage := v.takeLeverage(s, dim)
	v.Metric = metric.Load(s)
	k := v.Head.Scores()
	v.Intercept = state.Take[float64](s, "intercept", min(k, 1), k)
	v.loadSelection(s)
	v.Coef = state.Take[float32](s, "coefficients", 2*v.served()*min(k, 1), k)
	v.loadForest(s, dim, k)
	v.Decision = decide.LoadRule(s)
	v.Intervals = interval.LoadRule(s, v.Head.Targets())
	var lower []float64
	if v.variance() {
		lower = posterior.Take(s)
	}
	v.Mixture = mixture.LoadStatic(s, k, dim, v.Dim, machine.BlockSize(v.BlockSize))
	v.Windows = windows.Load(s, v.Dim)
	if s.Err != nil {
		return v
	}
	s.Require(v.Intervals == nil || task == target.Auto || task == target.Regression, "intervals around predictions with task %v", task)
	s.Require(v.Decision == nil || task == target.Auto || task == target.Classification, "a decision for a class with task %v", task)
	if v.Fit != nil {
		v.Fit.Scaler = warmup.Scaler{Center: center, Scale: scale, ColumnWeights: weights, AsIs: v.Metric != nil}
		v.Fit.Scaler.Map, _ = v.Fit.Kernel.(kernel.Mapped)
		v.Fit.Scales = v.Head.Scales
		if len(second) > 0 {
			v.Fit.Second = second
		}
		v.loadLeverage(s, leverage, dim)
	}
	s.Require(len(second) == 0 || len(second) == dim && v.Fit != nil && features.AllowsSecond(v.Fit.Kernel, v.Sampling), "the second kernel has column weights for %d inputs", len(second))
	s.Require(v.Fit != nil || v.Blocks == 0, "%d blocks without a kernel", v.Blocks)
	if v.Metric != nil && v.Dim != 0 {
		s.Require(v.Fit == nil || v.Fit.Encoding == nil, "a metric is for numeric columns")
		s.Require(v.Metric.Dim() == v.Dim, "the metric has %d inputs, the rows have %d", v.Metric.Dim(), v.Dim)
	}
	s.Require(v.Fit == nil || v.Dim > 0 && task != target.Auto, "a kernel without rows")
	v.requireNumbers(s, scale, weights, second)
	if v.variance() && s.Err == nil {
		v.Posterior = posterior.Load(s, lower, v.options(), v.Fit, dim)
	}
	return v
}

// loadSizes reads the array "model".
func (v *Part) loadSizes(s *state.Reader) (task target.Task, classes int) {
	m := state.Take[int64](s, "model", 1, modelFields)
	if s.Err != nil {
		return task, 0
	}
	task = target.Task(m[modelTask])
	number, width, blocks := m[modelClasses], m[modelWidth], m[modelBlocks]
	s.Require(task >= target.Auto && task <= target.Novelty, "task is %d", task)
	s.Require(number >= 0 && number <= 1<<16 && (number > 0) == (task == target.Classification), "%d classes with task %d", number, task)
	s.Require(m[modelDim] >= 0 && m[modelDim] <= 1<<30 && width >= 1 && width <= 1<<16 && blocks >= 0 && blocks <= 1<<24,
		"%d inputs, block size %d, %d blocks", m[modelDim], width, blocks)
	s.Require(m[modelLags] >= 0 && m[modelLags] <= lags.Max, "%d lags", m[modelLags])
	s.Require(features.Sampling(m[modelSampling]).Valid(), "unknown sampling %d", m[modelSampling])
	if s.Err != nil {
		return task, 0
	}
	v.Dim, v.Blocks = int(m[modelDim]), int(blocks)
	v.BlockSize, v.Seed = int(width), uint64(m[modelSeed])
	v.Lags, v.Sampling = int(m[modelLags]), features.Sampling(m[modelSampling])
	return task, int(number)
}

// requireNumbers checks that the numbers are in the ranges that a learner produces.
func (v *Part) requireNumbers(s *state.Reader, scale, weights []float64, second []float32) {
	require(s, scale, func(c float64) bool { return c > 0 }, "the scale of a column is %v")
	require(s, weights, func(c float64) bool { return c >= 0 && c <= 1e9 }, "a column weight is %v")
	require(s, second, func(c float32) bool { return c >= 0 && c <= 1e9 }, "a column weight of the second kernel is %v")
	require(s, v.Coef, func(c float32) bool { return math.Abs(float64(c)) < engine.MaxCoefficient }, "a coefficient is %v")
	require(s, v.Intercept, func(b float64) bool { return math.Abs(b) < engine.MaxCoefficient }, "an intercept is %v")
}

// require makes s fail with the first number that is not valid. Unlike state.Reader.Require for
// each number, it allocates memory only in that case.
func require[T any](s *state.Reader, all []T, valid func(T) bool, format string) {
	if i := slices.IndexFunc(all, func(v T) bool { return !valid(v) }); i >= 0 {
		s.Fail(format, all[i])
	}
}

// loadHead constructs the head of a task with the loss of that name.
func (v *Part) loadHead(s *state.Reader, task target.Task, classes int, name string) {
	v.Head = target.NewHead(nil, target.Auto, 0, max(1, v.Targets))
	if task == target.Auto {
		s.Require(name == "", "loss %q without a task", name)
		return
	}
	l, err := loss.Parse(name)
	if task == target.Novelty {
		l, err = loss.ParseOneClass(name)
	}
	if err != nil {
		s.Fail("%v", err)
		return
	}
	v.Head = target.NewHead(l, task, classes, max(1, v.Targets))
	s.Require(target.TaskOf(l) == task && v.Head.Loss == l, "loss %q does not match task %v with %d classes", name, task, classes)
}

func (v *Part) loadKernel(s *state.Reader, name string) {
	k, err := kernel.Parse(name)
	if err != nil {
		s.Fail("%v", err)
	}
	v.Fit.Kernel = k
	if s.Err != nil {
		return
	}
	s.Require(warmup.HasScale(k), "kernel %q has no scale", name)
	s.Require(v.Sampling.CheckKernel(k) == nil, "%s sampling cannot draw frequencies of the kernel %q", v.Sampling, name)
	size := features.Parameters(k, v.Fit.Width(v.Dim))
	s.Require(float64(size)*float64(v.BlockSize)*float64(v.Blocks) <= maxFrequencies, "%d blocks of %d×%d frequencies are too many", v.Blocks, v.BlockSize, size)
}
