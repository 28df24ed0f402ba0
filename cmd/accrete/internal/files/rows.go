package files

import (
	"errors"
	"io"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// ReadAll returns the rows of a file, without their keys.
func ReadAll(file *decode.File) ([]decode.Row, error) {
	rows, err := ReadKeyed(file)
	for i := range rows {
		rows[i].Key = nil
	}
	return rows, err
}

// ReadKeyed returns the rows of a file.
func ReadKeyed(file *decode.File) ([]decode.Row, error) {
	var rows []decode.Row
	for {
		row, err := file.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		row.X, row.Key = slices.Clone(row.X), slices.Clone(row.Key)
		rows = append(rows, row)
	}
}
