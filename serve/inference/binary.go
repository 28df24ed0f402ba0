package inference

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/internal/half"
)

// The binary tensor data extension of the Open Inference Protocol: the data of tensors
// follows the JSON object, in the order of the tensors, each in row-major order and
// little-endian. A header contains the length of the JSON object. A parameter of each such
// tensor contains the length of its data.
const (
	binaryExtension = "binary_tensor_data"
	headerLength    = "Inference-Header-Content-Length"
)

// content reads the body of a request: a JSON object, and the binary data that follows it.
func content(r *http.Request) (object, rest []byte, fault *failure) {
	if c := r.Header.Get("Content-Encoding"); c != "" && c != "identity" {
		return nil, nil, status(http.StatusUnsupportedMediaType, "content encoding %.100q is not supported: send the body as it is", c)
	}
	if r.ContentLength > MaxBytes { // before the client is told to send it (Expect: 100-continue)
		return nil, nil, tooLarge()
	}
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, MaxBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, nil, tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, nil, status(http.StatusRequestTimeout, "the body did not arrive in time: %d bytes of it did", len(b))
	case err != nil:
		fault = bad("the body could not be read: %v", err)
		fault.aborted = aborted(r, err)
		return nil, nil, fault
	}
	text := r.Header.Get(headerLength)
	if text == "" {
		return b, nil, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > len(b) {
		return nil, nil, bad("%s is %.100q, but the body has %d bytes", headerLength, text, len(b))
	}
	return b[:n], b[n:], nil
}

func tooLarge() *failure {
	return status(http.StatusRequestEntityTooLarge, "the body exceeds %d bytes", MaxBytes)
}

// take splits the binary data of a request among its inputs.
func (q *inferRequest) take(rest []byte) *failure {
	for i := range q.Inputs {
		t := &q.Inputs[i]
		size := t.Parameters.BinarySize
		switch {
		case size == nil:
			continue
		case len(t.Data) > 0:
			return bad("input %.100q has data and binary_data_size: want one of them", t.Name)
		case *size < 0 || *size > len(rest):
			return bad("input %.100q: binary_data_size is %d, but %d bytes are left", t.Name, *size, len(rest))
		}
		t.binary, rest = rest[:*size:*size], rest[*size:]
	}
	if len(rest) > 0 {
		return bad("%d bytes follow the data of the last input", len(rest))
	}
	return nil
}

// sizes holds the size in bytes of an element of each datatype in binary data. BYTES has none.
var sizes = map[string]int{
	"BOOL": 1, "UINT8": 1, "INT8": 1, "UINT16": 2, "INT16": 2, "FP16": 2,
	"UINT32": 4, "INT32": 4, "FP32": 4, "UINT64": 8, "INT64": 8, "FP64": 8,
}

// unpack sets the values to the elements of the binary data, each as JSON.
func (t *tensor) unpack() error {
	if t.Datatype == "BYTES" {
		return t.unpackText()
	}
	size := sizes[t.Datatype]
	if len(t.binary)%size != 0 {
		return fmt.Errorf("%d bytes are no multiple of %d", len(t.binary), size)
	}
	n := len(t.binary) / size
	if n > MaxValues {
		return errors.New("too many values")
	}
	t.values = make([][]byte, n)
	text := make([]byte, 0, 12*n)
	for i := range n {
		from := len(text)
		var err error
		if text, err = number(text, t.Datatype, t.binary[i*size:]); err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
		t.values[i] = text[from:len(text):len(text)]
	}
	return nil
}

// number appends the number or boolean at the start of b as JSON. NaN becomes null, a missing
// value.
func number(text []byte, datatype string, b []byte) ([]byte, error) {
	e := binary.LittleEndian
	switch datatype {
	case "BOOL":
		return strconv.AppendBool(text, b[0] != 0), nil
	case "UINT8":
		return strconv.AppendUint(text, uint64(b[0]), 10), nil
	case "UINT16":
		return strconv.AppendUint(text, uint64(e.Uint16(b)), 10), nil
	case "UINT32":
		return strconv.AppendUint(text, uint64(e.Uint32(b)), 10), nil
	case "UINT64":
		return strconv.AppendUint(text, e.Uint64(b), 10), nil
	case "INT8":
		return strconv.AppendInt(text, int64(int8(b[0])), 10), nil
	case "INT16":
		return strconv.AppendInt(text, int64(int16(e.Uint16(b))), 10), nil
	case "INT32":
		return strconv.AppendInt(text, int64(int32(e.Uint32(b))), 10), nil
	case "INT64":
		return strconv.AppendInt(text, int64(e.Uint64(b)), 10), nil
	}
	var v float64
	switch datatype {
	case "FP16":
		v = half.Float(e.Uint16(b))
	case "FP32":
		v = float64(math.Float32frombits(e.Uint32(b)))
	default:
		v = math.Float64frombits(e.Uint64(b))
	}
	switch {
	case math.IsNaN(v):
		return append(text, "null"...), nil
	case math.IsInf(v, 0):
		return nil, fmt.Errorf("%v is not finite", v)
	}
	return strconv.AppendFloat(text, v, 'g', -1, 64), nil
}

// unpackText is unpack for BYTES: each element is preceded by its length in four bytes.
func (t *tensor) unpackText() error {
	for rest := t.binary; len(rest) > 0; {
		if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return fmt.Errorf("element %d is incomplete", len(t.values))
		}
		n := binary.LittleEndian.Uint32(rest)
		b := rest[4 : 4+n]
		rest = rest[4+n:]
		if !utf8.Valid(b) {
			return fmt.Errorf("element %d is not valid UTF-8", len(t.values))
		}
		text, err := json.Marshal(string(b))
		if err != nil {
			return err
		}
		if t.values = append(t.values, text); len(t.values) > MaxValues {
			return errors.New("too many values")
		}
	}
	return nil
}

// binary reports whether the request asks for an output as binary data.
func (q *inferRequest) binary(name string) bool {
	for _, o := range q.Outputs {
		if o.Name == name && o.Parameters.Binary != nil {
			return *o.Parameters.Binary
		}
	}
	return q.Parameters.Binary
}

// pack moves the data of the outputs for which binary is true out of all, and returns it as
// binary data.
func (q *inferRequest) pack(all []output) []byte {
	var b bytes.Buffer
	for i := range all {
		o := &all[i]
		if !q.binary(o.Name) {
			continue
		}
		from := b.Len()
		switch v := o.Data.(type) {
		case []float64:
			text := b.AvailableBuffer()
			for _, x := range v {
				text = binary.LittleEndian.AppendUint64(text, math.Float64bits(x))
			}
			b.Write(text)
		case []bool:
			for _, x := range v {
				one := byte(0)
				if x {
					one = 1
				}
				b.WriteByte(one)
			}
		case []string:
			for _, s := range v {
				b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))))
				b.WriteString(s)
			}
		}
		o.Data, o.Parameters = nil, map[string]int{"binary_data_size": b.Len() - from}
	}
	return b.Bytes()
}
