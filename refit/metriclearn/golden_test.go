package metriclearn

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/refit/optim"
)

// TestBitsAreGolden holds what may become part of a model to the bit, on every
// machine: a value here changes when the format of models does.
func TestBitsAreGolden(t *testing.T) {
	learn, _ := related(1, 2, 20, 0, 4)
	m, _, err := Learn(context.Background(), learn, 4, Config{}, optim.Config{Primal: 1, Dual: 4, Relative: 1e-2})
	if err != nil {
		t.Fatal(err)
	}
	h := fnv.New64a()
	for _, v := range transform(m.Task(1), 4) {
		h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	if got, want := h.Sum64(), uint64(0xaec0f4d3e3dc02c6); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
}
