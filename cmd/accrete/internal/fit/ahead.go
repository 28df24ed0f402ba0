package fit

import (
	"errors"
	"os"
	"runtime"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// source yields the rows of a file, with their schema.
type source struct {
	next   func() (decode.Row, error) // like decode.File.Next
	schema func() *decode.Schema      // the schema as it was at the last row
	share  func() float64             // share of the file that has been read
	close  func()
}

// source returns the rows of the file. Where possible, another goroutine reads ahead. Rows without
// windows are passed to add, in order.
func (f *Command) source(file *decode.File, add func(x []float64, types []learner.ColumnType)) source {
	next := file.Next
	if f.Shuffle != nil {
		next = shuffled(file.Next, *f.Shuffle)
	}
	added := func() (decode.Row, error) {
		row, err := next()
		if err == nil && row.Windows == nil {
			add(row.X, row.Types)
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

// part holds consecutive rows of a source. Its memory is used again for later rows.
type part struct {
	rows  []readRow
	x     []float64
	share float64
}

// readRow is a row or an error of a source, with the schema at that time.
type readRow struct {
	row    decode.Row
	err    error
	schema *decode.Schema
}

// readAhead returns a source of the rows of s, which a goroutine reads. The goroutine ends when
// close is called, or after an error such as io.EOF that is not about a single row.
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
	now, at := new(part), 0 // an empty part, which is not sent to free
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

// final reports whether err, from decode.File.Next, means that no more rows follow.
func final(err error) bool {
	var line *decode.LineError
	return err != nil && !errors.As(err, &line)
}

// read fills p with the next rows, and reports whether they are the last.
func (p *part) read(s source) (last bool) {
	p.rows, p.x = p.rows[:0], p.x[:0]
	for len(p.rows) < rowsAhead && !last {
		row, err := s.next()
		n := len(p.x)
		p.x, row.X = append(p.x, row.X...), nil
		row = row.Clone()
		row.X = p.x[n:len(p.x):len(p.x)]
		p.rows = append(p.rows, readRow{row, err, s.schema()})
		last = final(err)
	}
	p.share = s.share()
	return last
}
