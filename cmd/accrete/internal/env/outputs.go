package env

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/internal/outfile"
)

// Named is a file that a command reads or writes.
type Named struct {
	Name string // flag or argument, such as --save
	Path string // "" if it is not given
}

// Files are the files that a command reads and writes. Standard input is "-".
type Files struct{ Inputs, Outputs []Named }

// Check returns an error if an output cannot be written, or would replace an input or another
// output. It is called before any work, so that nothing is lost.
func (f Files) Check(e *Env) error {
	var seen []place
	for _, in := range f.Inputs {
		if in.Path == "-" {
			if file, ok := e.Stdin.(*os.File); ok {
				info, _ := file.Stat()
				seen = append(seen, place{name: in.Name, info: info})
			}
			continue
		}
		if in.Path != "" {
			seen = append(seen, placeOf(in))
		}
	}
	for _, out := range f.Outputs {
		if out.Path == "" {
			continue
		}
		if out.Path == "-" {
			return exit.Usage("%s -: it writes a file, and standard output has the report: name a file", out.Name)
		}
		if info, err := os.Stat(filepath.Dir(out.Path)); err != nil {
			return exit.Usage("%s: %w", out.Name, err)
		} else if !info.IsDir() {
			return exit.Usage("%s %s: %s is not a directory", out.Name, out.Path, filepath.Dir(out.Path))
		}
		at := placeOf(out)
		if at.info != nil && at.info.IsDir() {
			return exit.Usage("%s %s: it is a directory: name a file in it", out.Name, out.Path)
		}
		for _, other := range seen {
			if at.is(other) {
				return exit.Usage("%s and %s are the same file, %s: it would be overwritten", other.name, out.Name, out.Path)
			}
		}
		seen = append(seen, at)
	}
	return nil
}

// place is where a name leads.
type place struct {
	name string
	path string      // through symbolic links; "" if that fails
	info fs.FileInfo // nil if there is no file yet
}

func placeOf(n Named) place {
	p := place{name: n.Name}
	p.info, _ = os.Stat(n.Path)
	p.path, _ = outfile.Path(n.Path)
	return p
}

// is reports whether writing one of the two places would destroy the other. A device or a pipe has
// nothing to lose.
func (p place) is(other place) bool {
	switch {
	case p.info != nil && other.info != nil:
		return p.info.Mode().IsRegular() && os.SameFile(p.info, other.info)
	case p.info != nil || other.info != nil:
		return false
	}
	return p.path != "" && p.path == other.path
}
