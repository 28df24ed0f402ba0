package decode

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	schema "github.com/twmb/avro"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/accrete-ml/accrete/ingest/decode/npy"
)

// written are rows of numbers, and a label that is the last, in every format that needs no
// schema.
func written(rows [][]float32) (records map[string][]string, files map[string]string) {
	n := len(rows[0]) - 1
	records, files = map[string][]string{}, map[string]string{}
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }\n", len(rows), n+1)
	files["npy"] = npy.Magic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(header)))) + header
	for i := range n {
		files["csv"] += fmt.Sprintf("%d,", i)
	}
	files["csv"] += fmt.Sprintf("%d\n", n)
	for _, row := range rows {
		var x, pairs, indexed []string
		for i, v := range row[:n] {
			text := fmt.Sprint(float64(v))
			x = append(x, text)
			pairs = append(pairs, fmt.Sprintf("%d:%s", i, text))
			indexed = append(indexed, fmt.Sprintf("%d:%s", i+1, text))
		}
		y := fmt.Sprint(float64(row[n]))
		line := fmt.Sprintf(`{"x":[%s],"%d":%s}`, strings.Join(x, ","), n, y)
		records["json"] = append(records["json"], line)
		records["vw"] = append(records["vw"], y+" | "+strings.Join(pairs, " "))
		records["float32"] = append(records["float32"], float32s(row...))
		files["json"] += line + "\n"
		files["vw"] += y + " | " + strings.Join(pairs, " ") + "\n"
		files["csv"] += strings.Join(x, ",") + "," + y + "\n"
		files["libsvm"] += y + " " + strings.Join(indexed, " ") + "\n"
		files["npy"] += float32s(row...)
	}
	return records, files
}

// TestTheSameNumbersInEveryFormatAreTheSameRows holds rows of one format against those of
// the others, bit by bit.
func TestTheSameNumbersInEveryFormatAreTheSameRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	rows := make([][]float32, 60)
	for i := range rows {
		rows[i] = make([]float32, 13)
		for j := range rows[i] {
			rows[i][j] = float32(rng.NormFloat64() * math.Pow(10, float64(rng.IntN(8)-4)))
		}
	}
	check := func(t *testing.T, i int, row Row) {
		x := make([]float64, 12)
		for j := range x {
			x[j] = float64(rows[i][j])
		}
		if !slices.Equal(row.X, x) || row.Label.Value != float64(rows[i][12]) || row.Weight != 1 {
			t.Fatalf("row %d is %+v, want %v", i, row, rows[i])
		}
	}
	records, files := written(rows)
	for _, format := range formats {
		if values := records[format.name]; values != nil {
			t.Run(format.name, func(t *testing.T) {
				d, err := New(Config{Format: format.name, Label: "12", Infer: true}, Schema{})
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range values {
					row, err := d.Decode([]byte(v))
					if err != nil {
						t.Fatal(err)
					}
					check(t, i, row)
				}
			})
		}
		if text := files[format.name]; text != "" {
			t.Run(format.name+" file", func(t *testing.T) {
				file, err := Read(strings.NewReader(text), "rows", Config{Label: "12"}, Schema{})
				if err != nil || file.Format() != format.name {
					t.Fatal(file.Format(), err)
				}
				for i := range rows {
					row, err := file.Next()
					if err != nil {
						t.Fatal(err)
					}
					check(t, i, row)
				}
				if _, err := file.Next(); err != io.EOF {
					t.Error(err)
				}
			})
		}
	}
}

// What Vowpal Wabbit leaves out is 0, a category is missing, and NaN is a missing number.
func TestWhatARecordLeavesOut(t *testing.T) {
	d, err := New(Config{Format: "vw", Infer: true, Missing: "impute", Label: "y"}, Schema{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"1 |f a:2 b:3 c=red", "0 |f b:5"} {
		row, err := d.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if line[0] == '0' && (row.X[0] != 0 || row.X[1] != 5 || !math.IsNaN(row.X[2])) {
			t.Errorf("%s is %v of %v", line, row.X, d.Schema())
		}
	}
	for missing, want := range map[string]float64{"impute": math.NaN(), "zero": 0, "quarantine": -1} {
		for _, label := range []string{"0", "2"} {
			d, err := New(Config{Format: "float32", Infer: true, Missing: missing, Label: label}, Schema{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Decode([]byte(float32s(1, 2, 3))); err != nil {
				t.Fatal(err)
			}
			row, err := d.Decode([]byte(float32s(1, float32(math.NaN()), 3)))
			switch {
			case want == -1 && err == nil, want != -1 && err != nil:
				t.Errorf("missing %s, label %s: %v, %v", missing, label, row, err)
			case err == nil && !slices.ContainsFunc(row.X, func(v float64) bool { return v == want || v != v && want != want }):
				t.Errorf("missing %s, label %s: %v", missing, label, row.X)
			}
		}
	}
	if _, err := New(Config{Format: "float32", Label: "y"}, Schema{}); err == nil || !strings.Contains(err.Error(), "index of a number") {
		t.Error(err)
	}
}

// FuzzFormats decodes records of every format: a row with the columns of the schema, or an
// error that leaves the schema as it was.
func FuzzFormats(f *testing.F) {
	for i, format := range formats {
		for _, example := range format.examples {
			f.Add(byte(i), []byte(example), byte(0))
			f.Add(byte(i), []byte(example), byte(7))
		}
	}
	f.Fuzz(func(t *testing.T, at byte, b []byte, mode byte) {
		format := formats[int(at)%len(formats)]
		c := Config{Format: format.name, Reader: format.schema, Label: "0", Infer: mode&1 != 0, Depth: int(mode>>4) % 3, MaxColumns: 1000}
		c.Missing = []string{"quarantine", "zero", "impute"}[mode/2%3]
		if format.open != nil {
			if file, err := Read(strings.NewReader(string(b)), "fuzz", c, Schema{}); err == nil {
				for range 100 {
					var row *LineError
					if _, err := file.Next(); err != nil && !errors.As(err, &row) {
						break
					}
					file.Record(nil)
				}
			}
		}
		if format.parse == nil {
			return
		}
		d, err := New(c, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			before := d.Schema()
			row, err := d.Decode(b)
			if err != nil && d.Schema() != before || err == nil && len(row.X) != len(d.Schema().Columns) {
				t.Fatalf("%d values of columns %q, %v", len(row.X), d.Schema().Columns, err)
			}
			for i, v := range row.X {
				if math.IsInf(v, 0) || v != v && c.Missing != "impute" {
					t.Fatalf("input %d is %v", i, v)
				}
			}
		}
	})
}

// BenchmarkNumbers decodes records of 50 numbers.
func BenchmarkNumbers(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	row := make([]float32, 51)
	for i := range row {
		row[i] = rng.Float32()
	}
	records, _ := written([][]float32{row})
	fields, value := "", map[string]any{}
	for i, v := range row {
		fields += fmt.Sprintf(`,{"name":"_%d","type":"double"}`, i)
		value[fmt.Sprintf("_%d", i)] = float64(v)
	}
	wide := `{"type":"record","name":"R","fields":[` + fields[1:] + "]}"
	encoded, err := schema.MustParse(wide).Encode(value)
	if err != nil {
		b.Fatal(err)
	}
	records["avro"] = []string{string(encoded)}
	var message []byte
	descriptor := &descriptorpb.DescriptorProto{Name: proto.String("R")}
	for i, v := range row {
		message = protowire.AppendTag(message, protowire.Number(i+1), protowire.Fixed64Type)
		message = protowire.AppendFixed64(message, math.Float64bits(float64(v)))
		descriptor.Field = append(descriptor.Field, &descriptorpb.FieldDescriptorProto{
			Name: proto.String(fmt.Sprintf("_%d", i)), Number: proto.Int32(int32(i + 1)),
			Type: descriptorpb.FieldDescriptorProto_TYPE_DOUBLE.Enum(), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		})
	}
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{
		{Name: proto.String("r.proto"), Syntax: proto.String("proto3"), MessageType: []*descriptorpb.DescriptorProto{descriptor}},
	}})
	if err != nil {
		b.Fatal(err)
	}
	records["protobuf"] = []string{string(message)}
	readers := map[string]string{"avro": wide, "protobuf": base64.StdEncoding.EncodeToString(set)}
	for _, name := range []string{"json", "vw", "float32", "avro", "protobuf"} {
		b.Run(name, func(b *testing.B) {
			c := Config{Format: name, Label: "50", Infer: true}
			if text, ok := readers[name]; ok {
				c.Reader, c.Label = text, "_50"
			}
			d, err := New(c, Schema{})
			if err != nil {
				b.Fatal(err)
			}
			value := []byte(records[name][0])
			b.SetBytes(int64(len(value)))
			b.ReportAllocs()
			for range b.N {
				if _, err := d.Decode(value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
