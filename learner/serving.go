package learner

import (
	"math"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/learner/internal/decide"
	"github.com/accrete-ml/accrete/learner/internal/encode"
	"github.com/accrete-ml/accrete/learner/internal/engine"
	"github.com/accrete-ml/accrete/learner/internal/interval"
	"github.com/accrete-ml/accrete/learner/internal/machine"
	"github.com/accrete-ml/accrete/learner/internal/mixture"
	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
	"github.com/accrete-ml/accrete/learner/internal/warmup"
	"github.com/accrete-ml/accrete/learner/loss"
)

// serving is what it takes to predict, on its way into a State or out of it. Out
// of it, config has no more than the arrays tell.
type serving struct {
	config Config
	head   target.Head
	dim    int
	fit    *warmup.Fit // nil before the first
	given  *Metric     // nil if there is none
	engine.Served
	kept      selection       // of a pruned model, otherwise nil: Served has the coefficients of those only
	decision  *Decision       // nil without Config.Costs
	intervals *Intervals      // nil without Config.Intervals
	static    *mixture.Static // nil without Config.Mixture
}

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

func (v serving) save(a *state.Arrays) {
	var name, kernelName string
	var s warmup.Scaler
	var second []float32
	if v.head.Loss != nil {
		name = v.head.Loss.String()
	}
	if v.fit != nil {
		kernelName, s, second = v.fit.Kernel.String(), v.fit.Scaler, v.fit.Second
	}
	state.Put(a, "model", modelFields, []int64{
		int64(v.head.Task), int64(v.head.Classes), int64(v.dim), int64(v.config.BlockSize), int64(v.Blocks), int64(v.config.Seed), int64(v.config.Lags), int64(v.config.sampling()),
	})
	state.Put(a, "kernel", len(kernelName), []byte(kernelName))
	state.Put(a, "loss", len(name), []byte(name))
	label := make([]float64, 0, 2*len(v.head.Scales))
	for _, u := range v.head.Scales {
		label = append(label, u.Mean, u.Deviation)
	}
	state.Put(a, "label", 2, label)
	if v.fit != nil {
		v.fit.Encoding.Save(a)
	}
	state.Put(a, "center", len(s.Center), s.Center)
	state.Put(a, "scale", len(s.Scale), s.Scale)
	state.Put(a, "metric", len(s.ColumnWeights), s.ColumnWeights)
	state.Put(a, "second", len(second), second)
	v.given.save(a)
	state.Put(a, "intercept", len(v.Intercept), v.Intercept)
	if v.kept != nil {
		state.Put(a, "kept", len(v.kept), v.kept)
	}
	state.Put(a, "coefficients", v.head.Scores(), v.Coef)
	v.saveForest(a)
	if v.decision != nil {
		v.decision.Save(a)
	}
	if v.intervals != nil {
		v.intervals.Save(a)
	}
	if v.static != nil {
		v.static.Save(a)
	}
}

// mostFrequencies bounds the memory that a State from the wire can ask for.
const maxFrequencies = 1 << 28

// loadServing reads what save wrote.
func loadServing(s *state.Reader) (v serving) {
	m := state.Take[int64](s, "model", 1, modelFields)
	if s.Err != nil {
		return v
	}
	task, classes, width, blocks := Task(m[modelTask]), m[modelClasses], m[modelWidth], m[modelBlocks]
	s.Require(task >= Auto && task <= Novelty, "task is %d", task)
	s.Require(classes >= 0 && classes <= 1<<16 && (classes > 0) == (task == Classification), "%d classes with task %d", classes, task)
	s.Require(m[modelDim] >= 0 && m[modelDim] <= 1<<30 && width >= 1 && width <= 1<<16 && blocks >= 0 && blocks <= 1<<24,
		"%d inputs, block size %d, %d blocks", m[modelDim], width, blocks)
	s.Require(m[modelLags] >= 0 && m[modelLags] <= maxLags, "%d lags", m[modelLags])
	s.Require(features.Sampling(m[modelSampling]).Valid(), "unknown sampling %d", m[modelSampling])
	if s.Err != nil {
		return v
	}
	v.dim, v.Blocks = int(m[modelDim]), int(blocks)
	v.config = Config{BlockSize: int(width), Seed: uint64(m[modelSeed]), Lags: int(m[modelLags]), Sampling: features.Sampling(m[modelSampling]).String()}
	kernelName := state.TakeString(s, "kernel")
	name := state.TakeString(s, "loss")
	label := state.Take[float64](s, "label", state.AnySize, 2)
	if n := len(label) / 2; n != 1 {
		s.Require(n > 1 && n <= MaxTargets && task != Classification && task != Novelty, "%d targets with task %d", n, task)
		v.config.Targets = n
	}
	v.loadHead(s, task, int(classes), name)
	if s.Err != nil {
		return v
	}
	for j := range v.head.Scales {
		v.head.Scales[j] = target.Scale{Mean: label[2*j], Deviation: label[2*j+1]}
		s.Require(label[2*j+1] > 0, "the deviation of the labels is %v", label[2*j+1])
	}
	var dim int
	if kernelName != "" {
		v.fit = &warmup.Fit{Encoding: encode.Load(s, v.dim)}
		dim = v.fit.Width(v.dim)
		v.loadKernel(s, kernelName)
	}
	rows := min(dim, 1)
	center := state.Take[float64](s, "center", rows, dim)
	scale := state.Take[float64](s, "scale", rows, dim)
	metric := state.Take[float64](s, "metric", rows, dim)
	second := state.TakeRow[float32](s, "second")
	v.given = loadMetric(s)
	k := v.head.Scores()
	v.Intercept = state.Take[float64](s, "intercept", min(k, 1), k)
	v.loadSelection(s)
	v.Coef = state.Take[float32](s, "coefficients", 2*v.served()*min(k, 1), k)
	v.loadForest(s, dim, k)
	v.decision = decide.LoadRule(s)
	v.intervals = interval.LoadRule(s, v.head.Targets())
	v.static = mixture.LoadStatic(s, k, dim, machine.BlockSize(v.config.BlockSize))
	if s.Err != nil {
		return v
	}
	s.Require(v.intervals == nil || task == Auto || task == Regression, "intervals around predictions with task %v", task)
	s.Require(v.decision == nil || task == Auto || task == Classification, "a decision for a class with task %v", task)
	if v.fit != nil {
		v.fit.Scaler = warmup.Scaler{Center: center, Scale: scale, ColumnWeights: metric, AsIs: v.given != nil}
		v.fit.Scaler.Map, _ = v.fit.Kernel.(kernel.Mapped)
		v.fit.Scales = v.head.Scales
		if len(second) > 0 {
			v.fit.Second = second
		}
	}
	s.Require(len(second) == 0 || len(second) == dim && v.fit != nil && features.AllowsSecond(v.fit.Kernel, v.config.sampling()), "the second kernel has column weights for %d inputs", len(second))
	s.Require(v.fit != nil || v.Blocks == 0, "%d blocks without a kernel", v.Blocks)
	if v.given != nil && v.dim != 0 {
		s.Require(v.fit == nil || v.fit.Encoding == nil, "a metric is for numeric columns")
		s.Require(v.given.dim() == v.dim, "the metric has %d inputs, the rows have %d", v.given.dim(), v.dim)
	}
	s.Require(v.fit == nil || v.dim > 0 && task != Auto, "a kernel without rows")
	v.requireNumbers(s, scale, metric, second)
	return v
}

// requireNumbers checks that the numbers of a model are those of a learner.
func (v *serving) requireNumbers(s *state.Reader, scale, weights []float64, second []float32) {
	for _, c := range scale {
		s.Require(c > 0, "the scale of a column is %v", c)
	}
	for _, c := range weights {
		s.Require(c >= 0 && c <= 1e9, "a column weight is %v", c)
	}
	for _, c := range second {
		s.Require(c >= 0 && c <= 1e9, "a column weight of the second kernel is %v", c)
	}
	for _, c := range v.Coef {
		s.Require(math.Abs(float64(c)) < engine.MaxCoefficient, "a coefficient is %v", c)
	}
	for _, b := range v.Intercept {
		s.Require(math.Abs(b) < engine.MaxCoefficient, "an intercept is %v", b)
	}
}

// loadHead makes the head of a task whose loss has a name.
func (v *serving) loadHead(s *state.Reader, task Task, classes int, name string) {
	v.head = target.NewHead(nil, Auto, 0, v.config.targets())
	if task == Auto {
		s.Require(name == "", "loss %q without a task", name)
		return
	}
	l, err := loss.Parse(name)
	if task == Novelty {
		l, err = loss.ParseOneClass(name)
	}
	if err != nil {
		s.Fail("%v", err)
		return
	}
	v.head = target.NewHead(l, task, classes, v.config.targets())
	s.Require(target.TaskOf(l) == task && v.head.Loss == l, "loss %q does not match task %v with %d classes", name, task, classes)
}

func (v *serving) loadKernel(s *state.Reader, name string) {
	k, err := kernel.Parse(name)
	if err != nil {
		s.Fail("%v", err)
	}
	v.fit.Kernel = k
	if s.Err != nil {
		return
	}
	s.Require(warmup.HasScale(k), "kernel %q has no scale", name)
	s.Require(v.config.sampling().CheckKernel(k) == nil, "%s sampling cannot draw frequencies of the kernel %q", v.config.Sampling, name)
	size := features.Parameters(k, v.fit.Width(v.dim))
	s.Require(float64(size)*float64(v.config.BlockSize)*float64(v.Blocks) <= maxFrequencies, "%d blocks of %d×%d frequencies are too many", v.Blocks, v.config.BlockSize, size)
}

// machineBlocks returns the number of blocks of the random features of machines that v has
// coefficients of.
func (v *serving) machineBlocks() int {
	if v.fit == nil || v.static == nil {
		return 0
	}
	return v.static.Blocks(machine.BlockSize(v.config.BlockSize))
}

// machineBank returns these random features, nil if there are none.
func (v *serving) machineBank() *features.Bank {
	n := v.machineBlocks()
	if n == 0 {
		return nil
	}
	o := v.config.options()
	o.BlockSize = machine.BlockSize(o.BlockSize)
	b := v.fit.Bank(o.FeatureMap(v.fit.Width(v.dim)))
	b.Grow(n)
	return b
}

func (v *serving) bank() *features.Bank {
	if v.fit == nil {
		return nil
	}
	if v.kept != nil {
		m := v.featureMap()
		return features.NewSelection(m, v.kept.all(v.Blocks*v.config.BlockSize))
	}
	b := v.fit.Bank(v.config.options().FeatureMap(v.fit.Width(v.dim)))
	b.Grow(v.Blocks)
	return b
}
