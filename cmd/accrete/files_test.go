package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
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
			_, err = files.Rows(file, 0)
		}
		ended <- err
	}()
	w.Write([]byte{'{'}) // it waits for the rest of the line
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("reading ended with %v", err)
	}
}

// Parquet and Avro files are told by their content, and have the rows of the same JSON lines.
func TestFilesOfTables(t *testing.T) {
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
	blocks := filepath.Join(dir, "blocks")
	var b bytes.Buffer
	w, err := ocf.NewWriter(&b, avro.MustParse(`{"type":"record","name":"r","fields":[{"name":"a","type":"double"},{"name":"c","type":"string"},{"name":"y","type":"boolean"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []map[string]any{{"a": 0.1, "c": "x", "y": true}, {"a": -2.0, "c": "y", "y": false}} {
		if err := w.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blocks, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	e, c := env.New(nil, nil, io.Discard, io.Discard), decode.Config{Infer: true, Labels: []string{"y"}}
	var rows [3][]decode.Row
	for i, path := range []string{table, blocks, lines} {
		file, err := files.Open(t.Context(), e, path, c, decode.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if rows[i], err = files.Rows(file, 0); err != nil || len(rows[i]) != 2 {
			t.Fatalf("%s: %d rows, %v", path, len(rows[i]), err)
		}
	}
	for i, of := range rows[:2] {
		if !reflect.DeepEqual(of, rows[2]) {
			t.Errorf("file %d: %v, want %v", i, of, rows[2])
		}
	}
	for _, path := range []string{table, blocks, lines} { // only lines have a field in some rows, and lack it in others
		file, err := files.Open(t.Context(), e, path, c, decode.Schema{Columns: []string{"a"}, Task: "classification"})
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		file.IgnoreFurther()
		if _, err := files.Rows(file, 0); (err != nil) != (path == lines) || err != nil && !strings.Contains(files.Skippable(err, true).Error(), "which the model does not have: leave it out") {
			t.Errorf("%s with a column that the model does not have: %v", path, err)
		}
	}
	c.Format = "csv"
	for _, path := range []string{table, blocks} {
		if _, err := files.Open(t.Context(), e, path, c, decode.Schema{}); err == nil || !strings.Contains(err.Error(), "omit the format") {
			t.Errorf("%s as CSV: %v", path, err)
		}
	}
}

// The error about a snapshot file that is cut off names it, whichever command reads it.
func TestASnapshotThatIsCutOffIsNamed(t *testing.T) {
	dir := t.TempDir()
	rows, whole, cut := filepath.Join(dir, "a.csv"), filepath.Join(dir, "whole.snap"), filepath.Join(dir, "cut.snap")
	if err := os.WriteFile(rows, []byte("x,y\n1,2.5\n2,3.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	fitted(t, rows, "--save", whole)
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"inspect", cut}, {"inspect", whole, "--diff", cut}, {"predict", rows, "--model", cut}} {
		code, _, stderr := call(t, nil, args...)
		if code != exit.Refused || !strings.HasPrefix(stderr, "accrete: "+cut+": truncated") {
			t.Errorf("%v: exit code %d, said %s", args, code, stderr)
		}
	}
}
