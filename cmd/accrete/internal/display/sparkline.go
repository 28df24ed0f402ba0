package display

import (
	"fmt"
	"math"
	"time"
)

var blocks = []rune("▁▂▃▄▅▆▇█")

// Sparkline draws values, from the first to the last, in at most width characters. The
// lowest block is 0, or the smallest value if that is negative, and the highest block the
// largest value. Values that are not numbers are blank.
func Sparkline(values []float64, width int) string {
	n := min(len(values), width)
	drawn, low, high := make([]float64, n), 0.0, 0.0
	for i := range n { // each is the mean of a stretch
		from, to, sum := i*len(values)/n, (i+1)*len(values)/n, 0.0
		for _, v := range values[from:to] {
			sum += v
		}
		drawn[i] = sum / float64(to-from)
		if !math.IsInf(drawn[i], 0) && !math.IsNaN(drawn[i]) {
			low, high = min(low, drawn[i]), max(high, drawn[i])
		}
	}
	line := make([]rune, n)
	for i, v := range drawn {
		switch at := (v - low) / (high - low); {
		case math.IsNaN(v):
			line[i] = ' '
		case high == low:
			line[i] = blocks[0]
		default:
			line[i] = blocks[int(math.Round(float64(len(blocks)-1)*max(0, min(1, at))))]
		}
	}
	return string(line)
}

// Left returns the estimated time until the end of work, such as ", about 20 s left", if the given
// share of the work took the given time. It is empty in the first two seconds, and if the share is
// not known.
func Left(took time.Duration, share float64) string {
	if took < 2*time.Second || !(share > 0 && share < 1) {
		return ""
	}
	left := took.Seconds() * (1 - share) / share
	switch {
	case left < 1:
		return ", almost done"
	case left < 90:
		return fmt.Sprintf(", about %.0f s left", left)
	case left < 90*60:
		return fmt.Sprintf(", about %.0f min left", left/60)
	}
	return fmt.Sprintf(", about %.1f h left", left/3600)
}
