package inference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// tensor is an input of a request.
type tensor struct {
	Name     string          `json:"name"`
	Shape    []int           `json:"shape"`
	Datatype string          `json:"datatype"`
	Data     json.RawMessage `json:"data"`

	Parameters struct {
		BinarySize *int `json:"binary_data_size"`
	} `json:"parameters"`
	binary []byte // the data, if BinarySize is set

	values [][]byte // JSON of the elements, in row-major order
}

var datatypes = []string{"BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "BYTES"}

// read validates t and sets its values. Data may be one flat list, or a list of rows.
func (t *tensor) read() *failure {
	if !slices.Contains(datatypes, t.Datatype) {
		return bad("input %.100q: datatype %.100q: want one of %s", t.Name, t.Datatype, strings.Join(datatypes, ", "))
	}
	want := 1
	for _, n := range t.Shape {
		if n < 0 {
			return bad("input %.100q: shape %v: a dimension is negative, want the number of rows (and of columns) that are sent", t.Name, t.Shape)
		}
		if n > 0 && want > MaxValues/n {
			return status(http.StatusRequestEntityTooLarge, "input %.100q: shape %v: want at most %d values", t.Name, t.Shape, MaxValues)
		}
		want *= n
	}
	if len(t.Shape) == 0 || len(t.Shape) > 2 {
		return bad("input %.100q: shape %v: want one dimension, or two", t.Name, t.Shape)
	}
	read := t.flatten
	if t.Parameters.BinarySize != nil {
		read = t.unpack
	}
	if err := read(); err != nil {
		return bad("input %.100q: data: %v", t.Name, err)
	}
	if len(t.values) != want {
		return bad("input %.100q: data has %d values, but the shape is %v", t.Name, len(t.values), t.Shape)
	}
	for i, v := range t.values {
		if !t.fits(v) {
			return bad("input %.100q: value %d is %.64s, want %s", t.Name, i, v, t.Datatype)
		}
	}
	return nil
}

// flatten sets the values to the elements of the data, as they are spelled. The data must be
// valid JSON. Lists inside the list are rows, and must have as many values as the shape says.
func (t *tensor) flatten() error {
	b := t.Data
	if len(b) == 0 || b[0] != '[' {
		return errors.New("want a list")
	}
	columns := 1
	if len(t.Shape) == 2 {
		columns = t.Shape[1]
	}
	depth, begin, nested := 0, 0, 0 // begin: number of values before the current list; nested: the depth that all values must have
	for i := 0; i < len(b); {
		from := i
		switch b[i] {
		case '[':
			depth, begin = depth+1, len(t.values)
			i++
			continue
		case ']':
			if n := len(t.values) - begin; depth == nested && depth > 1 && n != columns {
				return fmt.Errorf("a list has %d values, but the shape is %v: want %d in each list, or one list of all", n, t.Shape, columns)
			}
			depth--
			i++
			continue
		case ',', ' ', '\t', '\n', '\r':
			i++
			continue
		case '{':
			return errors.New("an object is no value")
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			i++
		default: // a number, a boolean or null
			for i < len(b) && strings.IndexByte("], \t\n\r", b[i]) < 0 {
				i++
			}
		}
		if len(t.values) == MaxValues {
			return errors.New("too many values")
		}
		if nested == 0 {
			nested = depth
		}
		if depth != nested {
			return errors.New("values and lists are mixed: want a list for each row, or one list of all values")
		}
		t.values = append(t.values, b[from:i:i])
	}
	return nil
}

// fits reports whether a value has the datatype, or is null, which means missing.
func (t *tensor) fits(v []byte) bool {
	first := v[0]
	switch {
	case first == 'n':
		return true
	case t.Datatype == "BOOL":
		return first == 't' || first == 'f'
	case t.Datatype == "BYTES":
		return first == '"'
	case first == '"' || first == 't' || first == 'f':
		return false
	case strings.HasPrefix(t.Datatype, "FP"):
		return true
	}
	return !bytes.ContainsAny(v, ".eE") && (t.Datatype[0] == 'I' || first != '-')
}
