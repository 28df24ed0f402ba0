package dsg

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLIBSVMTellsRingsApart runs the programs where they are installed.
func TestLIBSVMTellsRingsApart(t *testing.T) {
	l, ok := findLIBSVM()
	if !ok {
		t.Skip(NoLIBSVM)
	}
	s := rings()
	r, err := l.run(t.Context(), libsvmRows{s.Train, s.Y}, libsvmRows{s.Test, s.TestY}, s.Dim, medianDistance(s.Train, s.Dim), 100)
	if err != nil || r.error > 0.01 || r.test > 0.01 || r.vectors < 3 || r.vectors > 500 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestLIBSVMRowsAndModels(t *testing.T) {
	dir := t.TempDir()
	rows := libsvmRows{[]float32{0, 0.5, -2, 0}, []float64{-1, 1}}
	if err := rows.write(filepath.Join(dir, "rows"), 2); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "rows")); err != nil || string(got) != "-1 2:0.5\n1 1:-2\n" {
		t.Errorf("%q, %v", got, err)
	}
	model := filepath.Join(dir, "model")
	for text, want := range map[string]int{"svm_type c_svc\ntotal_sv 17\nrho 1\n": 17, "rho 1\n": 0} {
		if err := os.WriteFile(model, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := supportVectors(model); n != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
}
