package display

import (
	"math"
	"testing"
	"time"
)

func TestSparkline(t *testing.T) {
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{
		{nil, 8, ""}, {[]float64{1}, 0, ""}, {[]float64{0, 0}, 8, "▁▁"}, {[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 8, "▁▂▃▄▅▆▇█"},
		{[]float64{7, 7, 0, 0, 7, 7}, 3, "█▁█"}, {[]float64{1, math.NaN(), 1}, 8, "█ █"}, {[]float64{math.Inf(1), 1}, 8, "██"}, {[]float64{-1, 0}, 8, "▁█"},
	} {
		if got := Sparkline(c.values, c.width); got != c.want {
			t.Errorf("%v in %d characters: %q, want %q", c.values, c.width, got, c.want)
		}
	}
}

func TestTimeLeft(t *testing.T) {
	for _, c := range []struct {
		took  time.Duration
		share float64
		want  string
	}{
		{time.Second, 0.5, ""}, {time.Minute, 0, ""}, {time.Minute, 1, ""}, {time.Minute, math.NaN(), ""},
		{time.Minute, 0.75, ", about 20 s left"}, {10 * time.Second, 0.01, ", about 16 min left"}, {time.Hour, 0.25, ", about 3.0 h left"}, {time.Minute, 0.99, ", almost done"},
	} {
		if got := Left(c.took, c.share); got != c.want {
			t.Errorf("%v for %v: %q, want %q", c.took, c.share, got, c.want)
		}
	}
}
