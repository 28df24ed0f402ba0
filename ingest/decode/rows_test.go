package decode

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// formatted are files of the same numbers.
func formatted(rows, columns int) map[string]string {
	rng := rand.New(rand.NewPCG(3, 4))
	var c, l, v, j strings.Builder
	for i := range columns {
		fmt.Fprintf(&c, "c%d,", i)
	}
	c.WriteString("y\n")
	for i := range rows {
		fmt.Fprintf(&l, "%d", i%3)
		fmt.Fprintf(&v, "%d |", i%3)
		j.WriteString(`{"features":{`)
		for k := range columns {
			x := rng.Float64()
			fmt.Fprintf(&c, "%.5f,", x)
			fmt.Fprintf(&l, " %d:%.5f", k+1, x)
			fmt.Fprintf(&v, " c%d:%.5f", k, x)
			fmt.Fprintf(&j, `%s"c%d":%.5f`, map[bool]string{true: ","}[k > 0], k, x)
		}
		fmt.Fprintf(&c, "%d\n", i%3)
		l.WriteByte('\n')
		v.WriteByte('\n')
		fmt.Fprintf(&j, "},\"y\":%d}\n", i%3)
	}
	return map[string]string{"csv": c.String(), "libsvm": l.String(), "vw": v.String(), "json": j.String()}
}

// A row of a file takes no memory of its own, once the first ones are read.
func TestRowsOfFilesAllocateNothing(t *testing.T) {
	for name, text := range formatted(3000, 12) {
		f, err := Read(strings.NewReader(text), name, Config{Infer: true, Missing: "impute", Task: 1}, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		next := func() {
			if _, err := f.Next(); err != nil {
				t.Fatal(err)
			}
		}
		for range 1100 {
			next()
		}
		if n := testing.AllocsPerRun(1000, next); n > 0 {
			t.Errorf("%s: %v allocations a row", name, n)
		}
	}
}

// BenchmarkFiles reads rows of 12 and of 50 numbers.
func BenchmarkFiles(b *testing.B) {
	const rows = 5_000
	for _, columns := range []int{12, 50} {
		for name, text := range formatted(rows, columns) {
			benchmarkFile(b, fmt.Sprintf("%s/columns=%d", name, columns), text, rows)
		}
	}
}

func benchmarkFile(b *testing.B, name, text string, rows float64) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			f, err := Read(strings.NewReader(text), "file", Config{Task: 1}, Schema{})
			if err != nil {
				b.Fatal(err)
			}
			for err == nil {
				_, err = f.Next()
			}
		}
		b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
	})
}
