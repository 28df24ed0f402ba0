package main

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/accrete-ml/accrete/internal/synth/concepts"
)

// write writes the stream with this seed to a file in dir. accrete bench reads such files, and so
// does peers.py of package bench.
func write(dir string, s concepts.Stream, rows int, seed uint64) error {
	name := fmt.Sprintf("%s-%d.stream.csv.gz", strings.ReplaceAll(s.Name, " ", "-"), seed)
	f, err := os.Create(filepath.Join(dir, name)) // #nosec G304 -- the user names the folder
	if err != nil {
		return err
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	w := bufio.NewWriter(z)
	for j := range s.Inputs {
		fmt.Fprintf(w, "x%d,", j)
	}
	fmt.Fprintln(w, "y")
	next, x := s.New(rows, rand.New(rand.NewPCG(seed, 0))), make([]float64, s.Inputs)
	for range rows {
		y := next(x)
		for _, v := range x {
			fmt.Fprintf(w, "%v,", v)
		}
		fmt.Fprintln(w, y)
	}
	for _, end := range []func() error{w.Flush, z.Close, f.Close} {
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

// writeAll writes the streams with names that contain only, for each seed.
func writeAll(dir, only string, rows, first, seeds int, said io.Writer) error {
	for _, s := range concepts.All {
		for seed := first; seed < first+seeds && strings.Contains(s.Name, only); seed++ {
			if err := write(dir, s, rows, uint64(seed)); err != nil { // #nosec G115 -- a small number
				return err
			}
			fmt.Fprintf(said, "%s, seed %d\n", s.Name, seed)
		}
	}
	return nil
}
