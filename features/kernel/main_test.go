package kernel

import (
	"fmt"
	"os"
	"testing"

	"github.com/accrete-ml/accrete/internal/vec"
)

// TestMain lets ACCRETE_ISA choose the implementation under test.
func TestMain(m *testing.M) {
	if err := vec.Select(os.Getenv("ACCRETE_ISA")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}
