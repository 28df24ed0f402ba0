// Command peakbench measures the kernels as a fraction of the machine's peak of fused
// multiply-adds, on one core.
//
// Yardstick, kernel and yardstick alternate in slices of a few milliseconds of the thread's own
// time, and the ratio is taken in each round, so that other processes and changes of the clock
// frequency affect both. Each line of the output is a case with two numbers, which are medians over
// the rounds; the second has its quartiles. The first is the fraction of the peak that is reached
// if only the multiplications and additions of w·x count. The second is the same relative to the
// roofline d/(d+15+2C) of a [cos, sin] pair with C scores.
//
// The 15 in the roofline is the number of operations for a reduction to whole turns and polynomials
// of degrees 12 and 13. The reduction to half turns with degrees 8 and 9 takes 10, and its other
// operations use other units, so that a fraction above 1 is possible.
//
// predict is features.Bank.Sum as a learner calls it, including the packing of rows and
// coefficients. gradient is Bank.Gradient. features is the kernel that stores features, without the
// copy into rows.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

// result is the result for a case. The numbers in brackets in the printed line are Quartiles.
type result struct {
	ISA       string     `json:"isa"`
	Kernel    string     `json:"kernel"`
	D         int        `json:"d"`
	B         int        `json:"B"`
	M         int        `json:"m"` // frequencies
	C         int        `json:"C"`
	Fraction  float64    `json:"fraction"`  // of the peak
	Roofline  float64    `json:"roofline"`  // fraction relative to the roofline
	Quartiles [2]float64 `json:"quartiles"` // of roofline
	GFlops    float64    `json:"gflops"`    // of w·x, median
	Peak      float64    `json:"peak_gflops"`
}

type shape struct {
	kernel     string
	d, b, m, c int
}

var shapes = []shape{
	{"predict", 10, 1024, 4096, 1},
	{"predict", 54, 1024, 4096, 1},
	{"predict", 123, 1024, 4096, 1},
	{"predict", 123, 64, 5120, 1},
	{"predict", 784, 1024, 2048, 1},
	{"predict", 54, 1024, 4096, 10},
	{"predict", 784, 1024, 2048, 10},
	{"gradient", 54, 1024, 4096, 1},
	{"gradient", 123, 128, 2048, 1},
	{"gradient", 54, 1024, 4096, 10},
	{"features", 54, 1024, 768, 0},
}

func main() {
	asJSON := flag.Bool("json", false, "print a JSON object a line")
	rounds := flag.Int("rounds", 31, "rounds a case")
	isa := flag.String("isa", "", "measure this instruction set only: avx512 or avx2")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	runtime.LockOSThread()
	for _, name := range vec.ISAs() {
		if *isa != "" && *isa != name {
			continue
		}
		if err := vec.Select(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if vec.Peak(1) == 0 {
			continue // the plain loops have no yardstick
		}
		for _, s := range shapes {
			print(measure(s, *rounds), *asJSON)
		}
	}
}

func print(r result, asJSON bool) {
	if asJSON {
		json.NewEncoder(os.Stdout).Encode(r)
		return
	}
	fmt.Printf("isa=%-6s kernel=%-8s d=%-3d B=%-4d m=%-4d C=%-2d  fraction of peak %.3f  of roofline %.3f [%.3f %.3f]  %.0f of %.0f GF/s\n",
		r.ISA, r.Kernel, r.D, r.B, r.M, r.C, r.Fraction, r.Roofline, r.Quartiles[0], r.Quartiles[1], r.GFlops, r.Peak)
}

func measure(s shape, rounds int) result {
	call := s.prepare()
	flops := 2 * float64(s.b) * float64(s.m) * float64(s.d)
	var fraction, rate, peaks []float64
	for range rounds {
		before := perSecond(func() float64 { return vec.Peak(20000) })
		v := perSecond(func() float64 {
			call()
			return flops
		})
		peak := (before + perSecond(func() float64 { return vec.Peak(20000) })) / 2
		fraction, rate, peaks = append(fraction, v/peak), append(rate, v/1e9), append(peaks, peak/1e9)
	}
	slices.Sort(fraction)
	slices.Sort(rate)
	slices.Sort(peaks)
	ceiling := float64(s.d) / float64(s.d+15+2*s.c)
	round := func(v float64) float64 { return math.Round(v*1000) / 1000 }
	return result{
		ISA: vec.ISA(), Kernel: s.kernel, D: s.d, B: s.b, M: s.m, C: s.c,
		Fraction:  round(fraction[rounds/2]),
		Roofline:  round(fraction[rounds/2] / ceiling),
		Quartiles: [2]float64{round(fraction[rounds/4] / ceiling), round(fraction[rounds*3/4] / ceiling)},
		GFlops:    round(rate[rounds/2]),
		Peak:      round(peaks[rounds/2]),
	}
}

// perSecond calls f repeatedly and returns the sum of its results per second of the thread's time.
func perSecond(f func() float64) float64 {
	f() // powers up the wide units and fills the caches
	n, sum, start := 0, 0.0, threadTime()
	for n == 0 || threadTime()-start < 5e-3 {
		sum += f()
		n++
	}
	return sum / (threadTime() - start)
}

// prepare returns a function that calls the kernel once.
func (s shape) prepare() func() {
	r := rand.New(rand.NewPCG(1, 2))
	numbers := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	bank := features.NewBank(features.Map{Kernel: kernel.Gaussian{Scale: math.Sqrt(float64(s.d))}, Dim: s.d})
	bank.Grow(s.m / features.DefaultBlockSize)
	x := numbers(s.b * s.d)
	switch s.kernel {
	case "predict":
		coef, dst := numbers(2*s.m*s.c), make([]float64, s.b*s.c)
		return func() { bank.Sum(dst, x, coef, s.c) }
	case "gradient":
		g, dst := make([]float64, s.b*s.c), make([]float64, 2*s.m*s.c)
		for i := range g {
			g[i] = r.NormFloat64()
		}
		return func() { bank.Gradient(dst, 0, x, g, s.c) }
	default:
		w, px := make([]float32, s.m*s.d), make([]float32, s.b*s.d)
		vec.PackFrequencies(w, numbers(s.m*s.d), 0, s.d)
		vec.PackRows(px, x, s.d)
		var scratch vec.Scratch
		dst := make([]float32, 2*s.m*vec.Lanes)
		return func() {
			for i := 0; i < s.b; i += vec.Lanes {
				vec.Features(dst, px[i*s.d:(i+vec.Lanes)*s.d], w, s.d, &scratch)
			}
		}
	}
}
