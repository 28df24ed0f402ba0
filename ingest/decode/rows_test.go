package decode

import (
	"fmt"
	"io"
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

// TestRowsReadAtOnceAreTheSame: lines of numbers are read in one go, and lines with a quote or
// a comment are not. They are the same rows and errors otherwise.
func TestRowsReadAtOnceAreTheSame(t *testing.T) {
	odd := []string{"", "1#2", " 1", "1 ", "x", "01", "+1", ".5", "5.", "1e3", "-0", "1e999", "2e20", "0x1", "é", "1.2.3", "NaN", "-", "1:2", "12345678.12345678", "\t3"}
	rng := rand.New(rand.NewPCG(5, 6))
	var c, l [2]strings.Builder
	for i := range c {
		c[i].WriteString("a,y,b,k\n")
	}
	for i := range 3000 {
		a, b, y, index := fmt.Sprintf("%.*f", i%19, rng.NormFloat64()), fmt.Sprint(rng.Float32()), fmt.Sprint(i%3), "2"
		if i > 1100 {
			for at, cell := range []*string{&a, &b, &y, &index} {
				if rng.IntN(8) == 0 && (at > 0 || i%2 == 0) {
					*cell = odd[rng.IntN(len(odd))]
				}
			}
		}
		fmt.Fprintf(&c[0], "%s,%s,%s,z%d\n", a, y, b, i%5)
		fmt.Fprintf(&c[1], "%s,%s,%s,\"z%d\"\n", a, y, b, i%5)
		fmt.Fprintf(&l[0], "%s 1:%s %s:%s\n", y, a, index, b)
		fmt.Fprintf(&l[1], "%s 1:%s %s:%s #\n", y, a, index, b)
	}
	c[0].WriteString("1,2\n1,2,3,4,5\n1,1,2,z1")
	c[1].WriteString("1,\"2\"\n1,2,3,4,\"5\"\n1,1,2,\"z1\"")
	for name, texts := range map[string][2]string{"csv": {c[0].String(), c[1].String()}, "libsvm": {l[0].String(), l[1].String()}} {
		for _, cfg := range []Config{{Task: 1}, {Task: 2}, {Task: 1, Missing: "zero"}, {Task: 1, MaxAbs: 1}} {
			if name == "csv" {
				cfg.Key = "k"
			}
			got, want := rowsOfFile(t, texts[0], cfg), rowsOfFile(t, texts[1], cfg)
			if len(got) != len(want) {
				t.Fatalf("%s, %+v: %d rows, otherwise %d", name, cfg, len(got), len(want))
			}
			for i, w := range want {
				if got[i] != w {
					t.Errorf("%s, %+v: row %d is %s, otherwise %s", name, cfg, i+1, got[i], w)
				}
			}
		}
	}
}

// rowsOfFile returns the rows and errors of a file, as text.
func rowsOfFile(t *testing.T, text string, c Config) (all []string) {
	f, err := Read(strings.NewReader(text), "file", c, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		r, err := f.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			all = append(all, err.Error())
			continue
		}
		all = append(all, fmt.Sprintf("%x %v %v %s", r.X, r.Label, r.Weight, r.Key))
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
