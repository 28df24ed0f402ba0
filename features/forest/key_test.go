package forest

import (
	"math"
	"testing"
)

// TestKeysHaveTheOrderOfValues, and are values again.
func TestKeysHaveTheOrderOfValues(t *testing.T) {
	values := []float32{
		float32(math.Inf(-1)), -math.MaxFloat32, -2, -1, -math.SmallestNonzeroFloat32, float32(math.Copysign(0, -1)), 0,
		math.SmallestNonzeroFloat32, 0x1p-126, 1, 1.0000001, 2, math.MaxFloat32, float32(math.Inf(1)),
	}
	for _, a := range values {
		if got := keyOf(a).value(); got != a {
			t.Errorf("the key of %v is that of %v", a, got)
		}
		for _, b := range values {
			if got, want := keyOf(a) < keyOf(b), a < b; got != want {
				t.Errorf("the key of %v is below that of %v: %v", a, b, got)
			}
		}
	}
}
