package watch

import (
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
)

// A terminal of 80 columns still shows the rate, the lag and the error.
func TestNarrowTerminalShowsTheLag(t *testing.T) {
	value := 0.123456
	r := Report{
		Examples: 12_345_678, ExamplesPerSecond: 12_345, Lag: 1_234_567, Quarantined: 1_234, Progressive: &value,
		Baselines: &Baselines{Majority: 0.5, NoChange: 0.5, Linear: 0.5}, Features: 16_384, Snapshots: 1_234,
	}
	var b strings.Builder
	s := display.NewScreen(&b, func() int { return 80 })
	s.Show(r.String())
	for _, want := range []string{"12,345/s", "lag 1,234,567", "1,234 in quarantine", "error 0.1235"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q does not show %s", b.String(), want)
		}
	}
}
