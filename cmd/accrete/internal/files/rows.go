package files

import (
	"errors"
	"io"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// ReadAll returns the rows of a file, without their keys.
func ReadAll(file *decode.File) ([]decode.Row, error) { return ReadFirst(file, 0) }

// ReadFirst is ReadAll for the first n rows, or all of them if n is 0.
func ReadFirst(file *decode.File, n int) ([]decode.Row, error) {
	rows, err := readKeyed(file, n)
	for i := range rows {
		rows[i].Key = nil
	}
	return rows, err
}

// ReadKeyed returns the rows of a file.
func ReadKeyed(file *decode.File) ([]decode.Row, error) { return readKeyed(file, 0) }

func readKeyed(file *decode.File, n int) ([]decode.Row, error) {
	var rows []decode.Row
	for {
		if n > 0 && len(rows) == n {
			return rows, nil
		}
		row, err := file.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row.Clone())
	}
}
