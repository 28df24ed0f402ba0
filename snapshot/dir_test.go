package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestDirGivesTheNewestWholeSnapshot(t *testing.T) {
	d := Dir{Path: t.TempDir(), Keep: 3}
	if _, _, err := d.Newest(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty directory: %v", err)
	}
	if _, _, err := (Dir{Path: filepath.Join(d.Path, "none")}).Newest(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	left := filepath.Join(d.Path, "0000000000000008-0000000000000017.snap.123.tmp")
	if err := os.WriteFile(left, []byte("half"), 0o666); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, step := range []int64{8, 9, 10, 11} {
		s := sample()
		s.Step = step
		name, err := d.Save(s)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if left, _ := filepath.Glob(d.Path + "/*"); len(left) != 3 {
		t.Errorf("left %v, want the three newest", left)
	}
	step := func(want int64, wantSkipped int) {
		t.Helper()
		s, skipped, err := d.Newest()
		if err != nil || s.Step != want || len(skipped) != wantSkipped {
			t.Errorf("newest is %+v, skipped %v, %v, want step %d", s, skipped, err, want)
		}
	}
	step(11, 0)
	if err := os.Truncate(names[3], 200); err != nil {
		t.Fatal(err)
	}
	step(10, 1)
	b, _ := os.ReadFile(names[2])
	b[700]++
	if err := os.WriteFile(names[2], b, 0o666); err != nil {
		t.Fatal(err)
	}
	step(9, 2)
	if err := os.Truncate(names[1], 0); err != nil {
		t.Fatal(err)
	}
	if s, skipped, err := d.Newest(); s != nil || !errors.Is(err, ErrTruncated) || len(skipped) != 3 {
		t.Errorf("all damaged: %v, %v, %v", s, skipped, err)
	}
}

func TestDirDoesNotSkipWhatItCannotRead(t *testing.T) {
	d := Dir{Path: t.TempDir()}
	if _, err := d.Save(sample()); err != nil {
		t.Fatal(err)
	}
	newer := encode(t, sample())
	newer[8] = 2
	if err := WriteFile(filepath.Join(d.Path, "9999999999999999-0000000000000000.snap"), reseal(newer)); err != nil {
		t.Fatal(err)
	}
	if s, _, err := d.Newest(); s != nil || !errors.Is(err, ErrTooNew) {
		t.Errorf("a newer format: %v, %v", s, err)
	}
	d.Limit = 100
	if s, _, err := d.Newest(); s != nil || !errors.Is(err, ErrLimit) {
		t.Errorf("over the limit: %v, %v", s, err)
	}
}
