package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/ingest/decode"
)

func TestAnInterruptEndsAWaitForStandardInput(t *testing.T) {
	r, w := io.Pipe() // which gets no whole line
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		file, err := files.Open(ctx, env.New(nil, r, io.Discard, io.Discard), "-", decode.Config{Infer: true, Labels: []string{"y"}}, decode.Schema{})
		if err == nil { // the format was known before the interrupt, which ends the first row
			_, err = files.ReadAll(file)
		}
		ended <- err
	}()
	w.Write([]byte{'{'}) // it waits for the rest of the line
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("reading ended with %v", err)
	}
}

// A Parquet file is told by its content, and has the rows of the same JSON lines.
func TestParquet(t *testing.T) {
	type row struct {
		A float64 `parquet:"a"`
		C string  `parquet:"c"`
		Y bool    `parquet:"y"`
	}
	dir := t.TempDir()
	table, lines := filepath.Join(dir, "rows"), filepath.Join(dir, "rows.jsonl")
	if err := parquet.WriteFile(table, []row{{0.1, "x", true}, {-2, "y", false}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lines, []byte(`{"a":0.1,"c":"x","y":true}`+"\n"+`{"a":-2,"c":"y","y":false}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e, c := env.New(nil, nil, io.Discard, io.Discard), decode.Config{Infer: true, Labels: []string{"y"}}
	var rows [2][]decode.Row
	for i, path := range []string{table, lines} {
		file, err := files.Open(t.Context(), e, path, c, decode.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if rows[i], err = files.ReadAll(file); err != nil || len(rows[i]) != 2 {
			t.Fatalf("%s: %d rows, %v", path, len(rows[i]), err)
		}
	}
	if !reflect.DeepEqual(rows[0], rows[1]) {
		t.Errorf("%v, want %v", rows[0], rows[1])
	}
	c.Format = "csv"
	if _, err := files.Open(t.Context(), e, table, c, decode.Schema{}); err == nil || !strings.Contains(err.Error(), "omit the format") {
		t.Errorf("as CSV: %v", err)
	}
}
