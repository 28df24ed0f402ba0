package files

import (
	"errors"
	"io"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// Rows returns the next n rows of a file, or all of them if n is 0.
func Rows(file *decode.File, n int) (rows []decode.Row, err error) {
	for n == 0 || len(rows) < n {
		row, err := file.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row.Clone())
	}
	return rows, nil
}
