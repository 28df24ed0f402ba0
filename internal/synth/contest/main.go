// Command contest learns the generated streams with a mixture. For each it prints the progressive
// error of the algorithm alone, of the best member, of the mixture, and of the mixture that a
// scorer has: the table in docs/mixture.md. With -picture it instead draws the weights of the
// members along three streams. With -files it writes the streams to a folder, for accrete bench and
// cmd/accrete/internal/bench/peers.py.
//
//	go run ./internal/synth/contest [-rows 20000] [-seeds 3] [-only NAME] [-forest 0]
//	go run ./internal/synth/contest -picture docs/mixture.svg
//	go run ./internal/synth/contest -files DIR [-rows 20000] [-seeds 3] [-only NAME]
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/accrete-ml/accrete/internal/synth/concepts"
	"github.com/accrete-ml/accrete/learner"
)

// leastRows is the share of the rows that a member must have predicted to be compared.
const leastRows = 0.95

func main() {
	rows := flag.Int("rows", 20_000, "examples of each stream")
	seeds := flag.Int("seeds", 3, "streams of each kind")
	first := flag.Int("first", 1, "first seed")
	only := flag.String("only", "", "streams whose name contains this")
	verbose := flag.Bool("v", false, "print all members")
	picture := flag.String("picture", "", "PNG or SVG file with the weights of the members, instead of the table")
	forest := flag.String("forest", "auto", "trees: auto, as in a new model, or a number")
	files := flag.String("files", "", "folder to write the streams to, instead")
	flag.Parse()
	if *files != "" {
		exit(writeAll(*files, *only, *rows, *first, *seeds, os.Stdout))
		return
	}
	config, err := learner.Config{Mixture: true, NormalScores: true, Warmup: learner.NewestWarmup, Discard: true}.WithForest(*forest, false)
	exit(err)
	if *picture != "" {
		exit(draw(config, *picture, *rows, uint64(*first))) // #nosec G115 -- a small number
		return
	}
	fmt.Println("| stream | newton | best member | | mixture | scorer |\n|---|---|---|---|---|---|")
	logs, n := 0.0, 0
	for _, s := range concepts.All {
		if !strings.Contains(s.Name, *only) {
			continue
		}
		var sum [4]float64
		var of []float64 // errors of the mixture
		best := ""
		for seed := range *seeds {
			p, err := learn(config, s, *rows, uint64(*first+seed), nil) // #nosec G115 -- a small number
			exit(err)
			of = append(of, p.Whole.Model.Error)
			at := 0
			for i, m := range p.Mixture.Members {
				if *verbose {
					fmt.Fprintf(os.Stderr, "%s: %s %.4f, weight %.2f\n", s.Name, m.Name, m.Whole.Error, m.Weight)
				}
				if m.Rows > leastRows && m.Whole.Error < p.Mixture.Members[at].Whole.Error {
					at = i
				}
			}
			best = p.Mixture.Members[at].Name
			for i, v := range []float64{p.Mixture.Members[0].Whole.Error, p.Mixture.Members[at].Whole.Error, p.Whole.Model.Error, p.Mixture.Scorer.Error} {
				sum[i] += v / float64(*seeds)
			}
		}
		fmt.Printf("| %s | %.4f | %.4f | %s | %.4f ± %.4f | %.4f |\n", s.Name, sum[0], sum[1], best, sum[2], stat.StdDev(of, nil), sum[3])
		logs, n = logs+math.Log(sum[2]/sum[0]), n+1
	}
	fmt.Printf("geometric mean of mixture / newton: %.3f\n", math.Exp(logs/float64(n)))
}

// exit ends the program if there is an error.
func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// learn learns a stream. look, if not nil, is called after every pass.
func learn(c learner.Config, s concepts.Stream, rows int, seed uint64, look func(*learner.Learner)) (learner.Progress, error) {
	l, err := learner.New(c)
	if err != nil {
		return learner.Progress{}, err
	}
	next, x := s.New(rows, rand.New(rand.NewPCG(seed, 0))), make([]float64, s.Inputs)
	index := map[int]int{} // of classes, by their order of appearance
	var b learner.Batch
	for from := 0; from < rows; from += 256 {
		b.Reset(s.Inputs)
		for range min(256, rows-from) {
			y := learner.Label{Task: learner.Regression}
			if v := next(x); s.Classes == 0 {
				y.Value = v
			} else {
				c, ok := index[int(v)]
				if !ok {
					c = len(index)
					index[int(v)] = c
				}
				y.Task, y.Class = learner.Classification, c
			}
			b.Append(x, y, 1)
		}
		for at := 0; at < b.Len(); {
			p := l.Predict(b.Slice(at, b.Len()))
			at += p.Len()
			l.Learn(p)
			if look != nil {
				look(l)
			}
		}
	}
	return l.Progress(), nil
}
