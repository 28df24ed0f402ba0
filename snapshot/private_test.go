//go:build !windows

package snapshot

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFilesArePrivate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "model")
	if err := WriteFile(name, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if s, err := os.Stat(name); err != nil || s.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", s.Mode(), err)
	}
}
