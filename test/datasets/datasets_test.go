package datasets

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table in testdata/README.md lists every set with its size, and the total
// size is below three megabytes.
func TestSetsAreWhatTheirReadmeSays(t *testing.T) {
	root, err := top()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "testdata", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(readme)) {
		if cells := strings.Split(line, "|"); len(cells) == 6 && strings.Contains(cells[1], "`") {
			want[strings.Trim(cells[1], " `")] = strings.TrimSpace(cells[3])
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "testdata", "*.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	got, bytes := map[string]string{}, int64(0)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		bytes += info.Size()
		set, part, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".csv.gz"), ".")
		s := Load(t, set+"."+part)
		if len(s.Y) == 0 || len(s.X) != len(s.Y)*s.Dim || len(s.Columns) != s.Dim {
			t.Errorf("%s: %d labels, %d values in %d columns", filepath.Base(file), len(s.Y), len(s.X), s.Dim)
		}
		switch part {
		case "test":
			train := Load(t, set+".train")
			got[set] = fmt.Sprintf("%s + %s × %d", thousands(len(train.Y)), thousands(len(s.Y)), s.Dim+s.Text)
		case "stream":
			got[set] = fmt.Sprintf("%s × %d", thousands(len(s.Y)), s.Dim+s.Text)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the sets are %v, the README has %v", got, want)
	}
	if bytes > 3e6 {
		t.Errorf("%d bytes", bytes)
	}
}

func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
