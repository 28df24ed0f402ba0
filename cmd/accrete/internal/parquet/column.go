package parquet

import (
	"encoding/binary"
	"encoding/json"
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
	name   []byte // as a member of JSON, with its colon; nil in a map
	list   bool
	empty  int // definition level up to which a list has no element
	append func([]byte, parquet.Value) ([]byte, error)
	within entries
}

// mostScale is the maximum number of digits after the point of a decimal. Each digit takes time and
// memory for every value, and a number that needs more of them is too small for a float64.
const mostScale = 400

// columnsOf returns the leaves of the schema of a file in order.
func columnsOf(f *parquet.File) ([]column, error) {
	s := f.Schema()
	elements := slices.DeleteFunc(slices.Clone(f.Metadata().Schema), func(e format.SchemaElement) bool { return !e.Type.Valid })
	if len(elements) != len(s.Columns()) {
		return nil, fmt.Errorf("damaged: %d columns have a type, of %d", len(elements), len(s.Columns()))
	}
	var all []column
	maps := mapsOf(f.Metadata().Schema)
	for i, path := range s.Columns() {
		leaf, ok := s.Lookup(path...)
		if !ok {
			return nil, fmt.Errorf("damaged: no column %q", path)
		}
		name := strings.Join(path, ".")
		if l := leaf.Node.Type().LogicalType(); l != nil {
			if d, is := l.Value.(*format.DecimalType); is && (d.Scale < 0 || d.Scale > mostScale) {
				return nil, fmt.Errorf("damaged: column %q has a scale of %d, want 0 to %d", name, d.Scale, mostScale)
			}
		}
		c := column{list: leaf.MaxRepetitionLevel > 0, append: valueOf(leaf.Node.Type())}
		if _, is := elements[i].LogicalType.Value.(*format.Float16Type); is { // the type of a leaf does not say this
			c.append = appendHalf
		}
		if leaf.MaxRepetitionLevel > 1 {
			return nil, fmt.Errorf("column %q is a list of lists or of records with lists: only lists of values are read", name)
		}
		if n := maps[i]; n > 0 && c.list && len(path) > n+1 {
			c.within = entries{prefix: strings.Join(path[:n], ".") + ".", suffix: strings.Join(append([]string{""}, path[n+2:]...), ".")}
			c.within.key = i == 0 || all[i-1].within.prefix != c.within.prefix
			all = append(all, c)
			continue
		}
		if c.list {
			name = strings.TrimSuffix(strings.TrimSuffix(name, ".list.element"), ".list.item")
			c.empty = leaf.MaxDefinitionLevel - 1
			if leaf.Node.Optional() {
				c.empty--
			}
		}
		text, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		c.name = append(text, ':')
		all = append(all, c)
	}
	return all, nil
}

// appendRow appends a row as a line.
func appendRow(dst []byte, columns []column, row parquet.Row) (_ []byte, err error) {
	dst = append(dst, '{')
	at := 0
	var keys []string // of the map that the next columns are in
	for i := range columns {
		c := &columns[i]
		from := at
		for at < len(row) && row[at].Column() == i {
			at++
		}
		values := row[from:at]
		switch {
		case c.within.key:
			keys, err = c.keys(values)
		case c.within.prefix != "":
			dst, err = c.appendEntries(dst, keys, values)
		default:
			dst, err = c.appendMember(dst, values)
		}
		if err != nil {
			return nil, err
		}
	}
	return append(dst, '}', '\n'), nil
}

// separated appends a comma unless dst ends with the beginning of an object.
func separated(dst []byte) []byte {
	if dst[len(dst)-1] == '{' {
		return dst
	}
	return append(dst, ',')
}

// appendMember appends the member of a column that is in no map.
func (c *column) appendMember(dst []byte, values []parquet.Value) (_ []byte, err error) {
	dst = append(separated(dst), c.name...)
	if !c.list && len(values) != 1 {
		return nil, fmt.Errorf("damaged: column %s has %d values in a row", c.name[:len(c.name)-1], len(values))
	}
	if c.list {
		dst = append(dst, '[')
		if len(values) == 1 && values[0].IsNull() && values[0].DefinitionLevel() <= c.empty {
			values = nil
		}
	}
	for j, v := range values {
		if j > 0 {
			dst = append(dst, ',')
		}
		if dst, err = c.appendValue(dst, v); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name[:len(c.name)-1], err)
		}
	}
	if c.list {
		dst = append(dst, ']')
	}
	return dst, nil
}

func (c *column) appendValue(dst []byte, v parquet.Value) ([]byte, error) {
	if v.IsNull() {
		return append(dst, "null"...), nil
	}
	return c.append(dst, v)
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
