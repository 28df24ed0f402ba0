//go:build !windows

package broker

import (
	"os"
	"path/filepath"
	"testing"
)

// The topics are readable by the broker's user only.
func TestDirectoryIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o755); err != nil { // created by an earlier release
		t.Fatal(err)
	}
	for _, dir := range []string{dir, dir + "er"} {
		b, err := Start(Config{Addr: "127.0.0.1:0", Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for _, name := range []string{"data", "lock"} {
			if s, err := os.Stat(filepath.Join(dir, name)); err != nil || name == "data" && s.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s/%s: %v, %v", dir, name, s.Mode(), err)
			}
		}
	}
	if s, err := os.Stat(dir + "er"); err != nil || s.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", s.Mode(), err)
	}
}
