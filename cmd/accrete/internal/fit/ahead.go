package fit

import (
	"errors"
	"os"
	"runtime"
	"slices"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// source yields the rows of a file, with their schema.
type source struct {
	next   func() (decode.Row, error) // as of decode.File
	schema func() *decode.Schema      // as of the last row
	share  func() float64             // of the file that has been read
	close  func()
}

// source returns the rows of the file, which are read ahead on another core where that is
// possible. Each of them that has no windows is passed to add, in order.
func (f *Command) source(file *decode.File, add func(x []float64)) source {
	next := file.Next
	if f.Shuffle != nil {
		next = shuffled(file.Next, *f.Shuffle)
	}
	added := func() (decode.Row, error) {
		row, err := next()
		if err == nil && row.Windows == nil {
			add(row.X)
		}
		return row, err
	}
	s := source{added, file.Schema, file.Share, func() {}}
	if f.Shuffle != nil {
		s.share = func() float64 { return 0 } // all rows have been read
	}
	if info, err := os.Stat(f.Train); err != nil || !info.Mode().IsRegular() || runtime.GOMAXPROCS(0) == 1 || f.Shuffle != nil || f.Predictions != "" || len(f.Windows) > 0 {
		return s
	}
	return readAhead(s)
}

// rowsAhead is the number of rows in a part that is read ahead, and partsAhead the number of
// parts.
const rowsAhead, partsAhead = 256, 3

// part is consecutive rows of a source. It keeps memory for those of another part.
type part struct {
	rows  []readRow
	x     []float64
	share float64
}

// readRow is what a source has yielded.
type readRow struct {
	row    decode.Row
	err    error
	schema *decode.Schema
}

// readAhead returns a source of the rows of s, which a goroutine reads. It ends with close, or with
// an error that is not of one row.
func readAhead(s source) source {
	full, free := make(chan *part, partsAhead), make(chan *part, partsAhead)
	done, ended := make(chan struct{}), make(chan struct{})
	row := readRow{schema: s.schema()} // before the goroutine reads
	for range partsAhead {
		free <- new(part)
	}
	go func() {
		defer close(ended)
		for last := false; !last; {
			select {
			case p := <-free:
				last = p.read(s)
				full <- p
			case <-done:
				return
			}
		}
	}()
	now, at := new(part), 0 // which is never free again
	return source{
		next: func() (decode.Row, error) {
			if at == len(now.rows) {
				if at > 0 {
					free <- now
				}
				now, at = <-full, 0
			}
			row = now.rows[at]
			if !final(row.err) {
				at++
			}
			return row.row, row.err
		},
		schema: func() *decode.Schema { return row.schema },
		share:  func() float64 { return now.share },
		close: func() {
			close(done)
			<-ended
		},
	}
}

// final reports whether no row follows an error of decode.File.Next.
func final(err error) bool {
	var line *decode.LineError
	return err != nil && !errors.As(err, &line)
}

// read fills p with the next rows.
func (p *part) read(s source) (last bool) {
	p.rows, p.x = p.rows[:0], p.x[:0]
	for len(p.rows) < rowsAhead && !last {
		row, err := s.next()
		n := len(p.x)
		p.x = append(p.x, row.X...)
		row.X = p.x[n:len(p.x):len(p.x)]
		row.Key, row.Label.More = slices.Clone(row.Key), slices.Clone(row.Label.More)
		row.Sparse = learner.Sparse{Columns: slices.Clone(row.Sparse.Columns), Values: slices.Clone(row.Sparse.Values)}
		p.rows = append(p.rows, readRow{row, err, s.schema()})
		last = final(err)
	}
	p.share = s.share()
	return last
}
