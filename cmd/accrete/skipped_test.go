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
)

// Every row of a file is accounted for: learned, without a label, or skipped for a reason
// that names the first such line. Shuffling changes none of it, and predict agrees.
func TestSkippedRowsAreCountedByReason(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,c,y\n")
	want := map[string][2]int{} // rows and first line
	skip := func(reason string, i int) {
		n := want[reason]
		if n[0]++; n[0] == 1 {
			n[1] = i + 2 // behind the header
		}
		want[reason] = n
	}
	rng, unlabelled, n := rand.New(rand.NewPCG(1, 2)), 0, 600
	for i := range n {
		switch rng.IntN(12) {
		case 0:
			b.WriteString("1,p\n")
			skip("csv: … cells, but the header has …", i)
		case 1:
			fmt.Fprintf(&b, "\"no, %d\",p,1\n", i)
			skip(`columns: "a" is text …, want a number`, i)
		case 2:
			fmt.Fprintf(&b, "%d.5,p,\n", i%7)
			unlabelled++
		default:
			fmt.Fprintf(&b, "%d,q,%d.5\n", i%7, i%5)
		}
	}
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "m.snap")
	bad := 0
	for _, more := range [][]string{{"--save", model}, {"--shuffle", "3"}} {
		args := append([]string{path, "--algorithm", "ridge", "--max-features", "32", "--columns", "a:numeric,c:category", "--skip-bad"}, more...)
		r := fitted(t, args...)
		if bad = 0; len(r.Reasons) != len(want) {
			t.Errorf("reasons %v, want %v", r.Reasons, want)
		}
		for _, reason := range r.Reasons {
			kind, _, _ := strings.Cut(reason.Reason, ": convert")
			if w := want[kind]; reason.Count != int64(w[0]) || reason.Line != w[1] || reason.File != "rows.csv" || reason.Example == "" {
				t.Errorf("%+v, want %v", reason, w)
			}
			bad += int(reason.Count)
		}
		if c := r.Rows; int(c.Read) != n || int(c.Skipped) != bad || int(c.Unlabelled) != unlabelled || c.Learned != r.Examples || c.Learned+c.Unlabelled+c.Skipped != c.Read {
			t.Errorf("%+v of %d rows, %d without a label, %d skipped", c, n, unlabelled, bad)
		}
	}
	code, stdout, stderr := call(t, nil, "predict", path, "--model", model, "--skip-bad")
	if code != exit.Done || len(lines(stdout)) != 1+n-bad {
		t.Errorf("exit code %d, %d lines", code, len(lines(stdout)))
	}
	var rows, total int
	for _, line := range lines(stderr) {
		var l struct{ Rows, Read, Kept, Skipped int }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		rows, total = rows+l.Rows, total+l.Read
		if l.Read != 0 && (l.Read != n || l.Skipped != bad || l.Kept != n-bad) {
			t.Errorf("%s", line)
		}
	}
	if rows != bad || total != n {
		t.Errorf("%d rows by reason, %d read:\n%s", rows, total, stderr)
	}
}

// The text says how many rows had no label, also if none were skipped, and nothing if all were
// learned.
func TestRowsWithoutALabelAreCounted(t *testing.T) {
	for text, want := range map[string]string{
		"a,y\n1,2.5\n2,\n3,3.5\n": "rows         3 read: 2 learned, 1 without a label, 0 skipped\n",
		"a,y\n1,2.5\n3,3.5\n":     "",
	} {
		path := filepath.Join(t.TempDir(), "rows.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := call(t, nil, "fit", path)
		if code != exit.Done || !strings.Contains(stdout, want) || want == "" && strings.Contains(stdout, "\nrows ") {
			t.Errorf("%q: exit code %d, want %q in\n%s%s", text, code, want, stdout, stderr)
		}
	}
}
