package learner

import (
	"math"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/learner/loss"
)

// serving is what it takes to predict, on its way into a State or out of it. Out
// of it, config has no more than the arrays tell.
type serving struct {
	config Config
	head   head
	dim    int
	fit    *fit    // nil before the first
	given  *Metric // nil if there is none
	served
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

func (v serving) save(a *arrays) {
	var name, kernel string
	var s scaler
	var second []float32
	if v.head.loss != nil {
		name = v.head.loss.String()
	}
	if v.fit != nil {
		kernel, s, second = v.fit.kernel.String(), v.fit.scaler, v.fit.second
	}
	put(a, "model", modelFields, []int64{
		int64(v.head.task), int64(v.head.classes), int64(v.dim), int64(v.config.Width), int64(v.blocks), int64(v.config.Seed), int64(v.config.Lags), int64(v.config.sampling()),
	})
	put(a, "kernel", len(kernel), []byte(kernel))
	put(a, "loss", len(name), []byte(name))
	label := make([]float64, 0, 2*len(v.head.units))
	for _, u := range v.head.units {
		label = append(label, u.mean, u.deviation)
	}
	put(a, "label", 2, label)
	put(a, "center", len(s.center), s.center)
	put(a, "scale", len(s.scale), s.scale)
	put(a, "metric", len(s.metric), s.metric)
	put(a, "second", len(second), second)
	v.given.save(a)
	put(a, "intercept", len(v.intercept), v.intercept)
	put(a, "coefficients", v.head.sums(), v.coef)
}

// mostFrequencies bounds the memory that a State from the wire can ask for.
const mostFrequencies = 1 << 28

// loadServing reads what save wrote.
func loadServing(s *source) (v serving) {
	m := take[int64](s, "model", 1, modelFields)
	if s.err != nil {
		return v
	}
	task, classes, width, blocks := Task(m[modelTask]), m[modelClasses], m[modelWidth], m[modelBlocks]
	s.want(task >= Auto && task <= Regression, "task is %d", task)
	s.want(classes >= 0 && classes <= 1<<16 && (classes > 0) == (task == Classification), "%d classes of a task %d", classes, task)
	s.want(m[modelDim] >= 0 && m[modelDim] <= 1<<30 && width >= 1 && width <= 1<<16 && blocks >= 0 && blocks <= 1<<24,
		"dim %d, width %d, blocks %d", m[modelDim], width, blocks)
	s.want(m[modelLags] >= 0 && m[modelLags] <= mostLags, "%d lags", m[modelLags])
	s.want(m[modelSampling] >= int64(features.IID) && m[modelSampling] <= int64(features.SORF), "sampling %d", m[modelSampling])
	if s.err != nil {
		return v
	}
	v.dim, v.blocks = int(m[modelDim]), int(blocks)
	v.config = Config{Width: int(width), Seed: uint64(m[modelSeed]), Lags: int(m[modelLags]), Sampling: features.Sampling(m[modelSampling]).String()}
	kernel := takeString(s, "kernel")
	name := takeString(s, "loss")
	label := take[float64](s, "label", anySize, 2)
	if n := len(label) / 2; n != 1 {
		s.want(n > 1 && n <= MaxOutputs && task != Classification, "%d targets of a task %d", n, task)
		v.config.Outputs = n
	}
	v.loadHead(s, task, int(classes), name)
	if s.err != nil {
		return v
	}
	for j := range v.head.units {
		v.head.units[j] = unit{label[2*j], label[2*j+1]}
		s.want(label[2*j+1] > 0, "the deviation of the labels is %v", label[2*j+1])
	}
	var dim int
	if kernel != "" {
		dim = v.dim
		v.fit = new(fit)
		v.loadKernel(s, kernel)
	}
	rows := min(dim, 1)
	center := take[float64](s, "center", rows, dim)
	scale := take[float64](s, "scale", rows, dim)
	metric := take[float64](s, "metric", rows, dim)
	second := takeRow[float32](s, "second")
	v.given = loadMetric(s)
	k := v.head.sums()
	v.intercept = take[float64](s, "intercept", min(k, 1), k)
	v.coef = take[float32](s, "coefficients", 2*v.blocks*v.config.Width*min(k, 1), k)
	if s.err != nil {
		return v
	}
	if v.fit != nil {
		v.fit.scaler = scaler{center: center, scale: scale, metric: metric, asIs: v.given != nil}
		v.fit.units = v.head.units
		if len(second) > 0 {
			v.fit.second = second
		}
	}
	s.want(len(second) == 0 || len(second) == dim && v.config.sampling() == features.IID, "a second metric of %d inputs", len(second))
	s.want(v.fit != nil || v.blocks == 0, "%d blocks without a kernel", v.blocks)
	if v.given != nil && v.dim != 0 {
		s.want(v.given.dim() == v.dim, "a metric of %d inputs for rows of %d", v.given.dim(), v.dim)
	}
	s.want(v.fit == nil || v.dim > 0 && task != Auto, "a kernel without rows")
	for _, c := range scale {
		s.want(c > 0, "a scale is %v", c)
	}
	for _, c := range metric {
		s.want(c >= 0 && c <= 1e9, "a weight of the metric is %v", c)
	}
	for _, c := range second {
		s.want(c >= 0 && c <= 1e9, "a weight of the second metric is %v", c)
	}
	for _, c := range v.coef {
		s.want(math.Abs(float64(c)) < farthest, "a coefficient is %v", c)
	}
	for _, b := range v.intercept {
		s.want(math.Abs(b) < farthest, "an intercept is %v", b)
	}
	return v
}

// loadHead makes the head of a task whose loss has a name.
func (v *serving) loadHead(s *source, task Task, classes int, name string) {
	v.head = newHead(nil, Auto, 0, v.config.targets())
	if task == Auto {
		s.want(name == "", "loss %q of no task", name)
		return
	}
	l, err := loss.Parse(name)
	if err != nil {
		s.fail("%v", err)
		return
	}
	v.head = newHead(l, task, classes, v.config.targets())
	s.want(taskOf(l) == task && v.head.loss == l, "loss %q of a task %v with %d classes", name, task, classes)
}

func (v *serving) loadKernel(s *source, kernel string) {
	k, err := features.ParseKernel(kernel)
	if err != nil {
		s.fail("%v", err)
	}
	v.fit.kernel = k
	s.want(k != features.Gaussian{}, "kernel %q has no scale", kernel)
	s.want(float64(v.dim)*float64(v.config.Width)*float64(v.blocks) <= mostFrequencies, "%d blocks of %d×%d frequencies", v.blocks, v.config.Width, v.dim)
}

func (v *serving) bank() *features.Bank {
	if v.fit == nil {
		return nil
	}
	b := v.fit.bank(v.config.options().featureMap(v.dim))
	b.Grow(v.blocks)
	return b
}
