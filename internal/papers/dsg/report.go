package dsg

import (
	"context"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/learner"
)

// Options configure the experiments.
type Options struct {
	Section  string         // of Dai et al. 2014, one of Sections; "" for all
	Full     bool           // the sizes of the paper, which take a quarter of an hour
	Clock    func() float64 // processor time in seconds
	Progress func(text string)
	SVM      []*Set  // of two classes, for DSG
	Novelty  []*Rows // of classes, for DSG
	Growth   []*Rows // for CDSG
}

// Report is the result of the experiments.
type Report struct {
	Novelties []*NoveltyReport `json:"novelties,omitempty"`
	Ratios    []*RatioReport   `json:"density_ratios,omitempty"`
	Monitor   *MonitorReport   `json:"monitor,omitempty"`
	Rates     []RateReport     `json:"rates,omitempty"`
	Posterior *PosteriorReport `json:"posterior,omitempty"`
	SVMs      []*SVMReport     `json:"svms,omitempty"`
	Growth    []*GrowthReport  `json:"growth,omitempty"`
	Exact     []*ExactReport   `json:"table_3,omitempty"`
}

// DSG runs the experiments of Dai et al. (2014).
func DSG(ctx context.Context, o Options) (*Report, error) {
	steps, size, rows, long := 256, 256, 1024, 128
	if o.Full {
		steps, size, rows, long = 512, 512, 2048, 512
	}
	var r Report
	var err error
	if o.runs("3") {
		if err := r.applications(ctx, o); err != nil {
			return nil, err
		}
	}
	if o.runs("7.1") {
		if r.Rates, err = rates(ctx, steps, size, o.Progress); err != nil {
			return nil, err
		}
	}
	if o.runs("7.2") {
		if r.Posterior, err = posteriors(ctx, newProcess(rows, 64), long, o.Clock, o.Progress); err != nil {
			return nil, err
		}
	}
	for _, s := range o.SVM {
		if !o.runs("7.3") {
			break
		}
		one, err := svms(ctx, s, o.Clock, o.Progress)
		if err != nil {
			return nil, err
		}
		r.SVMs = append(r.SVMs, one)
	}
	return &r, nil
}

// Sections are the sections of Dai et al. 2014 with experiments.
var Sections = []string{"3", "7.1", "7.2", "7.3"}

func (o *Options) runs(section string) bool { return o.Section == "" || o.Section == section }

// applications runs the experiments of section 3: novelty detection and the density ratio.
func (r *Report) applications(ctx context.Context, o Options) (err error) {
	if r.Novelties, err = novelties(ctx, o.Novelty, o.Full, o.Progress); err != nil {
		return err
	}
	if r.Ratios, err = ratios(ctx, o.Progress); err != nil {
		return err
	}
	r.Monitor, err = monitors(ctx, o.Progress)
	return err
}

// CDSG runs the experiments of Li and Póczos (2016).
func CDSG(ctx context.Context, o Options) (*Report, error) {
	var r Report
	for _, s := range o.Growth {
		one, err := growth(ctx, s, 1, o.Clock, o.Progress)
		if err != nil {
			return nil, err
		}
		r.Growth = append(r.Growth, one)
		if s.Labels[0].Task != learner.Classification {
			continue
		}
		table, err := exact(ctx, s.first(o.exactRows()), o.Clock, o.Progress)
		if err != nil {
			return nil, err
		}
		r.Exact = append(r.Exact, table)
	}
	return &r, nil
}

func (r *Report) String() string {
	var b strings.Builder
	if r.Monitor != nil {
		writeNovelties(&b, r.Novelties)
		writeRatios(&b, r.Ratios, r.Monitor)
	}
	if r.Rates != nil {
		r.rates(&b)
	}
	if r.Posterior != nil {
		r.posterior(&b)
	}
	for _, s := range r.SVMs {
		fmt.Fprintf(&b, "\n\n7.3: %s, %d rows, hinge loss\n%-20s %9s %15s %22s", s.Set, s.Rows, "", "features", "one pass: error, s", "in equal time: passes")
		for _, m := range s.Methods {
			fmt.Fprintf(&b, "\n%-20s %9d %18s %22s", m.Method, m.Features, fmt.Sprintf("%.4f, %.2f", m.Error, m.Seconds), fmt.Sprintf("%.4f, %.2f", m.InTime, m.Passes))
		}
		if m := s.Exact; m != nil {
			fmt.Fprintf(&b, "\n%-20s %9d %18s %22s", m.Method, m.Features, fmt.Sprintf("%.4f, %.2f", m.Error, m.Seconds), "to its end")
		} else {
			fmt.Fprintf(&b, "\n%s", s.Skipped)
		}
	}
	for _, g := range r.Growth {
		fmt.Fprintf(&b, "\n\nfeatures: %s\n%-6s %9s %9s %9s %13s %9s", g.Set, "", "rows", "features", "s", "training loss", "error")
		for _, c := range g.Algorithms {
			if n := len(c.Points); n > 0 {
				p := c.Points[n-1]
				fmt.Fprintf(&b, "\n%-6s %9d %9d %9.2f %13.4f %9.4f", c.Algorithm, p.Rows, p.Features, p.Seconds, p.Training, p.Error)
			}
		}
	}
	for _, e := range r.Exact {
		e.write(&b)
	}
	return strings.TrimPrefix(b.String(), "\n\n")
}

func (r *Report) rates(b *strings.Builder) {
	fmt.Fprintf(b, "\n\n7.1: mean squared distance from the function\n%-22s %15s %15s %15s %15s", "step size", "last iterate", "mean", "slope of last", "of mean")
	for _, s := range r.Rates {
		if s.Diverges {
			fmt.Fprintf(b, "\n%-22s diverges", s.Schedule)
			continue
		}
		p := s.Points[len(s.Points)-1]
		fmt.Fprintf(b, "\n%-22s %15.1e %15.1e %15.2f %15.2f", s.Schedule, p.Last, p.Mean, s.Last, s.Mean)
	}
}

func (r *Report) posterior(b *strings.Builder) {
	p := r.Posterior
	fmt.Fprintf(b, "\n\n7.2: posterior of %d rows; deviation of the mean %.3f, mean variance %.5f\n%-42s %9s %15s %15s %9s", p.Rows, p.Deviation, p.Variance, "", "features", "rms of mean", "of variance", "s")
	for _, m := range p.Methods {
		variance := "-"
		if m.Variance > 0 || m.Method == "closed form" {
			variance = fmt.Sprintf("%.1e", m.Variance)
		}
		mean := "-"
		if m.Mean > 0 || m.Method == "closed form" {
			mean = fmt.Sprintf("%.1e", m.Mean)
		}
		fmt.Fprintf(b, "\n%-42s %9d %15s %15s %9.2f", m.Method, m.Features, mean, variance, m.Seconds)
	}
}
