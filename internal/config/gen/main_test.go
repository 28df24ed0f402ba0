package main

import (
	"bytes"
	"os"
	"testing"
)

func TestTheCommittedCommentsAreThoseOfTheConfiguration(t *testing.T) {
	want, err := comments("..")
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
