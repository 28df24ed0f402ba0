package half

import (
	"math"
	"testing"
)

func TestHalfPrecision(t *testing.T) {
	for b, want := range map[uint16]float64{0x0000: 0, 0x0001: 0x1p-24, 0x3c00: 1, 0xbc01: -1 - 0x1p-10, 0x7bff: 65504, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1)} {
		if got := Float(b); got != want {
			t.Errorf("Float(%#x) = %v, want %v", b, got, want)
		}
	}
	if !math.IsNaN(Float(0x7e00)) {
		t.Error("0x7e00 is a number")
	}
}
