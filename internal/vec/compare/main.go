// Command compare measures whole iterations of doubly stochastic gradients: it predicts the rows of
// a mini-batch with m frequencies, computes the gradient on a block of 128 new ones, and updates
// their coefficients. compare.py alternates it with the same iteration in numpy.
//
// It prints a JSON object with the seconds per iteration. Each number is the mean over a slice of
// the measurement. It is the CPU time of the process with one thread, and wall-clock time with
// more.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
	"github.com/accrete-ml/accrete/internal/vec"
)

const (
	block = 128 // frequencies
	step  = .1
)

func main() {
	d := flag.Int("d", 54, "inputs")
	b := flag.Int("B", 1024, "rows")
	m := flag.Int("m", 8192, "frequencies")
	c := flag.Int("C", 1, "scores")
	threads := flag.Int("threads", 1, "cores")
	slices := flag.Int("slices", 9, "measurements")
	sampling := flag.String("sampling", "iid", "sampling of the frequencies: "+strings.Join(features.SamplingNames(), " or "))
	flag.Parse()
	drawn, err := features.ParseSampling(*sampling)
	if err == nil {
		err = drawn.Check(*d)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	runtime.GOMAXPROCS(*threads)
	now := processTime
	if *threads > 1 {
		now = func() float64 { return float64(time.Now().UnixNano()) / 1e9 }
	}

	r := rand.New(rand.NewPCG(1, 2))
	normal := func(n int, scale float64) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(scale * r.NormFloat64())
		}
		return v
	}
	bank := features.NewBank(features.Map{Kernel: kernel.Gaussian{Scale: math.Sqrt(float64(*d))}, Dim: *d, Sampling: drawn})
	bank.Grow((*m + block) / features.DefaultBlockSize)
	x, coef := normal(*b**d, 1), normal(2**m**c, 1/math.Sqrt(float64(*m)))
	y, fresh := normal(*b**c, 1), make([]float32, 2*block**c)
	f, gradient := make([]float64, *b**c), make([]float64, len(fresh))
	iterate := func() {
		bank.Sum(f, x, coef, *c)
		for i := range f {
			f[i] -= float64(y[i])
		}
		bank.Gradient(gradient, *m/features.DefaultBlockSize, x, f, *c)
		for i, v := range gradient {
			fresh[i] = float32(-step / float64(*b) * v)
		}
	}
	iterate()
	var seconds []float64
	for range *slices {
		n, start := 0, now()
		for n == 0 || now()-start < .05 {
			iterate()
			n++
		}
		seconds = append(seconds, (now()-start)/float64(n))
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"isa": vec.ISA(), "seconds": seconds})
}
