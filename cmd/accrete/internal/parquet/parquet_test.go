package parquet

import (
	"bytes"
	"encoding/base64"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

type row struct {
	B    bool      `parquet:"b"`
	I    int32     `parquet:"i"`
	U    uint64    `parquet:"u"`
	F    float32   `parquet:"f"`
	D    *float64  `parquet:"d,optional"`
	S    string    `parquet:"s"`
	Day  int32     `parquet:"day,date"`
	At   time.Time `parquet:"at,timestamp(microsecond)"`
	Cost int64     `parquet:"cost,decimal(2:18)"`
	Deep struct {
		C string `parquet:"c,enum"`
	} `parquet:"deep"`
	X []float64 `parquet:"x,list"`
}

func write(t *testing.T, rows []row) string {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows, parquet.MaxRowsPerRowGroup(2)); err != nil {
		t.Fatal(err)
	}
	return store(t, b.Bytes())
}

func store(t *testing.T, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(path string) (string, error) {
	l, err := Open(path, func(path string) bool { return path == "deep.label" || path == "i" }, nil)
	if err != nil {
		return "", err
	}
	defer l.Close()
	b, err := io.ReadAll(l)
	return string(b), err
}

func rows() []row {
	half := 0.5
	first := row{B: true, I: -7, U: math.MaxUint64, F: 0.1, D: &half, S: "Zürich \"1\"", Day: 19723, At: time.Date(2024, 5, 6, 7, 8, 9, 120_000_000, time.UTC), Cost: -1250, X: []float64{1, 1e300}}
	first.Deep.C = "k"
	return []row{first, {F: float32(math.NaN()), At: time.Unix(0, 0)}, {F: float32(math.Inf(1)), At: time.Unix(0, 0), X: []float64{3}}}
}

func TestRowsAreJSONLines(t *testing.T) {
	got, err := read(write(t, rows()))
	want := `{"b":true,"i":-7,"u":18446744073709551615,"f":0.1,"d":0.5,"s":"Zürich \"1\"","day":"2024-01-01","at":"2024-05-06T07:08:09.12Z","cost":-12.50,"deep":{"c":"k"},"x":[1,1e+300]}
{"b":false,"i":0,"u":0,"f":null,"d":null,"s":"","day":"1970-01-01","at":"1970-01-01T00:00:00Z","cost":0.00,"deep":{"c":""},"x":[]}
{"b":false,"i":0,"u":0,"f":1e999,"d":null,"s":"","day":"1970-01-01","at":"1970-01-01T00:00:00Z","cost":0.00,"deep":{"c":""},"x":[3]}
`
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if b, err := os.ReadFile(write(t, nil)); err != nil || !bytes.HasPrefix(b, []byte(Magic)) {
		t.Errorf("%v: a file does not begin with %q", err, Magic)
	}
}

// Records are objects, but for a field that has to be a member of the row, such as the label.
func TestRecords(t *testing.T) {
	type inner struct {
		A     int32   `parquet:"a"`
		Label string  `parquet:"label"`
		X     []int32 `parquet:"x,list"`
	}
	type nested struct {
		First *inner `parquet:"first,optional"`
		Deep  struct {
			Label string `parquet:"label"`
			More  inner  `parquet:"more"`
			B     int32  `parquet:"b"`
		} `parquet:"deep"`
	}
	var b bytes.Buffer
	full := nested{First: &inner{A: 1, Label: "p", X: []int32{2, 3}}}
	full.Deep.Label, full.Deep.B = "q", 4
	if err := parquet.Write(&b, []nested{full, {}}); err != nil {
		t.Fatal(err)
	}
	got, err := read(store(t, b.Bytes()))
	want := `{"deep.label":"q","first":{"a":1,"label":"p","x":[2,3]},"deep":{"more":{"a":0,"label":"","x":[]},"b":4}}
{"deep.label":"","first":{"a":null,"label":null,"x":[]},"deep":{"more":{"a":0,"label":"","x":[]},"b":0}}
`
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// A map is read by its keys, as an object is, and not by the order of its entries.
func TestMaps(t *testing.T) {
	type amount struct {
		Paid float64 `parquet:"paid"`
		Unit string  `parquet:"unit"`
	}
	type mapped struct {
		Before int32             `parquet:"before"`
		Of     map[string]*int32 `parquet:"of"`
		By     map[int64]amount  `parquet:"by"`
		After  int32             `parquet:"after"`
	}
	one, two := int32(1), int32(2)
	var b bytes.Buffer
	if err := parquet.Write(&b, []mapped{{Of: map[string]*int32{"a\"": &one}, By: map[int64]amount{7: {2.5, "EUR"}}}, {Of: map[string]*int32{"b": &two}}, {Of: map[string]*int32{"b": nil}, After: 3}}); err != nil {
		t.Fatal(err)
	}
	got, err := read(store(t, b.Bytes()))
	want := `{"before":0,"of":{"a\"":1},"by":{"7.paid":2.5,"7.unit":"EUR"},"after":0}
{"before":0,"of":{"b":2},"by":{},"after":0}
{"before":0,"of":{"b":null},"by":{},"after":3}
`
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// Without top, rows are those of earlier versions, for histories that began with a file.
func TestRowsOfEarlierVersions(t *testing.T) {
	type inner struct {
		C string  `parquet:"c"`
		X []int32 `parquet:"x,list"`
	}
	type mapped struct {
		Deep inner            `parquet:"deep"`
		Of   map[string]int32 `parquet:"of"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []mapped{{inner{"p", []int32{1}}, map[string]int32{"k": 2}}, {}}); err != nil {
		t.Fatal(err)
	}
	l, err := Open(store(t, b.Bytes()), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got, err := io.ReadAll(l)
	want := `{"deep.c":"p","deep.x":[1],"of.key_value.key":["k"],"of.key_value.value":[2]}
{"deep.c":"","deep.x":[],"of.key_value.key":[],"of.key_value.value":[]}
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// A damaged file is an error, or has other values, and nothing else.
func TestDamagedFiles(t *testing.T) {
	whole, err := os.ReadFile(write(t, rows()))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		b := bytes.Clone(whole)
		for range 1 + rng.IntN(3) {
			b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		}
		read(store(t, b))
		if _, err := read(store(t, whole[:rng.IntN(len(whole))])); err == nil || !strings.Contains(err.Error(), "it is truncated") {
			t.Fatalf("a file without its end: %v", err)
		}
	}
}

// PyArrow 26 wrote pyarrow.table({"y": ["a"]})[:0]: a row group without rows, whose column has a
// dictionary and no other page.
func TestATableWithoutRows(t *testing.T) {
	const file = "UEFSMRUEFQAVAkwVABUAEgAAABUEGSw1ABgGc2NoZW1hFQIAFQwlAhgBeSUATBwAAAAWABkcGRwmABwVDBklAAYZGAF5FQIWABYcFh4mACYIKRwVBBUAFQIAAAAWHBYAJggWHgAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGRwcAAAAegAAAFBBUjE="
	b, err := base64.StdEncoding.DecodeString(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read(store(t, b)); err != nil || got != "" {
		t.Errorf("%q, %v, want no row", got, err)
	}
}

// A file that says so cannot make a decimal take millions of digits.
func TestDecimalsAreBounded(t *testing.T) {
	type wide struct {
		Cost int64 `parquet:"cost,decimal(100000:18)"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []wide{{1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := read(store(t, b.Bytes())); err == nil || !strings.Contains(err.Error(), "scale of 100000") {
		t.Error(err)
	}
}

// A column that cannot be read is no obstacle if it is declared as ignored, and otherwise the error says so.
func TestColumnsThatAreIgnoredNeedNotBeReadable(t *testing.T) {
	type inner struct {
		X []float64 `parquet:"x,list"`
	}
	type wide struct {
		A     int32   `parquet:"a"`
		Bytes []byte  `parquet:"bytes"`
		Lists []inner `parquet:"lists,list"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []wide{{1, []byte("\xff"), []inner{{[]float64{1}}}}, {2, []byte("ok"), nil}}); err != nil {
		t.Fatal(err)
	}
	path := store(t, b.Bytes())
	readBut := func(ignored ...string) (string, error) {
		l, err := Open(path, func(string) bool { return false }, func(path string) bool {
			return slices.ContainsFunc(ignored, func(name string) bool { return path == name || strings.HasPrefix(path, name+".") })
		})
		if err != nil {
			return "", err
		}
		defer l.Close()
		b, err := io.ReadAll(l)
		return string(b), err
	}
	for _, ignored := range [][]string{nil, {"lists"}} {
		if _, err := readBut(ignored...); err == nil || !strings.Contains(err.Error(), "declare it as ignored") {
			t.Errorf("%v ignored: %v", ignored, err)
		}
	}
	if got, err := readBut("lists", "bytes"); err != nil || got != `{"a":1,"bytes":null}`+"\n"+`{"a":2,"bytes":"ok"}`+"\n" {
		t.Errorf("%q, %v", got, err)
	}
}
