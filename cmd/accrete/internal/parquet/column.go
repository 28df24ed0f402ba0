package parquet

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/jsonvalue"
	"github.com/accrete-ml/accrete/internal/half"
)

// column is a leaf of the schema of a file.
type column struct {
	at     int      // index of the leaf
	dirs   []string // names of the objects that its member is in, from the outermost
	name   string   // of the member; in a map, what follows the key
	list   bool
	empty  int // definition level up to which a list has no element
	append func([]byte, parquet.Value) ([]byte, error)

	ignored bool    // values that cannot be read are null
	keys    *column // of the map that it is in, if it is in one

	before []byte // what ends and begins objects between the previous column and this one
	text   []byte // the name as JSON, with its colon, outside of maps
}

// advice says what to do with a column that cannot be read.
const advice = ": leave it out of the file, or declare it as ignored (fit --columns NAME:ignored, or input.columns)"

// mostScale is the maximum number of digits after the point of a decimal. Each digit takes time and
// memory for every value, and a number that needs more of them is too small for a float64.
const mostScale = 400

// columnsOf returns the leaves of the schema of a file in the order of their members. The leaves for
// which top is true come first and are members of the row, named by their paths; others are in the
// objects that their paths name. If top is nil, all are members of the row, and maps two lists. Of the
// leaves for which ignored is true, those that cannot be read are left out.
func columnsOf(f *parquet.File, top, ignored func(path string) bool) ([]column, error) {
	s := f.Schema()
	elements := slices.DeleteFunc(slices.Clone(f.Metadata().Schema), func(e format.SchemaElement) bool { return !e.Type.Valid })
	if len(elements) != len(s.Columns()) {
		return nil, fmt.Errorf("damaged: %d columns have a type, of %d", len(elements), len(s.Columns()))
	}
	var all, first []column
	maps, keys := mapsOf(f.Metadata().Schema), map[string]*column{}
	for i, path := range s.Columns() {
		leaf, ok := s.Lookup(path...)
		if !ok {
			return nil, fmt.Errorf("damaged: no column %q", path)
		}
		c, err := newColumn(i, path, leaf, elements[i])
		c.ignored = ignored != nil && ignored(strings.Join(path, "."))
		if err != nil && c.ignored {
			continue
		}
		if err != nil {
			return nil, err
		}
		if top == nil {
			c.name, c.dirs = c.path(), nil
			all = append(all, c)
			continue
		}
		if n := maps[i]; n > 0 && c.list && len(path) > n+1 {
			within := strings.Join(path[:n], ".")
			if keys[within] == nil {
				c.name = within
				keys[within] = &c
				continue
			}
			c.keys, c.dirs, c.name = keys[within], path[:n], strings.Join(append([]string{""}, path[n+2:]...), ".")
		}
		if c.keys == nil && len(c.dirs) > 0 && top(c.path()) {
			c.name, c.dirs = c.path(), nil
			first = append(first, c)
		} else {
			all = append(all, c)
		}
	}
	all = append(first, all...)
	return all, nest(all)
}

// newColumn returns a column. The names in its path are those of the objects that contain its member.
func newColumn(at int, path []string, leaf parquet.LeafColumn, e format.SchemaElement) (c column, err error) {
	if l := leaf.Node.Type().LogicalType(); l != nil {
		if d, is := l.Value.(*format.DecimalType); is && (d.Scale < 0 || d.Scale > mostScale) {
			return c, fmt.Errorf("damaged: column %q has a scale of %d, want 0 to %d", strings.Join(path, "."), d.Scale, mostScale)
		}
	}
	c = column{at: at, list: leaf.MaxRepetitionLevel > 0, append: valueOf(leaf.Node.Type())}
	if _, is := e.LogicalType.Value.(*format.Float16Type); is { // the type of a leaf does not say this
		c.append = appendHalf
	}
	if leaf.MaxRepetitionLevel > 1 {
		return c, fmt.Errorf("column %q is a list of lists or of records with lists: only lists of values are read"+advice, strings.Join(path, "."))
	}
	if n := len(path); c.list && n > 2 && path[n-2] == "list" && (path[n-1] == "element" || path[n-1] == "item") {
		path = path[:n-2]
	}
	if c.list {
		c.empty = leaf.MaxDefinitionLevel - 1
		if leaf.Node.Optional() {
			c.empty--
		}
	}
	c.dirs, c.name = path[:len(path)-1], path[len(path)-1]
	return c, nil
}

// valueOf returns a function that appends values of a type as JSON.
func valueOf(t parquet.Type) func([]byte, parquet.Value) ([]byte, error) {
	var logical format.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	switch l := logical.(type) {
	case *format.DateType:
		return func(dst []byte, v parquet.Value) ([]byte, error) {
			return time.Unix(int64(v.Int32())*86400, 0).UTC().AppendFormat(append(dst, '"'), `2006-01-02"`), nil
		}
	case *format.TimestampType:
		return timestamps(l)
	case *format.DecimalType:
		return decimals(t.Kind(), int(l.Scale))
	case *format.UUIDType:
		return func(dst []byte, v parquet.Value) ([]byte, error) {
			b := v.ByteArray()
			return fmt.Appendf(dst, `"%x-%x-%x-%x-%x"`, b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
		}
	case *format.IntType:
		if !l.IsSigned {
			return unsigned(t.Kind())
		}
	}
	return physical(t.Kind())
}

func physical(k parquet.Kind) func([]byte, parquet.Value) ([]byte, error) {
	switch k {
	case parquet.Boolean:
		return func(dst []byte, v parquet.Value) ([]byte, error) { return strconv.AppendBool(dst, v.Boolean()), nil }
	case parquet.Int32:
		return func(dst []byte, v parquet.Value) ([]byte, error) {
			return strconv.AppendInt(dst, int64(v.Int32()), 10), nil
		}
	case parquet.Int64:
		return func(dst []byte, v parquet.Value) ([]byte, error) { return strconv.AppendInt(dst, v.Int64(), 10), nil }
	case parquet.Int96: // times of old writers: nanoseconds of a day, and a Julian day
		return func(dst []byte, v parquet.Value) ([]byte, error) {
			w := v.Int96()
			at := time.Unix((int64(w[2])-2440588)*86400, int64(w[1])<<32|int64(w[0])).UTC()
			return at.AppendFormat(append(dst, '"'), time.RFC3339Nano+`"`), nil
		}
	case parquet.Float:
		return func(dst []byte, v parquet.Value) ([]byte, error) {
			return jsonvalue.AppendFloat(dst, float64(v.Float()), 32), nil
		}
	case parquet.Double:
		return func(dst []byte, v parquet.Value) ([]byte, error) {
			return jsonvalue.AppendFloat(dst, v.Double(), 64), nil
		}
	}
	return func(dst []byte, v parquet.Value) ([]byte, error) {
		return jsonvalue.AppendText(dst, string(v.ByteArray()))
	}
}

func appendHalf(dst []byte, v parquet.Value) ([]byte, error) {
	if len(v.ByteArray()) != 2 {
		return nil, fmt.Errorf("damaged: a float16 has %d bytes", len(v.ByteArray()))
	}
	return jsonvalue.AppendFloat(dst, half.Float(binary.LittleEndian.Uint16(v.ByteArray())), 32), nil
}

func unsigned(k parquet.Kind) func([]byte, parquet.Value) ([]byte, error) {
	return func(dst []byte, v parquet.Value) ([]byte, error) {
		if k == parquet.Int32 {
			return strconv.AppendUint(dst, uint64(v.Uint32()), 10), nil
		}
		return strconv.AppendUint(dst, v.Uint64(), 10), nil
	}
}

func timestamps(t *format.TimestampType) func([]byte, parquet.Value) ([]byte, error) {
	layout, since := `2006-01-02 15:04:05.999999999"`, time.UnixMilli
	if t.IsAdjustedToUTC {
		layout = time.RFC3339Nano + `"`
	}
	switch t.Unit.Value.(type) {
	case *format.MicroSeconds:
		since = time.UnixMicro
	case *format.NanoSeconds:
		since = func(n int64) time.Time { return time.Unix(0, n) }
	}
	return func(dst []byte, v parquet.Value) ([]byte, error) {
		return since(v.Int64()).UTC().AppendFormat(append(dst, '"'), layout), nil
	}
}

// decimals returns a function that appends decimals, which are integers divided by 10^scale.
func decimals(k parquet.Kind, scale int) func([]byte, parquet.Value) ([]byte, error) {
	return func(dst []byte, v parquet.Value) ([]byte, error) {
		var n big.Int
		switch k {
		case parquet.Int32:
			n.SetInt64(int64(v.Int32()))
		case parquet.Int64:
			n.SetInt64(v.Int64())
		default: // big-endian, two's complement
			b := v.ByteArray()
			n.SetBytes(b)
			if len(b) > 0 && b[0]&0x80 != 0 {
				n.Sub(&n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
		}
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		return append(dst, new(big.Rat).SetFrac(&n, power).FloatString(scale)...), nil
	}
}
