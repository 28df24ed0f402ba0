package page

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/internal/timeline"
	"github.com/accrete-ml/accrete/learner"
)

// line returns a history with the given errors of the model.
func line(errors ...float64) *timeline.Timeline {
	t := new(timeline.Timeline)
	for i, v := range errors {
		e, _ := timeline.NewErrors(v, 0.5, 1, 2)
		t.Add(int64(1000*(i+1)), e)
	}
	return t
}

var coordinate = regexp.MustCompile(`[ML]([0-9.e+-]+) ([0-9.e+-]+)`)

// Whatever the errors are, the chart has finite coordinates, in the order of the errors.
func TestChartOfAnyErrors(t *testing.T) {
	for name, history := range map[string]*timeline.Timeline{
		"none": line(), "one": line(0.5), "zero": line(0, 0, 0), "huge": line(1e300, math.Inf(1), 1), "negative": line(-1, 0.5), "tiny": line(1e-12, 1e-13, 1e-12), "usual": line(0.5, 0.2, 0.1),
	} {
		history.Drift(2000)
		c := newChart(history, [4]float64{math.NaN(), 1, 2, 3}, learner.Regression)
		if c.Empty != (len(history.Points) < 2) || len(c.Y) < 2 || c.Series[2].Name != "mean" || c.Series[0].Value != "–" || strings.Contains(c.Summary, "NaN") {
			t.Errorf("%s: %+v", name, c)
		}
		for _, s := range c.Series {
			found := coordinate.FindAllStringSubmatch(s.Path, -1)
			if !c.Empty && len(found) != len(history.Points) {
				t.Errorf("%s: %s has %d points, want %d", name, s.Name, len(found), len(history.Points))
			}
			for _, f := range found {
				x, _ := strconv.ParseFloat(f[1], 64)
				y, _ := strconv.ParseFloat(f[2], 64)
				if x < 0 || x > chartWidth || math.IsNaN(y) || math.Abs(y) > 1e6 {
					t.Errorf("%s: %s has a point at %s", name, s.Name, f[0])
				}
			}
		}
	}
	c := newChart(line(0.5, 0.2, 0.1), [4]float64{}, learner.Classification)
	if want := "M0 240L500 276L1000 288"; c.Series[0].Path != want || c.Y[0] != "2.5" || c.X[4] != "3k" || len(c.Rows) != 3 {
		t.Errorf("%q with %q and %q, want %q", c.Series[0].Path, c.Y, c.X, want)
	}
}

// A chart of a few points shows all of them.
func TestAShortChartIsNotCutOff(t *testing.T) {
	for _, task := range []learner.Task{learner.Classification, learner.Novelty} {
		c := newChart(line(0.1, 3, 0.1), [4]float64{}, task)
		for _, f := range coordinate.FindAllStringSubmatch(c.Series[0].Path, -1) {
			if y, _ := strconv.ParseFloat(f[2], 64); y < 0 || y > chartHeight {
				t.Errorf("%v: a point at %s is beyond the axis", task, f[0])
			}
		}
	}
}

func TestNiceSteps(t *testing.T) {
	for v, want := range map[float64]float64{0.15: 0.2, 0.2: 0.2, 0.21: 0.25, 3: 5, 7: 10, 1e-9: 1e-9} {
		if got := niceStep(v); math.Abs(got-want) > 1e-9*want {
			t.Errorf("niceStep(%v) = %v, want %v", v, got, want)
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	for got, want := range map[string]string{
		figure(0.05123): "0.0512", figure(12345.6): "1.235e+04", figure(math.NaN()): "–", short(999): "999", short(1500): "1.5k", short(2.25e6): "2.25M",
		Size(512): "512 B", Size(1 << 20): "1.00 MiB", Size(5 << 30): "5.00 GiB", took(1500): "2 µs", took(2500000): "2.50 ms", took(12e9): "12.0 s", took(0): "–",
		Span(59e9): "59 s", Span(3600e9): "1 h 00 min", Span(90000e9): "1 d 1 h", rounded("gaussian:1.10203508+matern:1.5,0.25"): "gaussian:1.102+matern:1.5,0.25",
		Printable("a\x1b[2J\u202eb\xff", 9): "a·[2J·b·", Printable("abcdef", 3): "abc …",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
