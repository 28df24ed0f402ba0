package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var (
	costRows      = flag.Int("cost-rows", 0, "rows of which the cost of Kafka is measured; 100,000 take about a minute with newton")
	costBatch     = flag.Int("cost-batch", 1000, "input.batch.size for the cost of Kafka; 1000 is its default")
	costAlgorithm = flag.String("cost-algorithm", "newton", "learner.algorithm for the cost of Kafka")
)

// TestCostOfKafka compares learn on a prefilled topic of the embedded broker,
// which runs as a separate process, with fit on the same rows. The limit is
// 1/.85 times the wall-clock time, best of three each. 20 inputs, 2,048 random
// features, two classes, JSON, batches of the default size.
func TestCostOfKafka(t *testing.T) {
	if *costRows == 0 {
		t.Skip("a measurement: -cost-rows=100000")
	}
	b := newFixedBroker(t)
	b.start()
	path := filepath.Join(t.TempDir(), "rows.csv")
	writeRows(t, path, *costRows)
	start := learnerOf(t, b.addr, "m", "rows", fmt.Sprintf("learner: {algorithm: %s, max_features: 2048}", *costAlgorithm))
	feed := program(t, "feed", path, "--set", "model=m", "--set", "kafka.bootstrap.servers="+b.addr, "--set", "input.topics=rows", "--set", "input.label=label")
	if out, err := feed.CombinedOutput(); err != nil {
		t.Fatalf("feed: %v\n%s", err, out)
	}
	time1 := func(p *learnerProcess) time.Duration {
		begin := time.Now()
		var r struct{ Examples int64 }
		p.report(t, &r)
		if r.Examples != int64(*costRows) {
			t.Fatalf("%d examples of %d", r.Examples, *costRows)
		}
		return time.Since(begin)
	}
	fit, learn := time.Hour, time.Hour
	for i := range 3 {
		p := &learnerProcess{Cmd: program(t, "fit", path, "--json", "--algorithm", *costAlgorithm, "--max-features", "2048")}
		p.Stdout, p.Stderr = new(bytes.Buffer), &p.stderr
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		fit = min(fit, time1(p))
		learn = min(learn, time1(start("learn", "--to-end", "--json", "--set", fmt.Sprint("model=m", i), "--set", "snapshot.every=1m",
			"--set", fmt.Sprint("input.batch.size=", *costBatch))))
	}
	t.Logf("%d rows with %s: fit %v, learn %v, ratio %.2f", *costRows, *costAlgorithm, fit, learn, learn.Seconds()/fit.Seconds())
	if fit.Seconds() < 0.85*learn.Seconds() {
		t.Errorf("learn has %.2f times the speed of fit, want at least .85", fit.Seconds()/learn.Seconds())
	}
}

// writeRows writes rows that a linear model cannot learn.
func writeRows(t *testing.T, path string, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(10, 11))
	var out bytes.Buffer
	for k := range 20 {
		fmt.Fprintf(&out, "x%d,", k)
	}
	out.WriteString("label\n")
	for range n {
		var x [20]float64
		for k := range x {
			x[k] = math.Round(1e4*rng.NormFloat64()) / 1e4
			fmt.Fprintf(&out, "%v,", x[k])
		}
		class := "a"
		if math.Sin(2*x[0])+x[1]*x[2]+0.3*x[3] > 0 {
			class = "b"
		}
		out.WriteString(class + "\n")
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
