package snapshot

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesAreCompleteOrUnchanged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.snap")
	for _, text := range []string{"first", "second"} {
		if err := WriteFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(name, 0); string(got) != text || err != nil {
			t.Errorf("read %q, %v, want %q", got, err, text)
		}
	}
	full := errors.New("disk full")
	err := WriteStream(name, func(w io.Writer) error {
		io.WriteString(w, "half of the th")
		return full
	})
	if !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	if got, err := ReadFile(name, 6); string(got) != "second" || err != nil {
		t.Errorf("after an interrupted write: %q, %v", got, err)
	}
	if _, err := ReadFile(name, 5); !errors.Is(err, ErrLimit) {
		t.Errorf("over the limit: %v", err)
	}
	if _, err := os.Stat("/proc/self/maps"); err == nil { // its size is said to be 0
		if b, err := ReadFile("/proc/self/maps", 5); !errors.Is(err, ErrLimit) {
			t.Errorf("a file without a size: %d bytes, %v", len(b), err)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(name)); len(left) != 1 {
		t.Errorf("%d files, want 1", len(left))
	}
}

// A file in a folder that does not exist: the error has the name that was asked for.
func TestErrorsNameTheFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "none", "a.snap")
	err := WriteFile(name, nil)
	if want := "create " + name + ": "; !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
}
