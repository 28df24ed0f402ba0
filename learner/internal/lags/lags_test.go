package lags

import (
	"fmt"
	"math"
	"testing"

	"github.com/accrete-ml/accrete/learner/internal/state"
	"github.com/accrete-ml/accrete/learner/internal/target"
)

func TestLagMemoryIsBounded(t *testing.T) {
	l := New(2, 2)
	for i := range 3 * maxKeys {
		l.Push(fmt.Sprint(i), []float64{float64(i), math.Inf(1)}, target.Label{Task: target.Classification, Class: 1})
	}
	var a state.Arrays
	l.Save(&a)
	if l.order.Len() != maxKeys || len(l.keys) != maxKeys || l.keys[fmt.Sprint(2*maxKeys-1)] != nil || l.keys[fmt.Sprint(2*maxKeys)] == nil {
		t.Errorf("%d keys are remembered", l.order.Len())
	}
	back, s := New(2, 2), &state.Reader{In: a}
	back.Load(s, 2)
	var again state.Arrays
	back.Save(&again)
	if err := s.End(); err != nil || fmt.Sprint(again) != fmt.Sprint(a) {
		t.Errorf("read back it differs: %v", err)
	}
}
