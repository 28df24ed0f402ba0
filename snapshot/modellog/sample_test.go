package modellog

import (
	"errors"
	"os"
	"testing"

	"github.com/accrete-ml/accrete/snapshot"
)

func hash(s string) snapshot.Hash { return sha([]byte(s)) }

// sample returns the snapshot that fixes the file format.
func sample() *snapshot.Snapshot {
	b, err := os.ReadFile("../testdata/v1.snap")
	if err != nil {
		panic(err)
	}
	s, err := snapshot.Decode(b, 0)
	if err != nil {
		panic(err)
	}
	return s
}

func encode(t testing.TB, s *snapshot.Snapshot) []byte {
	t.Helper()
	b, err := snapshot.Append(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func typed(err error) bool {
	n := 0
	for _, e := range []error{snapshot.ErrTooNew, snapshot.ErrCorrupt, snapshot.ErrTruncated, snapshot.ErrLimit, snapshot.ErrMismatch} {
		if errors.Is(err, e) {
			n++
		}
	}
	return n == 1
}
