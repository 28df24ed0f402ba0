package main

import (
	"bytes"
	"os"
	"testing"
)

func TestTheCommittedCommentsAreThoseOfTheConfiguration(t *testing.T) {
	source, err := os.ReadFile("../config.go")
	if err != nil {
		t.Fatal(err)
	}
	want, err := comments(source)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../comments.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("internal/config/comments.go is out of date: run go generate ./internal/config")
	}
}
