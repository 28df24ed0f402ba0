package main

import "testing"

// TestKillsChangeNothing is a small crash test: it kills the program ten times.
// It takes about 15 s.
func TestKillsChangeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and kills it five times: about 8 s")
	}
	s, err := run(t.Context(), options{kills: 5, examples: 5_000, partitions: 1, seed: 1, log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	if s.Kills != 5 || s.WarmUp == 0 || s.Compared == 0 || s.Proved != proofs {
		t.Errorf("%+v", s)
	}
}
