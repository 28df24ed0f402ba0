package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/refit"
)

// tenants writes tasks to a file with a column that names them.
func tenants(t *testing.T, path string, dim int, tasks []refit.Labelled) {
	var b strings.Builder
	b.WriteString("tenant,class")
	for k := range dim {
		fmt.Fprintf(&b, ",x%d", k)
	}
	for j, l := range tasks {
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
	learn, check := refit.RelatedTasks(1, 4, 60, 60, dim)
	dir := t.TempDir()
	train, test, saved := filepath.Join(dir, "train.csv"), filepath.Join(dir, "test.csv"), filepath.Join(dir, "metric.json")
	tenants(t, train, dim, learn)
	tenants(t, test, dim, check)
	code, stdout, stderr := call(t, nil, "metric", train, "--key", "tenant", "--label", "class", "--test", test, "--save", saved, "--gap", "0.01", "--json")
	if code != done {
		t.Fatal(stderr)
	}
	var r metricReport
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
	var f metricFile
	if err := json.Unmarshal(text, &f); err != nil || len(f.Columns) != dim || len(f.Shared) != dim*dim || len(f.Own) != 4 || len(f.Own["t3"]) != dim*dim {
		t.Errorf("%s, %v", text, err)
	}
	if code, _, stderr := call(t, nil, "metric", waves(t, 50, 1), "--key", "a"); code == done {
		t.Errorf("metrics of numbers: %s", stderr)
	}
}
