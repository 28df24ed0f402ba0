package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/fit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/metric"
	"github.com/accrete-ml/accrete/internal/broker"
	"github.com/accrete-ml/accrete/internal/papers/tasks"
	learned "github.com/accrete-ml/accrete/learner/metric"
)

// tenants writes tasks to a file with a column that names the tenant.
func tenants(t *testing.T, path string, dim int, all []tasks.Task) {
	var b strings.Builder
	b.WriteString("tenant,class")
	for k := range dim {
		fmt.Fprintf(&b, ",x%d", k)
	}
	for j, l := range all {
		for i, class := range l.Classes {
			fmt.Fprintf(&b, "\nt%d,class%d", j, class)
			for _, v := range l.Points[i*dim : (i+1)*dim] {
				fmt.Fprintf(&b, ",%v", 100*v+7)
			}
		}
	}
	if err := os.WriteFile(path, []byte(b.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMetricsOfTenantsBeatOneAndNone(t *testing.T) {
	const dim = 8
	learn, check := tasks.Related(1, 4, 60, 60, dim)
	dir := t.TempDir()
	train, test, saved := filepath.Join(dir, "train.csv"), filepath.Join(dir, "test.csv"), filepath.Join(dir, "metric.json")
	tenants(t, train, dim, learn)
	tenants(t, test, dim, check)
	code, stdout, stderr := call(t, nil, "metric", train, "--key", "tenant", "--label", "class", "--test", test, "--save", saved, "--tolerance", "0.01", "--json")
	if code != exit.Done {
		t.Fatal(stderr)
	}
	var r metric.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Keys != 4 || r.Rows != 240 || r.Columns != dim || r.RelativeGap > 0.01 || r.Test == nil || r.Test.Many >= r.Test.One || r.Test.Many >= r.Test.Euclidean {
		t.Errorf("%s", stdout)
	}
	text, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	var f learned.File
	if err := json.Unmarshal(text, &f); err != nil || len(f.Columns) != dim || len(f.Shared) != dim*dim || len(f.Own) != 4 || len(f.Own["t3"]) != dim*dim {
		t.Errorf("%s, %v", text, err)
	}
	if code, _, stderr := call(t, nil, "metric", waves(t, 50, 1), "--key", "a"); code == exit.Done {
		t.Errorf("metrics of numbers: %s", stderr)
	}
}

// TestMetricsFromTheLogAreThoseOfTheFile learns a file through Kafka, and metrics from the
// records that the model has learned.
func TestMetricsFromTheLogAreThoseOfTheFile(t *testing.T) {
	b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const dim = 4
	learn, _ := tasks.Related(1, 3, 40, 1, dim)
	dir := t.TempDir()
	train, config := filepath.Join(dir, "train.csv"), filepath.Join(dir, "accrete.yaml")
	tenants(t, train, dim, learn)
	text := fmt.Sprintf("model: tenants\nkafka: {bootstrap.servers: %q}\ninput: {topics: [in], label: class, key: tenant}\nlearner: {algorithm: all, max_features: 64}\nhttp: {listen: \"off\"}\n", b.Addr())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	do := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := call(t, nil, args...)
		if code != exit.Done {
			t.Fatalf("%v: exit %d\n%s", args, code, stderr)
		}
		return stdout
	}
	do("feed", train, "-c", config)
	do("learn", "--to-end", "-c", config)
	options := []string{"--key", "tenant", "--shared", "1", "--own", "0.1", "--tolerance", "0.01", "--save"}
	fromLog, fromFile := filepath.Join(dir, "log.json"), filepath.Join(dir, "file.json")
	do(append([]string{"metric", "-c", config}, append(options, fromLog)...)...)
	do(append([]string{"metric", train, "--label", "class"}, append(options, fromFile)...)...)
	got, err := os.ReadFile(fromLog)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(fromFile)
	if err != nil || string(got) != string(want) {
		t.Errorf("from the log:\n%s\nfrom the file:\n%s", got, want)
	}
	if code, _, stderr := call(t, nil, "metric", "-c", config, "--key", "y"); code != exit.Misused || !strings.Contains(stderr, "input.key is tenant") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, _ := call(t, nil, "metric"); code != exit.Misused {
		t.Errorf("exit %d without a file", code)
	}
}

// stripes writes rows of correlated columns. The class depends only on the
// direction of least variance.
func stripes(t *testing.T, rows int, seed uint64) string {
	t.Helper()
	const dim = 8
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	b.WriteString("y")
	for j := range dim {
		fmt.Fprintf(&b, ",x%d", j)
	}
	for range rows {
		stripe := r.IntN(4)
		fmt.Fprintf(&b, "\nc%d", stripe%2)
		u, x := make([]float64, dim), make([]float64, dim)
		for j := range u {
			u[j] = 2 * r.NormFloat64()
		}
		u[0] = 2*float64(stripe) + 0.3*r.NormFloat64()
		mean := 0.0
		for _, v := range u {
			mean += v / dim
		}
		for j, v := range u { // a reflection, which mixes all columns
			x[j] = v - 2*mean
			fmt.Fprintf(&b, ",%.6g", x[j])
		}
	}
	path := filepath.Join(t.TempDir(), "stripes.csv")
	if err := os.WriteFile(path, []byte(b.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fitted runs fit and returns its report.
func fitted(t *testing.T, args ...string) fit.Report {
	t.Helper()
	code, stdout, stderr := call(t, nil, append([]string{"fit", "--json"}, args...)...)
	if code != exit.Done {
		t.Fatalf("%v: exit %d\n%s", args, code, stderr)
	}
	var r fit.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestALearnedMetricIsTheKernels(t *testing.T) {
	train, test, saved := stripes(t, 960, 1), stripes(t, 1000, 2), filepath.Join(t.TempDir(), "metric.json")
	if code, stdout, stderr := call(t, nil, "metric", stripes(t, 400, 3), "--rows", "1000", "--save", saved); code != exit.Done || strings.Contains(stdout, "keys") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	base := []string{train, "--test", test, "--algorithm", "all", "--max-features", "512"}
	without, with := fitted(t, base...), fitted(t, append(base, "--metric", saved)...)
	if w, m := without.Test.Value(), with.Test.Value(); m > 0.01 || w < 0.1 {
		t.Errorf("error %v under the metric, %v without", m, w)
	}
	if code, _, stderr := call(t, nil, "fit", waves(t, 100, 1), "--metric", saved); code != exit.Refused || !strings.Contains(stderr, "the metric has 8 (x0, x1,") || !strings.Contains(stderr, "the rows have 2 (a, b)") {
		t.Errorf("other columns: exit %d, %s", code, stderr)
	}
	if code, _, stderr := call(t, nil, "fit", train, "--metric", train); code != exit.Refused || !strings.Contains(stderr, "not a metric") {
		t.Errorf("no metric: exit %d, %s", code, stderr)
	}
}

// TestTheMetricOfATenantFromFileToScorer tests metrics end to end. The metrics
// of tenants are learned, and a learner then learns the model of a topic under
// them. The model equals that of fit, and is verified, refitted and used by a
// scorer. Any other metric is rejected.
func TestTheMetricOfATenantFromFileToScorer(t *testing.T) {
	const dim = 8
	learn, check := tasks.Related(1, 4, 120, 100, dim)
	dir := t.TempDir()
	train, test, saved := filepath.Join(dir, "train.csv"), filepath.Join(dir, "test.csv"), filepath.Join(dir, "metric.json")
	tenants(t, train, dim, learn)
	tenants(t, test, dim, check)
	if code, _, stderr := call(t, nil, "metric", train, "--key", "tenant", "--label", "class", "--rows", "60", "--save", saved, "--tolerance", "0.01"); code != exit.Done {
		t.Fatal(stderr)
	}
	base := []string{train, "--label", "class", "--key", "tenant", "--max-features", "64", "--mixture", "off", "--shuffle", "1"}
	without := fitted(t, append(base, "--test", test)...)
	with := fitted(t, append(base, "--test", test, "--metric", saved, "--refit")...)
	if w, m := without.Test.Value(), with.Test.Value(); m > w/2 || with.Refit.Test.Value() > w/2 {
		t.Errorf("error %v under metrics of the tenants, %v refitted, %v without", m, with.Refit.Test.Value(), w)
	}

	b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	config := filepath.Join(dir, "accrete.yaml")
	write := func(metric string) {
		text := fmt.Sprintf("model: m\nkafka: {bootstrap.servers: %q}\ninput: {topics: [in], label: class, key: tenant}\nlearner: {kernel: {metric: %q}, max_features: 64, mixture: off}\nhttp: {listen: \"off\"}\nscore: {topics: [in], http.listen: \"off\"}\n", b.Addr(), metric)
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := call(t, nil, append(args, "-c", config)...)
		if code != exit.Done {
			t.Fatalf("%v: exit %d\n%s", args, code, stderr)
		}
		return stdout
	}
	write(saved)
	if out := do("lint"); !strings.Contains(out, "learner.kernel.metric") {
		t.Errorf("lint: %s", out)
	}
	do("feed", train)
	want := fitted(t, train, "--label", "class", "--key", "tenant", "--max-features", "64", "--mixture", "off", "--metric", saved).StateHash.String()
	if out := do("learn", "--to-end", "--json"); !strings.Contains(out, want) {
		t.Errorf("learned from a topic: %s, want the state %s", out, want)
	}
	if out := do("refit", "--json"); !strings.Contains(out, `"published":true`) {
		t.Errorf("refit: %s", out)
	}
	if out := do("verify", "--json"); !strings.Contains(out, `"divergent":0`) || !strings.Contains(out, `"challengers":1`) {
		t.Errorf("verify: %s", out)
	}
	if out := do("inspect"); !strings.Contains(out, `"metric":"sha256:`) {
		t.Errorf("inspect: %s", out)
	}
	other := filepath.Join(dir, "other.json")
	text, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, append(text, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	write(other)
	if code, _, stderr := call(t, nil, "learn", "--to-end", "-c", config); code != exit.Refused || !strings.Contains(stderr, "learner.kernel.metric is") {
		t.Errorf("with another metric: exit %d, %s", code, stderr)
	}
	write(train)
	if code, stdout, _ := call(t, nil, "lint", "-c", config); code != exit.Refused || !strings.Contains(stdout, "learner.kernel.metric: "+train+": not a metric") {
		t.Errorf("lint: exit %d, %s", code, stdout)
	}
	if err := os.Remove(saved); err != nil {
		t.Fatal(err)
	}
	write(saved)
	do("score", "--to-end") // the snapshot contains the metric
}
