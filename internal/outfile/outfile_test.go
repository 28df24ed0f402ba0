package outfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// write writes text to the file with this name.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := Write(name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		t.Fatal(err)
	}
}

func contents(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A symbolic link stays one, whether or not what it leads to exists.
func TestALinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "elsewhere"), 0o700); err != nil {
		t.Fatal(err)
	}
	target, link, second := filepath.Join(dir, "elsewhere", "target"), filepath.Join(dir, "link"), filepath.Join(dir, "second")
	if err := errors.Join(os.Symlink(filepath.Join("elsewhere", "target"), link), os.Symlink(link, second)); err != nil {
		t.Skip(err) // a system without links
	}
	for _, text := range []string{"first", "second"} {
		write(t, second, text)
		if got := contents(t, target); got != text {
			t.Errorf("the target has %q, want %q", got, text)
		}
		if info, err := os.Lstat(second); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link is %v, %v", info.Mode(), err)
		}
	}
	if a, err := Path(second); err != nil || !strings.HasSuffix(a, filepath.Join("elsewhere", "target")) {
		t.Errorf("it leads to %s, %v", a, err)
	}
	if err := errors.Join(os.Symlink("loop", filepath.Join(dir, "loop"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(filepath.Join(dir, "loop")); err == nil {
		t.Error("a link to itself leads to a file")
	}
}

// Errors name the file that was asked for, and leave no other.
func TestErrorsNameTheTarget(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "folder")
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	err := Write(name, func(io.Writer) error { return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "write "+name+": ") || strings.Contains(err.Error(), ".tmp") {
		t.Errorf("a folder as the target: %v", err)
	}
	f, err := Create(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	f.file.Close() // so that all that follows fails
	for _, err := range []error{func() error { _, err := f.Write([]byte("x")); return err }(), f.Commit()} {
		if err == nil || !strings.Contains(err.Error(), f.name+": ") || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("got %v, want it to name %s", err, f.name)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files are left, want the folder", len(left))
	}
}

func TestDiscardLeavesWhatWasThere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	write(t, name, "before")
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, "aft")
	f.Discard()
	if got := contents(t, name); got != "before" {
		t.Errorf("got %q", got)
	}
	if left, _ := os.ReadDir(filepath.Dir(name)); len(left) != 1 {
		t.Errorf("%d files, want 1", len(left))
	}
}

// A new file is its owner's. One that replaces another has its permissions, so that those who may
// read a model can read the next one.
func TestPermissionsAreKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such permissions")
	}
	name := filepath.Join(t.TempDir(), "model")
	for _, want := range []fs.FileMode{0o600, 0o644, 0o440} {
		if want != 0o600 {
			if err := os.Chmod(name, want); err != nil {
				t.Fatal(err)
			}
		}
		write(t, name, "model")
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("permissions %v, %v; want %v", info.Mode(), err, want)
		}
	}
}
