package display

import (
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/refit/optim"
)

func TestRefitTellsTheTimeLeft(t *testing.T) {
	s, now := Solving{Relative: 1e-6}, time.Now()
	if got := s.Text(0, optim.Point{Primal: 1, Dual: 0}, now); strings.Contains(got, "left") {
		t.Errorf("at the beginning: %q", got)
	}
	if got, want := s.Text(0, optim.Point{Passes: 7, Primal: 1e-3}, now.Add(10*time.Second)), "refit: pass 7, duality gap 0.001, about 10 s left"; got != want {
		t.Errorf("half way: %q, want %q", got, want)
	}
	if got, want := s.Text(1, optim.Point{Primal: 1}, now.Add(time.Minute)), "refit of score 2: pass 0, duality gap 1"; got != want {
		t.Errorf("the next score: %q, want %q", got, want)
	}
}
