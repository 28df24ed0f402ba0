package pipeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/encode"
	"github.com/accrete-ml/accrete/ingest/registry"
	"github.com/accrete-ml/accrete/learner"
)

// only is a registry with one schema, whose id is 7.
type only struct{ has decode.Writer }

func (o only) Writer(_ context.Context, id string) (decode.Writer, error) {
	if id == o.has.ID {
		return o.has, nil
	}
	return decode.Writer{}, registry.ErrUnknown
}

// The schema of the records below in Avro and in Protocol Buffers. The label is last.
const (
	malformedAvro  = `{"type":"record","name":"Example","fields":[{"name":"x","type":["null","double"]},{"name":"y","type":["null","double"]},{"name":"label","type":["null","double"],"default":null}]}`
	malformedProto = "syntax = \"proto3\";\nmessage Example {\n  optional double x = 1;\n  optional double y = 2;\n  optional double label = 3;\n}\n"
)

// spoils returns values that are bad by construction, made from a good one, by format.
var spoils = map[string]func(r *rand.Rand, good []byte) []byte{
	"avro": func(r *rand.Rand, good []byte) []byte {
		body := bytes.Clone(good[5:])
		switch r.IntN(5) {
		case 0:
			body = body[:r.IntN(len(body))]
		case 1:
			body = append(body, byte(r.Uint32()))
		case 2:
			body[0] = byte(4 + r.IntN(120)) // a branch that the union does not have
		case 3:
			binary.LittleEndian.PutUint64(body[1:], math.Float64bits([]float64{math.Inf(1), math.Inf(-1), 1e31, math.NaN()}[r.IntN(4)]))
		default:
			return misframed(r, good)
		}
		return append(good[:5:5], body...)
	},
	"protobuf": func(r *rand.Rand, good []byte) []byte {
		body := bytes.Clone(good[6:])
		switch r.IntN(5) {
		case 0:
			body = body[:len(body)-1-r.IntN(8)]
		case 1:
			body = append(body, [][]byte{{0x80}, {0x0b}, {0x07}, {0x22, 9, 'a'}, {0x29, 1}}[r.IntN(5)]...) // fields that are cut off, or of no type
		case 2:
			return append(append(good[:5:5], byte(2+2*r.IntN(9))), body...) // a message that the schema does not have
		case 3:
			binary.LittleEndian.PutUint64(body[1:], math.Float64bits([]float64{math.Inf(1), math.Inf(-1), 1e31, math.NaN()}[r.IntN(4)]))
		default:
			return misframed(r, good)
		}
		return append(good[:6:6], body...)
	},
	"json-schema": func(r *rand.Rand, good []byte) []byte {
		if bad := misframed(r, good); r.IntN(3) == 0 && (len(bad) < 5 || !bytes.Equal(bad[5:], good[5:]) || bad[0] != 0) { // its id may be any
			return bad
		}
		return append(good[:5:5], spoiledJSON(r, good[5:])...)
	},
	"cloudevents": func(r *rand.Rand, good []byte) []byte {
		switch r.IntN(4) {
		case 0:
			return bytes.Replace(good, []byte(`"specversion":"1.0"`), []byte([]string{`"specversion":"0.3"`, `"specversion":1`, `"version":"1.0"`}[r.IntN(3)]), 1)
		case 1:
			return bytes.Replace(good, []byte(`"data":`), []byte([]string{`"datas":`, `"data":1,"data":`, `"data_base64":`}[r.IntN(3)]), 1)
		}
		return spoiledJSON(r, good)
	},
	"vw": func(r *rand.Rand, good []byte) []byte {
		switch r.IntN(6) {
		case 0:
			return append(bytes.Clone(good), " x:1"...) // twice
		case 1:
			return append(bytes.Clone(good), " z:1"...) // no column
		case 2:
			return bytes.Replace(good, []byte("x:"), []byte([]string{"x:a", "x:1e999,", "x::", "x:+-"}[r.IntN(4)]), 1)
		case 3:
			return append([]byte([]string{"a ", "1:0.5:0.2 ", "1 2 3 4 ", "1 -2 ", "1 0 "}[r.IntN(5)]), good[bytes.IndexByte(good, '|'):]...)
		case 4:
			return bytes.ReplaceAll(good, []byte("|"), nil)
		}
		return append(bytes.Clone(good), 0xff)
	},
	"float32": func(r *rand.Rand, good []byte) []byte {
		switch r.IntN(3) {
		case 0:
			return good[:4*r.IntN(2)+r.IntN(4)]
		case 1:
			return append(bytes.Clone(good), make([]byte, 1+r.IntN(9))...)
		}
		bad := bytes.Clone(good)
		binary.LittleEndian.PutUint32(bad[4*r.IntN(2):], math.Float32bits([]float32{float32(math.Inf(1)), float32(math.Inf(-1)), 1e31, float32(math.NaN())}[r.IntN(4)]))
		return bad
	},
}

// misframed returns a value whose framing is bad.
func misframed(r *rand.Rand, good []byte) []byte {
	bad := bytes.Clone(good)
	switch r.IntN(4) {
	case 0:
		bad[0] = byte(1 + r.IntN(255))
	case 1:
		bad[1+r.IntN(3)] = byte(1 + r.IntN(127)) // a schema that the registry does not have
	case 2:
		bad = bad[:r.IntN(6)]
	default:
		bad = good[5:]
		if len(bad) > 0 && bad[0] == 0 {
			bad = nil
		}
	}
	return bad
}

func spoiledJSON(r *rand.Rand, good []byte) []byte {
	switch r.IntN(4) {
	case 0:
		return good[:r.IntN(len(good))]
	case 1:
		return append(bytes.Clone(good), '}')
	case 2:
		return bytes.Replace(good, []byte(`"x":`), []byte([]string{`"x":--`, `"x":1e999,"a":`, `"x":"`, `"y":1,"x":`, `"x":null,"x":`}[r.IntN(5)]), 1)
	}
	return bytes.Replace(good, []byte(`{`), []byte("{\"\xff\":1,"), 1)
}

// malformIn is malform for records in a format. A record without a label lacks the field.
func malformIn(t *testing.T, format string) (decode.Config, decode.Writer, func(*rand.Rand, int) ([]byte, int, kind)) {
	in := decode.Config{Format: format, Label: "label", Task: learner.Regression}
	schema := decode.Writer{ID: "7"}
	var text, head string
	switch format {
	case "avro":
		text, schema.Type, schema.Text, head = malformedAvro, "AVRO", malformedAvro, "\x00\x00\x00\x00\x07"
	case "protobuf":
		set, err := registry.Proto(t.Context(), malformedProto, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, schema.Type, schema.Text, head = malformedProto, "PROTOBUF", set, "\x00\x00\x00\x00\x07\x00"
	case "json-schema":
		schema.Type, schema.Text, head = "JSON", `{}`, "\x00\x00\x00\x00\x07"
	case "float32":
		in.Label = "2"
	}
	in.Framed = head != ""
	var w encode.Writer
	var err error
	roles := encode.Roles{Labels: []string{in.Label}}
	if text != "" {
		w, err = encode.WithSchema(t.Context(), format, text, roles, nil, "")
	} else if format == "json-schema" {
		w, err = encode.New("json", roles)
	} else {
		w, err = encode.New(format, roles)
	}
	if err != nil {
		t.Fatal(err)
	}
	return in, schema, func(r *rand.Rand, n int) ([]byte, int, kind) {
		label, k := fmt.Sprintf(`,"label":%v`, float32(r.NormFloat64())), isLearned
		bad := n > 8 && r.IntN(3) == 0
		if n > 8 && !bad && r.IntN(20) == 0 {
			label, k = "", isPredicted
		}
		example := fmt.Sprintf(`{"x":%v,"y":%v%s}`, float32(r.NormFloat64()), float32(r.NormFloat64()), label)
		if format == "float32" {
			example = strings.NewReplacer(`"x"`, `"0"`, `"y"`, `"1"`, `"label"`, `"2"`).Replace(example)
		}
		value, _, err := w.Write([]byte(example))
		if err != nil {
			t.Fatal(err)
		}
		value = append([]byte(head), value...)
		if bad {
			value, k = spoils[format](r, value), isBad
		}
		return value, 0, k
	}
}

// TestMalformedRecordsOfEveryFormat is TestMalformedRecordsAreAccountedFor for the formats
// beside JSON, with a tenth of the records each.
func TestMalformedRecordsOfEveryFormat(t *testing.T) {
	for _, format := range decode.Formats() {
		if format == "json" {
			continue
		}
		t.Run(format, func(t *testing.T) {
			if spoils[format] == nil {
				t.Fatal("how are its records malformed?")
			}
			in, schema, next := malformIn(t, format)
			accountsWith(t, in, only{schema}, *malformed/10, next)
		})
	}
}
