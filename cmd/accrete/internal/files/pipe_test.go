//go:build unix

package files

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/ingest/decode"
)

// An interrupt ends the wait for the other end of a named pipe, and for its rows.
func TestAnInterruptEndsTheWaitForAPipe(t *testing.T) {
	e, c := env.New(nil, nil, io.Discard, io.Discard), decode.Config{Infer: true, Labels: []string{"y"}}
	for what, open := range map[string]func(context.Context, string) error{
		"writer": func(ctx context.Context, name string) error {
			_, err := Open(ctx, e, name, c, decode.Schema{})
			return err
		},
		"reader":            func(ctx context.Context, name string) error { _, err := Create(ctx, name); return err },
		"reader of a model": func(ctx context.Context, name string) error { return Write(ctx, name, []byte("snapshot")) },
	} {
		name := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Skip(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- open(ctx, name) }()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the wait for a %s ended with %v", what, err)
		}
	}
}

func TestRowsOfAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	go os.WriteFile(name, []byte("x,y\n1,2.5\n2,3.5\n"), 0o600)
	file, err := Open(t.Context(), env.New(nil, nil, io.Discard, io.Discard), name, decode.Config{Infer: true, Labels: []string{"y"}}, decode.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := Rows(file, 0); err != nil || len(rows) != 2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
