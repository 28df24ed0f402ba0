// Package state writes and reads the named arrays of a State.
//
// The names and the order of the arrays are part of the snapshot format: they stay the same even if
// the code calls their contents something else.
package state

import (
	"fmt"
	"math"
	"slices"
)

// Arrays collects a State, part by part.
type Arrays []Array

// Put adds a copy of data, row-major, as the array of that name and number of columns.
func Put[T float64 | float32 | int64 | byte](a *Arrays, name string, columns int, data []T) {
	Own(a, name, columns, append([]T{}, data...))
}

// Own is Put without a copy: the caller must not use data afterwards.
func Own[T float64 | float32 | int64 | byte](a *Arrays, name string, columns int, data []T) {
	rows := 0
	if columns > 0 {
		rows = len(data) / columns
	}
	*a = append(*a, Array{Name: name, Shape: [2]int{rows, columns}, Data: data})
}

// Reader reads a State in the order in which it was written. The State may come from
// anywhere: the first error stays in Err, and from then on every array is empty.
type Reader struct {
	In  []Array
	Err error
}

// AnySize accepts any number of rows.
const AnySize = -1

// Take returns a copy of the data of the next array, which must have that many rows
// and columns. rows may be AnySize.
func Take[T float64 | float32 | int64 | byte](s *Reader, name string, rows, columns int) []T {
	data := takeAny[T](s, name, rows, columns)
	if !allFinite(data) {
		s.Fail("%s has a value that is not finite", name)
		return nil
	}
	return data
}

func takeAny[T float64 | float32 | int64 | byte](s *Reader, name string, rows, columns int) []T {
	if s.Err != nil {
		return nil
	}
	if len(s.In) == 0 {
		s.Fail("%s is missing", name)
		return nil
	}
	a := s.In[0]
	s.In = s.In[1:]
	data, ok := a.Data.([]T)
	switch {
	case a.Name != name:
		s.Fail("array %q is in the place of %s", a.Name, name)
	case !ok:
		s.Fail("%s has elements of %T, want %T", name, a.Data, data)
	case columns != a.Shape[1] || rows != AnySize && rows != a.Shape[0]:
		s.Fail("%s has shape %v, want [%d %d]", name, a.Shape, rows, columns)
	case columns == 0 && len(data) != 0 || columns > 0 && (len(data)%columns != 0 || len(data)/columns != a.Shape[0]):
		s.Fail("%s has %d values for shape %v", name, len(data), a.Shape)
	}
	if s.Err != nil {
		return nil
	}
	return slices.Clone(data)
}

// TakeRaw is Take for raw values, which are NaN if they are missing.
func TakeRaw(s *Reader, name string, rows, columns int) []float64 {
	data := takeAny[float64](s, name, rows, columns)
	for i, v := range data {
		if v != v {
			data[i] = math.NaN() // the same representation of NaN everywhere
		}
		s.Require(!math.IsInf(v, 0), "%s has a value that is infinite", name)
	}
	return data
}

func allFinite[T float64 | float32 | int64 | byte](data []T) bool {
	for _, v := range data {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}

// Fail makes s fail with a message, unless it has failed already.
func (s *Reader) Fail(format string, args ...any) {
	if s.Err == nil {
		s.Err = fmt.Errorf(format, args...)
	}
}

// Require makes s fail with a message unless ok.
func (s *Reader) Require(ok bool, format string, args ...any) {
	if !ok {
		s.Fail(format, args...)
	}
}

// End returns the first error. Arrays that have not been read are an error as well.
func (s *Reader) End() error {
	if s.Err == nil && len(s.In) > 0 {
		s.Fail("unexpected array %q", s.In[0].Name)
	}
	return s.Err
}

// TakeString reads an array of bytes as text.
func TakeString(s *Reader, name string) string { return string(TakeRow[byte](s, name)) }

// TakeRow returns the data of an array that has one row of any length, or no row.
func TakeRow[T float64 | float32 | int64 | byte](s *Reader, name string) []T {
	n := 0
	if len(s.In) > 0 {
		row, _ := s.In[0].Data.([]T)
		n = len(row)
	}
	return Take[T](s, name, min(n, 1), n)
}

// Array is one named part of a State: numbers in row-major order.
type Array struct {
	Name  string // lower case, at most 24 bytes, unique in its State
	Shape [2]int // rows, columns
	Data  any    // []float64, []float32, []int64 or []byte, of Shape[0]*Shape[1] values
}

// Extend returns x with n more elements, whose values are arbitrary.
func Extend[T any](x []T, n int) []T {
	if c := cap(x); len(x) == 0 && n > c { // slices.Grow would copy the old memory
		return make([]T, n, max(n, c+c/4))
	}
	return slices.Grow(x, n)[:len(x)+n]
}
