// Package outfile writes files that are complete or not there: a crash or an error leaves what was
// there before.
package outfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// File is a file that is being written.
type File struct {
	name   string // as the user knows it
	target string // where name leads to through symbolic links
	file   *os.File
	direct bool // a device, a pipe or the like, which is written itself
}

// Create begins the file with this name, which only its owner can read, unless it replaces one with
// other permissions. What is written appears there with Commit. A symbolic link stays one: the file
// that it leads to is replaced. A device or a pipe is written directly; opening a named pipe waits for
// its reader.
func Create(name string) (*File, error) {
	target, direct, err := resolve(name)
	if err != nil {
		return nil, named("create", name, err)
	}
	f := &File{name: name, target: target, direct: direct}
	if direct {
		f.file, err = os.OpenFile(name, os.O_WRONLY, 0)
	} else {
		f.file, err = os.CreateTemp(filepath.Dir(target), filepath.Base(target)+".*.tmp")
	}
	if err != nil {
		return nil, named("create", name, err)
	}
	return f, nil
}

// Write writes the next bytes.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	return n, named("write", f.name, err)
}

// Commit ends the file, and makes it durable under its name.
func (f *File) Commit() error {
	if f.direct {
		return named("close", f.name, f.file.Close())
	}
	defer os.Remove(f.file.Name()) // fails once renamed
	if err := errors.Join(f.permit(), named("sync", f.name, f.file.Sync()), named("close", f.name, f.file.Close())); err != nil {
		return err
	}
	if err := os.Rename(f.file.Name(), f.target); err != nil {
		return named("write", f.name, err)
	}
	return syncDir(filepath.Dir(f.target))
}

// permit gives the file the permissions of the one that it replaces, if there is one.
func (f *File) permit() error {
	info, err := os.Stat(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = f.file.Chmod(info.Mode().Perm())
	}
	return named("write", f.name, err)
}

// Discard ends the file without a trace, except for what a device or a pipe has got. It does
// nothing after Commit.
func (f *File) Discard() {
	if f.file.Close() == nil && !f.direct {
		os.Remove(f.file.Name())
	}
}

// Write creates or replaces the file with this name. Its contents are what the function write
// writes. If write returns an error, the file stays as it was.
func Write(name string, write func(io.Writer) error) error {
	f, err := Create(name)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}

// Path returns the path of the file that name leads to, through symbolic links, whether or not it
// exists. Two names of one path lead to one file.
func Path(name string) (string, error) {
	target, _, err := resolve(name)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(target))
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(dir, filepath.Base(target)))
}

// mostLinks is the number of symbolic links that Linux follows.
const mostLinks = 40

// resolve returns the file that name leads to, and whether it is something other than a regular
// file or a directory.
func resolve(name string) (target string, direct bool, err error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.Mode().IsRegular():
		target, err = filepath.EvalSymlinks(name)
		return target, false, err
	case err == nil:
		return name, !info.IsDir(), nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", false, err
	}
	for range mostLinks {
		info, err := os.Lstat(name)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return name, false, nil // Create reports what is wrong with the folder
		}
		to, err := os.Readlink(name)
		if err != nil {
			return "", false, err
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(name))
			if err != nil {
				return "", false, err
			}
			to = filepath.Join(dir, to)
		}
		name = to
	}
	return "", false, errors.New("too many symbolic links")
}

// named returns err about name, and not about a temporary file, which means nothing to a user.
func named(op, name string, err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// syncDir makes the names in a directory durable, on systems that can sync a
// directory.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
