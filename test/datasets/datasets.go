// Package datasets reads the data sets in testdata for tests.
package datasets

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// Set holds the numeric columns of a data set.
type Set struct {
	Columns []string  // names of the inputs
	X       []float64 // rows × Dim
	Y       []float64 // labels: column y, or the last column
	Dim     int
	Text    int // number of text columns, which are ignored
}

// Load reads a set, for example "letter.train" or "elec.stream".
func Load(t testing.TB, name string) Set {
	t.Helper()
	s, err := load(name)
	if err != nil {
		t.Fatalf("data set %s: %v", name, err)
	}
	return s
}

func load(name string) (s Set, err error) {
	root, err := top()
	if err != nil {
		return s, err
	}
	file, err := os.Open(filepath.Join(root, "testdata", name+".csv.gz"))
	if err != nil {
		return s, err
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return s, err
	}
	rows := csv.NewReader(text)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return s, err
	}
	header = slices.Clone(header)
	label := slices.Index(header, "y")
	if label < 0 {
		label = len(header) - 1
	}
	var inputs []int
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		if s.Y == nil {
			inputs = numeric(row, label)
			s.Dim, s.Text = len(inputs), len(header)-1-len(inputs)
			for _, i := range inputs {
				s.Columns = append(s.Columns, header[i])
			}
		}
		for _, i := range append(inputs, label) {
			v, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				return s, err
			}
			if i == label {
				s.Y = append(s.Y, v)
			} else {
				s.X = append(s.X, v)
			}
		}
	}
}

// numeric returns the numeric columns of a row, without the label.
func numeric(row []string, label int) (columns []int) {
	for i, cell := range row {
		if _, err := strconv.ParseFloat(cell, 64); err == nil && i != label {
			columns = append(columns, i)
		}
	}
	return columns
}

// top returns the folder of go.mod, because tests run in the folder of their
// package.
func top() (string, error) {
	folder, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(folder, "go.mod")); missing == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", errors.New("no go.mod above this test")
		}
		folder = filepath.Dir(folder)
	}
	return "", err
}
