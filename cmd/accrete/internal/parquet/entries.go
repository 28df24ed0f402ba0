package parquet

import (
	"encoding/json"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// entries says where a column is in a map, which becomes a member for each of its keys. The zero
// value is that of a column that is in no map.
type entries struct {
	prefix string // path of the map, with a point
	suffix string // path in the value, after a point; empty for a value that is no record
	key    bool   // the column has the keys
}

// mapsOf returns the number of elements in the path of each leaf down to the map that it is in, or 0
// if it is in none.
func mapsOf(schema []format.SchemaElement) (depths []int) {
	at := 1 // after the root
	var walk func(children int32, depth, within int)
	walk = func(children int32, depth, within int) {
		for ; children > 0 && at < len(schema); children-- {
			e := &schema[at]
			at++
			of := within
			if of == 0 && isMap(e) {
				of = depth
			}
			if e.Type.Valid {
				depths = append(depths, within)
			} else {
				walk(e.NumChildren.V, depth+1, of)
			}
		}
	}
	if len(schema) > 0 {
		walk(schema[0].NumChildren.V, 1, 0)
	}
	return depths
}

func isMap(e *format.SchemaElement) bool {
	if _, is := e.LogicalType.Value.(*format.MapType); is {
		return true
	}
	return e.ConvertedType.Valid && (e.ConvertedType.V == deprecated.Map || e.ConvertedType.V == deprecated.MapKeyValue)
}

// keys returns the keys of a map as text. A map without entries has one value, which is null.
func (c *column) keys(values []parquet.Value) (keys []string, err error) {
	for _, v := range values {
		if v.IsNull() {
			return nil, nil
		}
		b, err := c.append(nil, v)
		if err != nil {
			return nil, fmt.Errorf("a key of the map %s: %w", c.within.prefix[:len(c.within.prefix)-1], err)
		}
		var text string
		if json.Unmarshal(b, &text) != nil { // a number
			text = string(b)
		}
		keys = append(keys, text)
	}
	return keys, nil
}

// appendEntries appends a member for each key of a map.
func (c *column) appendEntries(dst []byte, keys []string, values []parquet.Value) ([]byte, error) {
	if len(keys) > 0 && len(values) != len(keys) {
		return nil, fmt.Errorf("damaged: the map %s has %d keys and %d values in a row", c.within.prefix[:len(c.within.prefix)-1], len(keys), len(values))
	}
	for j, key := range keys {
		name, err := json.Marshal(c.within.prefix + key + c.within.suffix)
		if err != nil {
			return nil, err
		}
		if dst, err = c.appendValue(append(append(separated(dst), name...), ':'), values[j]); err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
	}
	return dst, nil
}
