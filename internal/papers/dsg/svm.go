package dsg

import (
	"context"
	"fmt"
	"math/rand/v2"
)

// SVMReport compares kernel machines with the hinge loss on one set, as in section 7.3.
type SVMReport struct {
	Set     string      `json:"set"`
	Rows    int         `json:"rows"`
	Methods []SVMResult `json:"methods"`

	// Exact is the result of LIBSVM, without passes. Skipped says why there is none.
	Exact   *SVMResult `json:"libsvm,omitempty"`
	Skipped string     `json:"skipped,omitempty"`
}

// SVMResult is the test error of one method, after one pass (criterion SC1 of the paper), and after
// the processor time that one pass of doubly stochastic gradients took (SC2).
type SVMResult struct {
	Method   string  `json:"method"`
	Features int     `json:"features"` // of the model after one pass, or rows kept
	Error    float64 `json:"error"`
	Seconds  float64 `json:"seconds"`
	InTime   float64 `json:"error_in_time"`
	Passes   float64 `json:"passes_in_time"`
}

// ranks is the number of explicit features, random or of Nyström's method.
const ranks = 256

// svms runs the machines on a set.
func svms(ctx context.Context, s *Set, clock func() float64, progress func(string)) (*SVMReport, error) {
	p := newProblem(s)
	methods := []struct {
		name string
		make func() machine
	}{
		{"doubly stochastic", func() machine { return newDoublySVM(p) }},
		{"NORMA", func() machine { return &norma{problem: p, budget: 2000} }},
		{"k-SDCA", func() machine { return &kernelSDCA{problem: p} }},
		{"r-Pegasos", func() machine { return &pegasos{explicit: newRandom(p, ranks)} }},
		{"n-Pegasos", func() machine { return &pegasos{explicit: newNystrom(p, ranks)} }},
		{"r-SDCA", func() machine { return &sdca{explicit: newRandom(p, ranks)} }},
		{"n-SDCA", func() machine { return &sdca{explicit: newNystrom(p, ranks)} }},
		{"r-SBMD", func() machine { return newSBMD(newRandom(p, ranks)) }},
		{"n-SBMD", func() machine { return newSBMD(newNystrom(p, ranks)) }},
		{"r-RBCD", func() machine { return newRBCD(newRandom(p, ranks)) }},
		{"n-RBCD", func() machine { return newRBCD(newNystrom(p, ranks)) }},
	}
	r := &SVMReport{Set: s.Name, Rows: len(s.Y)}
	budget := 0.0
	for _, method := range methods {
		progress(fmt.Sprintf("section 7.3: %s: %s", s.Name, method.name))
		m := method.make()
		result := SVMResult{Method: method.name}
		draw := rand.New(rand.NewPCG(6, 6))
		spent, graded, from := 0.0, false, clock()
		for pass := 0; pass == 0 || !graded; pass++ {
			for i, row := range draw.Perm(len(s.Y)) {
				if i%256 == 0 {
					if err := ctx.Err(); err != nil {
						return nil, err
					}
					if spent = clock() - from; budget > 0 && !graded && spent > budget {
						result.Passes, graded = float64(pass)+float64(i)/float64(len(s.Y)), true
						result.InTime = wrong(m, s)
						from = clock() - spent // grading takes no time
						if pass > 0 {
							break
						}
					}
				}
				m.learn(row)
			}
			if pass > 0 {
				continue
			}
			result.Seconds, result.Features = clock()-from, m.features()
			result.Error = wrong(m, s)
			from = clock() - result.Seconds
			if budget == 0 {
				budget = result.Seconds
				result.InTime, result.Passes, graded = result.Error, 1, true
			}
		}
		r.Methods = append(r.Methods, result)
	}
	return r, r.libsvm(ctx, p, progress)
}

// libsvm adds the result of LIBSVM, if it is installed.
func (r *SVMReport) libsvm(ctx context.Context, p problem, progress func(string)) error {
	l, ok := findLIBSVM()
	if !ok {
		r.Skipped = NoLIBSVM
		return nil
	}
	progress(fmt.Sprintf("section 7.3: %s: LIBSVM", r.Set))
	got, err := l.run(ctx, libsvmRows{p.Train, p.Y}, libsvmRows{p.Test, p.TestY}, p.Dim, p.scale, 1/(p.penalty*float64(len(p.Y))))
	if err != nil {
		return err
	}
	r.Exact = &SVMResult{Method: "LIBSVM", Features: got.vectors, Error: got.test, Seconds: got.seconds}
	return nil
}

// wrong returns the test error of m.
func wrong(m machine, s *Set) float64 {
	n := 0
	for i, f := range m.score(s.Test) {
		if (f > 0) != (s.TestY[i] > 0) {
			n++
		}
	}
	return float64(n) / float64(len(s.TestY))
}
