package main

import "testing"

// TestKillsChangeNothing is a small crash test: it kills the program three times.
func TestKillsChangeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and kills it")
	}
	s, err := run(t.Context(), options{form: "json", kills: 3, examples: 1_600, partitions: 1, seed: 1, log: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	if s.Kills != 3 || s.WarmUp == 0 || s.Compared == 0 || s.Proved != proofs {
		t.Errorf("%+v", s)
	}
}
