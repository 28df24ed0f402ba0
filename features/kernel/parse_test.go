package kernel_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/features"
	"github.com/accrete-ml/accrete/features/kernel"
)

func TestParseReadsWhatStringWrites(t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		if got, err := kernel.Parse(k.String()); err != nil || got != k {
			t.Errorf("Parse(%q) = %v, %v", k, got, err)
		}
		s, ok := k.(kernel.Scaled)
		if !ok {
			return
		}
		for _, scale := range []float64{0, 1e-12, 1.0 / 3, 1e12} {
			k := s.WithLengthScale(scale)
			if got, err := kernel.Parse(k.String()); err != nil || got != k || got.(kernel.Scaled).LengthScale() != scale {
				t.Errorf("Parse(%q) = %v, %v, want the scale %v", k, got, err, scale)
			}
		}
	})
}

func TestParseRefusesWhatIsNoKernel(t *testing.T) {
	for _, f := range kernel.All {
		for _, wrong := range []string{":", ":x", ":0", ":-1", ":nan", ":inf", ":1e-13", ":1,", ":1,2,3,4,5,6,7,8,9", ": 1", " ", "s"} {
			if wrong == ":0" && f.Name == "arc-cosine" { // an order
				continue
			}
			if k, err := kernel.Parse(f.Name + wrong); err == nil {
				t.Errorf("Parse(%q) = %v, want an error", f.Name+wrong, k)
			}
		}
		if f.Name == "" || f.Name != strings.ToLower(f.Name) || !strings.HasPrefix(f.Usage, f.Name) || f.Help == "" {
			t.Errorf("family %q, usage %q, help %q", f.Name, f.Usage, f.Help)
		}
		if _, err := kernel.Parse(f.Name[1:]); err == nil || !strings.HasSuffix(err.Error(), fmt.Sprintf("; did you mean %q?", f.Name)) {
			t.Errorf("Parse(%q): %v, want a hint to %s", f.Name[1:], err, f.Name)
		}
	}
	if k, err := kernel.Parse(""); err == nil {
		t.Errorf(`kernel.Parse("") = %v, want an error`, k)
	}
}

func TestParseRefusesWhatCannotBeCombined(t *testing.T) {
	for _, test := range []struct{ kernel, want string }{
		{"gaussian+", `unknown kernel ""`},
		{"*gaussian", `unknown kernel ""`},
		{"gaussian+laplace:2", `unknown kernel "laplace"`},
		{"skewed-chi2+gaussian", `skewed-chi2:1 cannot be combined with other kernels`},
		{"polynomial*gaussian", `polynomial:2 can be part of a sum, but not of a product`},
		{"skewed-chi2*gaussian", `skewed-chi2:1 cannot be combined with other kernels`},
		{"chi2+skewed-chi2", `skewed-chi2:1 cannot be combined with other kernels`},
		{"gaussian:0*cauchy", `kernel "gaussian:0": scale: want a number`},
		{"gaussian:1+laplacian", `kernel "gaussian:1+laplacian": want a scale for every kernel of a sum or product, or for none`},
		{"gaussian*cauchy:1", `want a scale for every kernel`},
		{"2*gaussian", `kernel "2*gaussian": 2 is not a weight from 1e-06 to 1e+06 of a kernel in a sum`},
		{"0*gaussian+cauchy", `0 is not a weight`},
		{"-1*gaussian+cauchy", `-1 is not a weight`},
		{"nan*gaussian+cauchy", `nan is not a weight`},
		{"gaussian+cauchy+matern+laplacian+gaussian", `5 kernels in a sum or product: want at most 4`},
		{"gaussian*cauchy*matern*laplacian*gaussian", `5 kernels in a sum or product: want at most 4`},
	} {
		if k, err := kernel.Parse(test.kernel); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%q) = %v, %v, want %s", test.kernel, k, err, test.want)
		}
	}
}

// The table of kernels in docs/algorithms.md has a row for each family.
func TestKernelsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/algorithms.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range kernel.All {
		if !strings.Contains(string(page), "\n| `"+f.Usage+"` | ") {
			t.Errorf("docs/algorithms.md has no row of %s", f.Usage)
		}
	}
	for _, s := range features.Samplings() {
		if !strings.Contains(string(page), "\n| `"+s.String()+"` ") {
			t.Errorf("docs/algorithms.md has no row of the sampling %s", s)
		}
	}
}
