package parquet

import (
	"encoding/json"
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

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

// appendEntries appends a member for each key of the map that the column is in. A map without entries
// has one key, which is null.
func (c *column) appendEntries(dst []byte, keys, values []parquet.Value) ([]byte, error) {
	if len(keys) == 1 && keys[0].IsNull() {
		return dst, nil
	}
	if len(values) != len(keys) {
		return nil, fmt.Errorf("damaged: the map %q has %d keys and %d values in a row", c.keys.name, len(keys), len(values))
	}
	for j, key := range keys {
		b, err := c.keys.appendValue(nil, key)
		if err != nil {
			return nil, fmt.Errorf("a key of the map %q: %w", c.keys.name, err)
		}
		var text string
		if json.Unmarshal(b, &text) != nil { // a number
			text = string(b)
		}
		name, err := json.Marshal(text + c.name)
		if err != nil {
			return nil, err
		}
		if dst, err = c.appendValue(append(append(separated(dst), name...), ':'), values[j]); err != nil {
			return nil, err
		}
	}
	return dst, nil
}
