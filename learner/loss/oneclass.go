package loss

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// OneClass is the loss max(0, -f) of novelty detection (Schölkopf et al. 2001). The score of a row
// is f = ⟨w, φ(x)⟩ - ρ, and rows have no labels. f is negative outside the boundary of the support,
// and ρ moves so that a share Nu of the rows is outside. OneClass is not in All, because it does
// not compare scores with a target.
type OneClass struct{ Nu float64 }

// The range of OneClass.Nu. With more than one half, most rows would be novel.
const (
	MinNu = 1e-3
	MaxNu = 0.5
)

func (OneClass) Value(f []float64, _ float64) float64 { return max(0, -f[0]) }

func (OneClass) Grad(dst, f []float64, _ float64) {
	if f[0] < 0 {
		dst[0] = -1
	} else {
		dst[0] = 0
	}
}

func (OneClass) Link(dst, f []float64) { dst[0] = -f[0] }
func (OneClass) Scores(int) int        { return 1 }
func (OneClass) Smoothness() float64   { return math.Inf(1) }
func (OneClass) Classifies() bool      { return false }
func (o OneClass) String() string      { return fmt.Sprintf("one-class:%v", o.Nu) }

// ParseOneClass reads the form that OneClass's String writes.
func ParseOneClass(s string) (OneClass, error) {
	name, text, _ := strings.Cut(s, ":")
	nu, err := strconv.ParseFloat(text, 64)
	if name != "one-class" || err != nil || !(nu >= MinNu && nu <= MaxNu) {
		return OneClass{}, fmt.Errorf("loss %q: want one-class with a share from %v to %v after the colon", s, MinNu, MaxNu)
	}
	return OneClass{nu}, nil
}
