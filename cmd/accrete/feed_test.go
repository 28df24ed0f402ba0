package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/broker"
)

func TestRowsBeforeABadOneAreWritten(t *testing.T) {
	b, err := broker.Start(broker.Config{Addr: "127.0.0.1:0", Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), []string{"feed", "-", "--set", "model=m", "--set", "kafka.bootstrap.servers=" + b.Addr(),
		"--set", "input.topics=in", "--set", "input.label=y"}, nil, strings.NewReader("a,y\n1,p\n2,q\n3\n4,p\n"), &stdout, &stderr)
	if want := "accrete: after 2 records: standard input, line 4: "; code != failed || !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("exit code %d, and %q", code, &stderr)
	}
	c, err := ingest.New(ingest.Config{Brokers: []string{b.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, end, err := c.Offsets(t.Context(), "in"); err != nil || end[0] != 2 {
		t.Errorf("the topic ends at %v, %v; want 2 records", end, err)
	}
}

func TestAnInterruptEndsAWaitForStandardInput(t *testing.T) {
	r, w := io.Pipe() // into which nobody writes
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	in := interruptible(ctx, r)
	cancel()
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("reading ended with %v", err)
	}
}
