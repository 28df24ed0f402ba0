package snapshot

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// dtype is the type of the values of an array, numbered as in the format.
type dtype byte

const (
	bytesType dtype = 1 + iota
	float32Type
	float64Type
	int64Type
)

var dtypeNames = [...]string{"?", "bytes", "float32", "float64", "int64"}

func (t dtype) String() string {
	if int(t) < len(dtypeNames) {
		return dtypeNames[t]
	}
	return fmt.Sprintf("type %d", byte(t))
}

// size returns the size of one value in bytes, or 0 for an unknown type.
func (t dtype) size() int64 {
	switch t {
	case bytesType:
		return 1
	case float32Type:
		return 4
	case float64Type, int64Type:
		return 8
	}
	return 0
}

// bytes returns the size of rows x cols values. ok is false if one of them is
// negative or if the product overflows.
func (t dtype) bytes(rows, cols int64) (n int64, ok bool) {
	if rows < 0 || cols < 0 {
		return 0, false
	}
	hi, values := bits.Mul64(uint64(rows), uint64(cols))
	if hi != 0 {
		return 0, false
	}
	hi, size := bits.Mul64(values, uint64(t.size()))
	return int64(size), hi == 0 && int64(size) >= 0
}

// typeOf returns the type of data, or 0 if an array cannot hold data.
func typeOf(data any) dtype {
	switch data.(type) {
	case []byte:
		return bytesType
	case []float32:
		return float32Type
	case []float64:
		return float64Type
	case []int64:
		return int64Type
	}
	return 0
}

func length(data any) int {
	switch v := data.(type) {
	case []byte:
		return len(v)
	case []float32:
		return len(v)
	case []float64:
		return len(v)
	case []int64:
		return len(v)
	}
	return 0
}

// appendValues appends the values [from, to) of data, little-endian.
func appendValues(dst []byte, data any, from, to int) []byte {
	switch v := data.(type) {
	case []byte:
		return append(dst, v[from:to]...)
	case []float32:
		data = v[from:to]
	case []float64:
		data = v[from:to]
	case []int64:
		data = v[from:to]
	}
	dst, err := binary.Append(dst, binary.LittleEndian, data)
	if err != nil {
		panic(err) // CheckState rejects this type of data
	}
	return dst
}

// readValues returns the array that b holds. It shares no memory with b.
func readValues(t dtype, b []byte) any {
	n := int64(len(b)) / t.size()
	var data any
	switch t {
	case bytesType:
		return append(make([]byte, 0, n), b...)
	case float32Type:
		data = make([]float32, n)
	case float64Type:
		data = make([]float64, n)
	case int64Type:
		data = make([]int64, n)
	}
	if _, err := binary.Decode(b, binary.LittleEndian, data); err != nil {
		panic(err) // the sizes agree by construction
	}
	return data
}
