package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/fit"
)

// rareFile writes n rows of two inputs, of which a share is "fraud".
func rareFile(t *testing.T, name string, seed uint64, n int, share float64) string {
	r := rand.New(rand.NewPCG(seed, 0))
	var b bytes.Buffer
	b.WriteString("a,b,y\n")
	for range n {
		class, x := "ok", 0.0
		if r.Float64() < share {
			class, x = "fraud", 1.5
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s\n", r.NormFloat64()+x, r.NormFloat64()+x, class)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fit and bench report the figures of the rarer class: in the text if it is rare or if
// asked to, and always with --json.
func TestFiguresOfARareClass(t *testing.T) {
	const few = "--max-features 64 --kernel gaussian:1.5 --mixture off "
	dir := t.TempDir()
	rare, even := rareFile(t, "rare.csv", 1, 450, 0.05), rareFile(t, "even.csv", 2, 450, 0.5)
	for from, to := range map[string]string{rare: "rare.train.csv", even: "rare.test.csv"} {
		b, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, to), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]bool{
		"fit " + few + rare: true, "fit " + few + even: false, "fit --class-figures " + few + even: true,
		"bench --algorithms dsg " + dir: false, "bench --algorithms dsg --class-figures " + dir: true,
	} {
		code, said, why := call(t, nil, strings.Fields(args)...)
		if code != exit.Done || strings.Contains(said, "AUC") != want {
			t.Errorf("%s: exit code %d, figures wanted: %v\n%s%s", args, code, want, said, why)
		}
	}
	for args, want := range map[string]int{"--costs f1": exit.Done, "--costs f1 --task regression": exit.Misused, `--costs {"fraud":20}`: exit.Done, "--costs f2": exit.Misused} {
		if code, said, why := call(t, nil, append([]string{"fit", rare}, strings.Fields(few+args)...)...); code != want || want == exit.Done && strings.Contains(said, "F1 0.0000") {
			t.Errorf("fit %s: exit code %d\n%s%s", args, code, said, why)
		}
	}
	code, said, why := call(t, nil, append(strings.Fields("fit "+few+"--precision 0.6 --json --test"), even, rare)...)
	var r fit.Report
	if err := json.Unmarshal([]byte(said), &r); code != exit.Done || err != nil {
		t.Fatalf("exit code %d, %v, %s", code, err, why)
	}
	p, q := r.Progressive.Classes, r.Test.Classes
	if p.Class != "fraud" || p.Share > 0.08 || p.Precision != 0.6 || q.Precision != 0.6 {
		t.Errorf("progressive %+v, test %+v", p, q)
	}
	// The AUC of the best rule is that of the sum of the inputs, Φ(1.5).
	want := 0.5 * math.Erfc(-1.5/math.Sqrt2)
	if math.Abs(q.AUC-want) > 0.03 || q.AUC < 0.5 || q.BestF1 < q.F1 || p.BestF1 < p.F1*0.99 || q.BalancedError > 0.5 {
		t.Errorf("progressive %+v, test %+v, want an AUC of about %v", p.Curve, q.Curve, want)
	}
}
