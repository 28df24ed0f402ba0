//go:build unix

package outfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A named pipe stands for devices, too: it is written, not replaced by a file.
func TestAPipeIsWrittenDirectly(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	read := make(chan string, 1)
	go func() {
		b, _ := os.ReadFile(name)
		read <- string(b)
	}()
	write(t, name, "rows")
	if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Fatalf("the pipe is %v, %v", info.Mode(), err) // and its reader waits
	}
	if got := <-read; got != "rows" {
		t.Errorf("the reader got %q", got)
	}
}
