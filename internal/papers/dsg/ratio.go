package dsg

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/accrete-ml/accrete/learner/divergence"
)

// RatioReport compares estimates of divergences between Gaussians with their true values: the
// density ratio of section 3.
type RatioReport struct {
	Samples    string    `json:"samples"`
	TrueKL     float64   `json:"true_kl"`
	KL         []float64 `json:"kl"` // for each order
	TrueDirect float64   `json:"true_direct"`
	Direct     []float64 `json:"direct"` // estimates of the Pearson divergence
}

// ChangeReport says how soon a change of the inputs of a stream raises an alarm.
type ChangeReport struct {
	Change string `json:"change"`
	Rows   []int  `json:"rows"` // rows from the change to the alarm, in each order; -1: no alarm within changeRows
	Before int    `json:"before,omitempty"`
}

// MonitorReport is the result for the monitor of the inputs.
type MonitorReport struct {
	Quiet   int             `json:"quiet_rows"` // number of rows without a change
	Alarms  int             `json:"false_alarms"`
	Largest float64         `json:"largest_distance"` // largest distance in these rows, relative to the threshold
	Changes []*ChangeReport `json:"changes"`
}

// ratios compares samples of 3,000 rows with samples of the same size from N(0, 1).
func ratios(ctx context.Context, progress func(string)) (reports []*RatioReport, err error) {
	for _, c := range []struct {
		name            string
		dim             int
		mean, deviation float64
	}{
		{"N(0, 1)", 1, 0, 1}, {"mean .6325", 1, 0.6325, 1}, {"mean .6325, and a column of noise", 2, 0.6325, 1}, {"deviation .7, and a column of noise", 2, 0, 0.7},
	} {
		r := &RatioReport{Samples: c.name, TrueKL: -math.Log(c.deviation) + (c.deviation*c.deviation+c.mean*c.mean-1)/2, TrueDirect: pearson(c.mean, c.deviation)}
		for order := range uint64(orders) {
			progress(fmt.Sprintf("section 3: density ratio, %s, order %d of %d", c.name, order+1, orders))
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			rng := rand.New(rand.NewPCG(order, 3))
			draw := func(mean, deviation float64) (x []float64) {
				for i := range 3000 * c.dim {
					v := rng.NormFloat64()
					if i%c.dim == 0 {
						v = mean + deviation*v
					}
					x = append(x, v)
				}
				return x
			}
			e, err := divergence.Compare(draw(c.mean, c.deviation), draw(0, 1), c.dim)
			if err != nil {
				return nil, err
			}
			r.KL, r.Direct = append(r.KL, e.KL), append(r.Direct, e.Direct)
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// pearson returns the Pearson divergence of N(mean, deviation²) from N(0, 1), by
// integration.
func pearson(mean, deviation float64) float64 {
	const step, to = 1e-3, 12
	sum := 0.0
	for x := -float64(to); x < to; x += step {
		p, q := math.Exp(-(x-mean)*(x-mean)/2/deviation/deviation)/deviation, math.Exp(-x*x/2)
		sum += (p - q) * (p - q) / q
	}
	return sum * step / math.Sqrt(2*math.Pi) / 2
}

// changes are abrupt changes of a row with four columns: normal, an indicator that is 1 in one of
// eight rows, lognormal, and uniform.
var changes = []struct {
	name   string
	change func(x []float64, r *rand.Rand)
}{
	{"a mean moves by half a deviation", func(x []float64, _ *rand.Rand) { x[0] += 0.5 }},
	{"a deviation times 1.7", func(x []float64, _ *rand.Rand) { x[0] *= 1.7 }},
	{"a share grows from .13 to .33", func(x []float64, r *rand.Rand) { x[1] = float64(r.IntN(3) / 2) }},
	{"another unit", func(x []float64, _ *rand.Rand) { x[3] *= 100 }},
	{"a third of the values missing", func(x []float64, r *rand.Rand) {
		if r.IntN(3) == 0 {
			x[3] = math.NaN()
		}
	}},
	{"two columns become dependent", func(x []float64, r *rand.Rand) { x[3] = 0.5 + 0.29*math.Tanh(1.5*x[0]) + 0.05*r.NormFloat64() }},
}

// changeRows is the number of rows after a change within which an alarm is expected.
const changeRows = 2000

// monitors runs the monitor of the inputs on rows that do not change, 100,000 in each order, and on
// rows with each of the changes.
func monitors(ctx context.Context, progress func(string)) (*MonitorReport, error) {
	const quiet, before = 100_000, 5300
	report := &MonitorReport{Quiet: quiet * orders}
	row := func(r *rand.Rand) []float64 {
		return []float64{r.NormFloat64(), float64(r.IntN(8) / 7), math.Exp(2 * r.NormFloat64()), r.Float64()}
	}
	for order := range uint64(orders) {
		progress(fmt.Sprintf("section 3: monitor of the inputs, order %d of %d", order+1, orders))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, m := rand.New(rand.NewPCG(order, 1)), divergence.NewMonitor(4, divergence.BlockRows)
		for range quiet {
			if _, s := m.Add(row(r)); s != nil {
				report.Largest = max(report.Largest, s.Distance)
				if s.Alarm {
					report.Alarms++
				}
			}
		}
	}
	for _, c := range changes {
		one := &ChangeReport{Change: c.name}
		for order := range uint64(orders) {
			r, m := rand.New(rand.NewPCG(order, 2)), divergence.NewMonitor(4, divergence.BlockRows)
			at := -1
			for i := 0; i < before+changeRows && at < 0; i++ {
				x := row(r)
				if i >= before {
					c.change(x, r)
				}
				_, s := m.Add(x)
				switch {
				case s == nil || !s.Alarm:
				case i < before:
					one.Before++
				default:
					at = i + 1 - before
				}
			}
			one.Rows = append(one.Rows, at)
		}
		report.Changes = append(report.Changes, one)
	}
	return report, nil
}

func writeRatios(b *strings.Builder, reports []*RatioReport, m *MonitorReport) {
	fmt.Fprintf(b, "\n\n3: density ratio of samples of 3,000 rows, %d orders, mean ± deviation\n%-40s %9s %17s %9s %17s", orders, "against N(0, 1)", "KL", "estimate", "Pearson", "estimate")
	for _, r := range reports {
		fmt.Fprintf(b, "\n%-40s %9.4f %17s %9.4f %17s", r.Samples, r.TrueKL, spread(r.KL), r.TrueDirect, spread(r.Direct))
	}
	fmt.Fprintf(b, "\n\n3: monitor of the inputs: %d false alarms in %d rows, largest distance %.2f of the threshold\n%-40s %s", m.Alarms, m.Quiet, m.Largest, "", "rows from the change to the alarm, in each order")
	for _, c := range m.Changes {
		fmt.Fprintf(b, "\n%-40s %v", c.Change, c.Rows)
		if c.Before > 0 {
			fmt.Fprintf(b, ", and %d alarms before", c.Before)
		}
	}
}
