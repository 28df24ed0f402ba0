package trust

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot"

	"github.com/accrete-ml/accrete/internal/chart"
	"github.com/accrete-ml/accrete/learner"
)

// mixed is the progress of a learner with a mixture of members of all groups.
func mixed(examples int64, weights ...float64) *learner.Progress {
	x := &learner.MixtureScores{Stacked: 0.5}
	for i, name := range []string{"newton", "linear:1", "linear+label", "short", "reset", "newton, calibrated", "linear:1, calibrated"} {
		x.Members = append(x.Members, learner.MemberScore{Name: name, Labels: name == "linear+label", Weight: weights[i]})
	}
	return &learner.Progress{Examples: examples, Mixture: x}
}

// TestSharesAreMeansOverTheMembersOfAGroup, of the weight that the stacks leave.
func TestSharesAreMeansOverTheMembersOfAGroup(t *testing.T) {
	var r Recorder
	r.Look(&learner.Progress{Examples: 1}) // before the first label
	r.Look(mixed(32, 0.1, 0.05, 0.05, 0.05, 0.05, 0.1, 0.1))
	r.Look(mixed(64, 0, 0, 0, 0, 0.5, 0, 0))
	r.End(64)
	r.Look(mixed(96, 0.5, 0, 0, 0, 0, 0, 0))
	if len(r.points) != 2 || r.points[0].examples != 64 || r.points[1].examples != 0 {
		t.Fatalf("points %v, want one that has ended and one that has not", r.points)
	}
	q := r.points[0]
	for k, want := range [...]float64{0.2, 0.15, 0.05, 0.05, 0.55} {
		if got := q.shares[k] / q.number; math.Abs(got-want) > 1e-12 {
			t.Errorf("%s has the share %v, want %v", kinds[k], got, want)
		}
	}
}

// TestPictureIsAnSVGWithAllGroups, and one of no rows is empty.
func TestPictureIsAnSVGWithAllGroups(t *testing.T) {
	var r, none Recorder
	for n := range int64(3) {
		r.Look(mixed(n, 0.1, 0.05, 0.05, 0.05, 0.05, 0.1, 0.1))
		r.End(n + 1)
	}
	var row []*plot.Plot
	for _, of := range []*Recorder{&none, &r} {
		p, legend, err := of.Plot()
		if err != nil {
			t.Fatal(err)
		}
		row = append(row, p, nil, legend)
	}
	path := filepath.Join(t.TempDir(), "new", "p.svg")
	if err := chart.Save(path, "", [][]*plot.Plot{row}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range kinds {
		if !strings.Contains(string(text), ">"+name+"<") {
			t.Errorf("the legend does not have %q", name)
		}
	}
	if !none.Empty() || r.Empty() {
		t.Errorf("empty: %v and %v", none.Empty(), r.Empty())
	}
}
