package dsg

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
)

// RateReport is the error of one schedule of step sizes on the problem of section 7.1:
// the mean squared distance from the function itself, whose variance is about 0.06.
type RateReport struct {
	Schedule string      `json:"schedule"`
	Points   []RatePoint `json:"points"`
	Last     float64     `json:"slope_last"` // slope of log error over log step in the second half, for the last iterate
	Mean     float64     `json:"slope_mean"` // the same slope for the mean of the iterates
	Diverges bool        `json:"diverges,omitempty"`
}

// RatePoint is the error after some steps.
type RatePoint struct {
	Step int     `json:"step"`
	Last float64 `json:"last"`
	Mean float64 `json:"mean"`
}

// penalty is ν of section 7.1.
const penalty = 1e-6

// schedules are step sizes as a function of the step t, from 1. The last one is printed in the
// paper: θ/t with 1 < θν < 2.
var schedules = []struct {
	name string
	rate func(t int) float64
}{
	{"10", func(int) float64 { return 10 }},
	{"1", func(int) float64 { return 1 }},
	{"100/(t+10)", func(t int) float64 { return 100 / float64(t+10) }},
	{"1000/(t+20)", func(t int) float64 { return 1000 / float64(t+20) }},
	{"1.5/(νt), as printed", func(t int) float64 { return 1.5 / (penalty * float64(t)) }},
}

// rates runs the problem with every schedule, for a number of steps. Each step has a mini-batch of
// size rows and a block of size random features.
func rates(ctx context.Context, steps, size int, progress func(string)) ([]RateReport, error) {
	r := rand.New(rand.NewPCG(1, 1))
	test, _ := sample(r, 2000, nil, nil)
	truth := make([]float64, len(test)/2)
	for i := range truth {
		truth[i] = wave(float64(test[2*i]), float64(test[2*i+1]))
	}
	scale := 0.1 * medianDistance(test, 2)
	var reports []RateReport
	for _, s := range schedules {
		report := RateReport{Schedule: s.name}
		g := newGradient(2, size, 1, scale, 1)
		draw := rand.New(rand.NewPCG(2, 2))
		var x []float32
		var y, f []float64
		for t := 1; t <= steps && !report.Diverges; t++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			x, y = sample(draw, size, x[:0], y[:0])
			g.step(x, size, s.rate(t), penalty, func(f []float64) {
				for i := range f {
					f[i] -= y[i]
				}
			})
			if t&(t-1) != 0 && t != steps {
				continue
			}
			progress(fmt.Sprintf("section 7.1: step size %s, step %d of %d", s.name, t, steps))
			p := RatePoint{Step: t}
			f = g.predict(f, g.w, test, len(truth))
			p.Last = meanSquare(f, truth)
			f = g.predict(f, g.mean, test, len(truth))
			p.Mean = meanSquare(f, truth)
			if report.Diverges = !(p.Last < 1e6); !report.Diverges {
				report.Points = append(report.Points, p)
			}
		}
		report.Last = slope(report.Points, func(p RatePoint) float64 { return p.Last })
		report.Mean = slope(report.Points, func(p RatePoint) float64 { return p.Mean })
		reports = append(reports, report)
	}
	return reports, nil
}

func meanSquare(f, g []float64) float64 {
	sum := 0.0
	for i, v := range f {
		sum += (v - g[i]) * (v - g[i])
	}
	return sum / float64(len(f))
}

// slope returns the least-squares slope of log error over log step, for the second half of the
// points.
func slope(points []RatePoint, of func(RatePoint) float64) float64 {
	points = points[len(points)/2:]
	n, mx, my, xx, xy := float64(len(points)), 0.0, 0.0, 0.0, 0.0
	if n < 2 {
		return 0
	}
	for _, p := range points {
		mx, my = mx+math.Log(float64(p.Step))/n, my+math.Log(of(p))/n
	}
	for _, p := range points {
		d := math.Log(float64(p.Step)) - mx
		xx, xy = xx+d*d, xy+d*(math.Log(of(p))-my)
	}
	return xy / xx
}
