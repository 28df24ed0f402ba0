package files

import (
	"context"
	"errors"
	"io"
	"testing"
)

func TestAnInterruptEndsAWaitForStandardInput(t *testing.T) {
	r, w := io.Pipe() // never written to
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	in := interruptible(ctx, r)
	cancel()
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("reading ended with %v", err)
	}
}
