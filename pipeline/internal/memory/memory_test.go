package memory

import (
	"testing"

	"github.com/accrete-ml/accrete/learner"
)

// TestWindowsCount: newton has a packed copy of the inputs of its window, and the machines
// of a mixture one of theirs.
func TestWindowsCount(t *testing.T) {
	const inputs = 50
	for _, test := range []struct {
		config learner.Config
		rows   int64
	}{
		{learner.Config{}, 8192},
		{learner.Config{Algorithm: "ridge"}, 0},
		{learner.Config{Mixture: true}, 8192 + 512 + 4096},
	} {
		with := Estimate{Model: test.config, Rows: int64(test.config.PackedRows()), Dim: inputs}
		without := Estimate{Model: test.config, Dim: inputs}
		if got, want := with.Limit()-without.Limit(), 2*4*inputs*test.rows; got != want {
			t.Errorf("%+v: windows take %d bytes, want %d", test.config, got, want)
		}
	}
}
