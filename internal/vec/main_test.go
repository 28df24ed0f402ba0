package vec

import (
	"fmt"
	"os"
	"testing"
)

// TestMain lets ACCRETE_ISA choose the implementation under test.
func TestMain(m *testing.M) {
	if err := Select(os.Getenv("ACCRETE_ISA")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}
