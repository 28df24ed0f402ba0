package learner

import (
	"fmt"
	"math"
	"slices"
)

// arrays writes a State, part by part.
type arrays []Array

func put[T float64 | float32 | int64 | byte](a *arrays, name string, columns int, data []T) {
	own(a, name, columns, append([]T{}, data...))
}

// own is put for data that nobody else has.
func own[T float64 | float32 | int64 | byte](a *arrays, name string, columns int, data []T) {
	rows := 0
	if columns > 0 {
		rows = len(data) / columns
	}
	*a = append(*a, Array{Name: name, Shape: [2]int{rows, columns}, Data: data})
}

// source reads a State in the order in which it was written. What it reads may
// come off the wire: the first thing that is wrong stays in err, and from then
// on every array is empty.
type source struct {
	in  []Array
	err error
}

// any stands for whatever size an array has.
const anySize = -1

// take returns a copy of the next array's data. Its columns must be as many as
// said, its rows likewise unless they are anySize.
func take[T float64 | float32 | int64 | byte](s *source, name string, rows, columns int) []T {
	if s.err != nil {
		return nil
	}
	if len(s.in) == 0 {
		s.fail("%s is missing", name)
		return nil
	}
	a := s.in[0]
	s.in = s.in[1:]
	data, ok := a.Data.([]T)
	switch {
	case a.Name != name:
		s.fail("%q stands where %s should", a.Name, name)
	case !ok:
		s.fail("%s has elements of %T, want %T", name, a.Data, data)
	case columns != a.Shape[1] || rows != anySize && rows != a.Shape[0]:
		s.fail("%s has the shape %v, want [%d %d]", name, a.Shape, rows, columns)
	case columns == 0 && len(data) != 0 || columns > 0 && (len(data)%columns != 0 || len(data)/columns != a.Shape[0]):
		s.fail("%s has %d values in the shape %v", name, len(data), a.Shape)
	case !allFinite(data):
		s.fail("%s has a value that is not finite", name)
	}
	if s.err != nil {
		return nil
	}
	return slices.Clone(data)
}

func allFinite[T float64 | float32 | int64 | byte](data []T) bool {
	for _, v := range data {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}

func (s *source) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// want fails unless ok.
func (s *source) want(ok bool, format string, args ...any) {
	if !ok {
		s.fail(format, args...)
	}
}

// end returns what was wrong, if anything was.
func (s *source) end() error {
	if s.err == nil && len(s.in) > 0 {
		s.fail("%q is more than there should be", s.in[0].Name)
	}
	return s.err
}

func takeString(s *source, name string) string { return string(takeRow[byte](s, name)) }

// takeRow takes an array of one row of any length, or of none.
func takeRow[T float64 | float32 | int64 | byte](s *source, name string) []T {
	n := 0
	if len(s.in) > 0 {
		row, _ := s.in[0].Data.([]T)
		n = len(row)
	}
	return take[T](s, name, min(n, 1), n)
}

// Array is one named part of a State: numbers in row-major order.
type Array struct {
	Name  string // lower case, at most 24 bytes, unique in its State
	Shape [2]int // rows, columns
	Data  any    // []float64, []float32, []int64 or []byte, of Shape[0]*Shape[1] values
}

// extend returns x with n more elements, of whatever value.
func extend[T any](x []T, n int) []T {
	return slices.Grow(x, n)[:len(x)+n]
}
