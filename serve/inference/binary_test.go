package inference

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// askBinary makes a request with binary data, and returns the JSON of the answer and
// the binary data behind it.
func (c client) askBinary(object string, rest []byte, code int) (string, []byte) {
	c.t.Helper()
	r := httptest.NewRequest("POST", "/v2/models/fraud/infer", bytes.NewReader(append([]byte(object), rest...)))
	r.Header.Set(headerLength, strconv.Itoa(len(object)))
	w := httptest.NewRecorder()
	c.mux.ServeHTTP(w, r)
	b := w.Body.Bytes()
	if w.Code != code {
		c.t.Errorf("%s: status %d, want %d: %.300s", object, w.Code, code, b)
	}
	text := w.Header().Get(headerLength)
	if text == "" {
		return string(b), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || w.Header().Get("Content-Type") != "application/octet-stream" {
		c.t.Fatalf("%s is %q, of %s", headerLength, text, w.Header().Get("Content-Type"))
	}
	return string(b[:n]), b[n:]
}

func packed(v any) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func texts(all ...string) (b []byte) {
	for _, s := range all {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	return b
}

// A request has the same predictions with JSON and with binary data, of every datatype,
// and gets them as either.
func TestBinaryDataIsTheSameData(t *testing.T) {
	c := newClient(t, dense(t))
	for _, x := range []struct {
		datatype, json string
		data           any
	}{
		{"FP64", "[0.1,-2,null,1e-300]", []float64{0.1, -2, math.NaN(), 1e-300}},
		{"FP32", "[0.10000000149011612,-2,1e10,1e-44]", []float32{0.1, -2, 1e10, 1e-44}},
		{"FP16", "[0.0999755859375,-2,65504,5.960464477539063e-08]", []uint16{0x2e66, 0xc000, 0x7bff, 1}},
		{"UINT8", "[1,2,200,0]", []uint8{1, 2, 200, 0}}, {"INT8", "[1,2,-100,0]", []int8{1, 2, -100, 0}},
		{"UINT16", "[1,2,60000,0]", []uint16{1, 2, 60000, 0}}, {"INT16", "[1,2,-30000,0]", []int16{1, 2, -30000, 0}},
		{"UINT32", "[1,2,4000000000,0]", []uint32{1, 2, 4e9, 0}}, {"INT32", "[1,2,-2000000000,0]", []int32{1, 2, -2e9, 0}},
		{"UINT64", "[1,2,18446744073709551615,0]", []uint64{1, 2, math.MaxUint64, 0}}, {"INT64", "[1,2,-9,0]", []int64{1, 2, -9, 0}},
	} {
		input := func(data string) string {
			return fmt.Sprintf(`{"id":"7","inputs":[{"name":"rows","datatype":%q,"shape":[2,2],%s}]`, x.datatype, data)
		}
		code := 200
		if strings.Contains(x.json, "null") {
			code = 400 // the model rejects missing values, in both forms
		}
		want := c.ask("POST", "/v2/models/fraud/infer", input(`"data":`+x.json)+"}", code)
		b := packed(x.data)
		object := input(fmt.Sprintf(`"parameters":{"binary_data_size":%d}`, len(b)))
		if got, rest := c.askBinary(object+"}", b, code); got != want || rest != nil {
			t.Errorf("%s: %s, want %s", x.datatype, got, want)
		}
		if code != 200 {
			continue
		}
		a := in[answer](t, want)
		got, rest := c.askBinary(object+`,"parameters":{"binary_data_output":true}}`, b, 200)
		values := slices.Concat(in[[]float64](t, string(a.Outputs[0].Data)), in[[]float64](t, string(a.Outputs[1].Data)))
		if !bytes.Equal(rest, packed(values)) || strings.Contains(got, `"data"`) || strings.Count(got, "binary_data_size") != 2 {
			t.Errorf("%s: %s and %d bytes, want %v", x.datatype, got, len(rest), values)
		}
	}
}

func TestBinaryTextsAndBooleans(t *testing.T) {
	m, _ := typed(t)
	c := newClient(t, m)
	want := in[answer](t, c.ask("POST", "/v2/models/fraud/infer", `{"inputs":[{"name":"country","datatype":"BYTES","shape":[2],"data":["c1","ü\""]},{"name":"amount","datatype":"FP64","shape":[2],"data":[1,2]},{"name":"paid","datatype":"BOOL","shape":[2],"data":[true,false]}]}`, 200))
	object := `{"inputs":[{"name":"country","datatype":"BYTES","shape":[2],"parameters":{"binary_data_size":13}},{"name":"amount","datatype":"FP64","shape":[2],"data":[1,2]},{"name":"paid","datatype":"BOOL","shape":[2],"parameters":{"binary_data_size":2}}],"outputs":[{"name":"prediction","parameters":{"binary_data":true}},{"name":"probabilities"}]}`
	got, rest := c.askBinary(object, append(texts("c1", `ü"`), 1, 0), 200)
	a := in[answer](t, got)
	if string(a.Outputs[1].Data) != string(want.Outputs[1].Data) || !bytes.Equal(rest, texts(in[[]string](t, string(want.Outputs[0].Data))...)) {
		t.Errorf("%s and %q, want %+v", got, rest, want)
	}
}

func TestBadBinaryDataIsRefused(t *testing.T) {
	m, _ := typed(t)
	c := newClient(t, m)
	input := func(name, datatype, size string) string {
		return fmt.Sprintf(`{"inputs":[{"name":%q,"datatype":%q,"shape":[1],"parameters":{"binary_data_size":%s}}]}`, name, datatype, size)
	}
	for _, x := range []struct {
		object string
		rest   []byte
		reason string
	}{
		{input("amount", "FP64", "8"), make([]byte, 7), "7 bytes are left"},
		{input("amount", "FP64", "-1"), nil, "binary_data_size is -1"},
		{input("amount", "FP64", "8"), make([]byte, 9), "1 bytes follow"},
		{input("amount", "FP64", "7"), make([]byte, 7), "no multiple of 8"},
		{input("amount", "FP64", "16"), make([]byte, 16), "2 values"},
		{input("amount", "FP64", "8"), packed(math.Inf(1)), "not finite"},
		{input("amount", "FP16", "2"), packed(uint16(0xfc00)), "not finite"},
		{input("country", "BYTES", "3"), []byte{1, 0, 0}, "incomplete"},
		{input("country", "BYTES", "5"), []byte{2, 0, 0, 0, 'a'}, "incomplete"},
		{input("country", "BYTES", "5"), []byte{1, 0, 0, 0, 0xff}, "UTF-8"},
		{`{"inputs":[{"name":"amount","datatype":"FP64","shape":[1],"data":[1],"parameters":{"binary_data_size":8}}]}`, make([]byte, 8), "want one of them"},
	} {
		got, _ := c.askBinary(x.object, x.rest, 400)
		if e := in[struct{ Error string }](t, got); !strings.Contains(e.Error, x.reason) {
			t.Errorf("%s: %s, want %s", x.object, e.Error, x.reason)
		}
	}
	for _, length := range []string{"x", "-1", "1000"} {
		r := httptest.NewRequest("POST", "/v2/models/fraud/infer", strings.NewReader("{}"))
		r.Header.Set(headerLength, length)
		w := httptest.NewRecorder()
		if c.mux.ServeHTTP(w, r); w.Code != 400 {
			t.Errorf("length %s: status %d", length, w.Code)
		}
	}
	r := httptest.NewRequest("POST", "/predict", strings.NewReader("{}"))
	r.Header.Set("Content-Encoding", "gzip")
	w := httptest.NewRecorder()
	if c.mux.ServeHTTP(w, r); w.Code != 415 || !json.Valid(w.Body.Bytes()) {
		t.Errorf("compressed: status %d", w.Code)
	}
}
