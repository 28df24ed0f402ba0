package avro

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	schema "github.com/twmb/avro"

	"github.com/accrete-ml/accrete/ingest/decode/leaf"
)

const everything = `{"type":"record","name":"a.All","fields":[
{"name":"n","type":"null"},{"name":"b","type":"boolean"},{"name":"i","type":"int"},{"name":"l","type":"long"},
{"name":"f","type":"float"},{"name":"d","type":"double"},{"name":"s","type":"string"},{"name":"raw","type":"bytes"},
{"name":"e","type":{"type":"enum","name":"E","symbols":["red","green"]}},
{"name":"u","type":["null","double"]},{"name":"many","type":["string","long","null"]},
{"name":"ms","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"us","type":{"type":"long","logicalType":"timestamp-micros"}},
{"name":"day","type":{"type":"int","logicalType":"date"}},
{"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}},
{"name":"list","type":{"type":"array","items":"double"}},{"name":"map","type":{"type":"map","values":"long"}},
{"name":"in","type":{"type":"record","name":"In","fields":[{"name":"v","type":"double"},{"name":"deep","type":["null",{"type":"record","name":"Deep","fields":[{"name":"w","type":"int"},{"name":"next","type":["null","a.Deep"]}]}]}]}},
{"name":"two","type":["null","a.In"]},
{"name":"rows","type":{"type":"array","items":"a.In"}},
{"name":"y","type":["null","string"]}]}`

var names = leaf.Names{
	Label: func(name string) (int, bool) { return -1, name == "y" },
	Depth: 8, Most: 1000, Whole: func(string) bool { return false },
}

func randomRecord(rng *rand.Rand) map[string]any {
	deep := func() map[string]any {
		in := map[string]any{"v": rng.NormFloat64(), "deep": nil}
		if rng.IntN(2) == 0 {
			in["deep"] = map[string]any{"w": rng.IntN(9), "next": nil}
		}
		return in
	}
	r := map[string]any{
		"n": nil, "b": rng.IntN(2) == 0, "i": rng.IntN(100) - 50, "l": rng.Int64N(1 << 50), "f": rng.Float32(), "d": rng.NormFloat64(),
		"s": fmt.Sprint("text é", rng.IntN(10)), "raw": []byte("bytes"), "e": []string{"red", "green"}[rng.IntN(2)], "u": nil, "many": "x",
		"ms": time.UnixMilli(rng.Int64N(4e12) - 2e12), "us": time.UnixMicro(rng.Int64N(4e15) - 2e15), "day": time.Unix(86400*rng.Int64N(30000), 0).UTC(),
		"price": big.NewRat(rng.Int64N(2e7)-1e7, 100), "list": []float64{1, rng.Float64()}, "map": map[string]any{"k": rng.Int64N(9)},
		"in": deep(), "two": nil, "rows": []any{deep(), deep()}, "y": nil,
	}
	if rng.IntN(2) == 0 {
		r["u"], r["many"], r["two"], r["y"] = rng.Float64(), int64(7), deep(), "ok"
	}
	return r
}

// flat writes what a record has, by path, in one spelling.
func flat(to map[string]string, path string, v any) {
	below := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	switch v := v.(type) {
	case map[string]any:
		for name, w := range v {
			flat(to, below(name), w)
		}
	case []any:
		for i, w := range v {
			flat(to, below(fmt.Sprint(i)), w)
		}
	case []float64:
		for i, w := range v {
			flat(to, below(fmt.Sprint(i)), w)
		}
	case time.Time:
		to[path] = fmt.Sprint(float64(v.Unix()) + float64(v.Nanosecond())/1e9)
	case *big.Rat:
		f, _ := v.Float64()
		to[path] = fmt.Sprint(f)
	case float32:
		to[path] = fmt.Sprint(float64(v))
	case int, int64:
		var f json.Number = json.Number(fmt.Sprint(v))
		n, _ := f.Float64()
		to[path] = fmt.Sprint(n)
	case []byte:
		to[path] = string(v)
	default:
		to[path] = fmt.Sprint(v)
	}
}

// TestLeavesAreWhatALibraryHasWritten holds the leaves of random records, which a library
// has written, against their values.
func TestLeavesAreWhatALibraryHasWritten(t *testing.T) {
	s := schema.MustParse(everything)
	p, err := Compile(everything, "", names)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	for range 300 {
		record := randomRecord(rng)
		b, err := s.Encode(record)
		if err != nil {
			t.Fatal(err)
		}
		leaves, err := p.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		want, got := map[string]string{}, map[string]string{}
		flat(want, "", record)
		for _, l := range leaves {
			name := string(l.Name)
			if l.Role == leaf.Label != (name == "y") {
				t.Fatalf("%s has the role %v", name, l.Role)
			}
			switch l.Kind {
			case leaf.Null:
				got[name] = "<nil>"
			case leaf.Number, leaf.Time:
				got[name] = fmt.Sprint(l.Num)
			default:
				got[name] = string(l.Text)
			}
			if strings.HasPrefix(name, "two") && record["two"] == nil {
				delete(got, name) // the values of a record that is null are null each
			}
			if strings.Contains(name, "deep.w") && l.Kind == leaf.Null || strings.HasSuffix(name, "next") {
				delete(got, name)
			}
		}
		for name, v := range want {
			if v == "<nil>" && (name == "two" || strings.HasSuffix(name, "deep")) || strings.HasSuffix(name, "next") {
				delete(want, name)
			}
		}
		for name, v := range want {
			if got[name] != v {
				t.Fatalf("%s is %q, want %q", name, got[name], v)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d leaves, want %d: %v", len(got), len(want), got)
		}
		for i := range b { // whatever is cut off
			if _, err := p.Read(b[:i]); err == nil {
				t.Fatalf("%d bytes of %d are a record", i, len(b))
			}
		}
	}
}

// Fields that the reader does not have are dropped, those that the writer does not have are
// their defaults, and aliases rename.
func TestAWriterIsResolvedToTheReader(t *testing.T) {
	writer := `{"type":"record","name":"R","fields":[{"name":"old","type":"int"},{"name":"gone","type":"string"},{"name":"y","type":"string"}]}`
	reader := `{"type":"record","name":"R","fields":[{"name":"new","aliases":["old"],"type":"double"},{"name":"more","type":"double","default":2.5},{"name":"y","type":"string"}]}`
	p, err := Compile(writer, reader, names)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := schema.MustParse(writer).Encode(map[string]any{"old": 7, "gone": "x", "y": "ok"})
	leaves, err := p.Read(b)
	var got []string
	for _, l := range leaves {
		got = append(got, fmt.Sprintf("%s=%v%s", l.Name, l.Num, l.Text))
	}
	if want := []string{"new=7", "y=0ok", "more=2.5"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{`{"type":"record","name":"R","fields":[{"name":"z","type":"double"}]}`, `{`, `"int"`} {
		if _, err := Compile(writer, bad, names); err == nil {
			t.Errorf("%s reads what %s wrote", bad, writer)
		}
	}
	if _, err := Compile(`"int"`, "", names); err == nil {
		t.Error("a schema that is no record is read")
	}
}

func FuzzRead(f *testing.F) {
	s := schema.MustParse(everything)
	rng := rand.New(rand.NewPCG(2, 0))
	for range 5 {
		b, err := s.Encode(randomRecord(rng))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	p, err := Compile(everything, "", names)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		leaves, err := p.Read(b)
		if err == nil && len(leaves) < 20 || len(leaves) > 2000 {
			t.Errorf("%d leaves", len(leaves))
		}
		var v any
		if rest, failed := s.Decode(b, &v); failed == nil && len(rest) == 0 && err != nil {
			t.Logf("a library reads %q, but %v", b, err)
		}
	})
}
