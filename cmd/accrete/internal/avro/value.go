package avro

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/jsonvalue"
)

// mostNested is the maximum depth of records within records. Useful files have a few levels.
const mostNested = 64

// appendObject appends the fields of a record, or the values of a map, sorted by name. Those for which ignored
// is true are null if they cannot be read.
func appendObject(dst []byte, of map[string]any, depth int, ignored func(name string) bool) (_ []byte, err error) {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(of)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = jsonvalue.AppendText(dst, name); err != nil {
			return nil, err
		}
		before := append(dst, ':')
		dst, err = appendValue(before, of[name], depth+1)
		switch {
		case err != nil && ignored != nil && ignored(name):
			dst = append(before, "null"...)
		case err != nil && depth == 0:
			return nil, fmt.Errorf("field %q: %w: leave it out of the file, convert it, or declare it as ignored (fit --columns NAME:ignored, or input.columns)", name, err)
		case err != nil:
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

func appendValue(dst []byte, v any, depth int) (_ []byte, err error) {
	if depth > mostNested {
		return nil, fmt.Errorf("nested deeper than %d levels", mostNested)
	}
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int32:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case float32:
		return jsonvalue.AppendFloat(dst, float64(v), 64), nil
	case float64:
		return jsonvalue.AppendFloat(dst, v, 64), nil
	case string:
		return jsonvalue.AppendText(dst, v)
	case []byte:
		return jsonvalue.AppendText(dst, string(v))
	case time.Time:
		return v.UTC().AppendFormat(append(dst, '"'), time.RFC3339Nano+`"`), nil
	case time.Duration: // a time of day, in seconds
		return jsonvalue.AppendFloat(dst, v.Seconds(), 64), nil
	case *big.Rat:
		f, _ := v.Float64()
		return jsonvalue.AppendFloat(dst, f, 64), nil
	case map[string]any:
		return appendObject(dst, v, depth, nil)
	case []any:
		dst = append(dst, '[')
		for i, x := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = appendValue(dst, x, depth+1); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	}
	return nil, fmt.Errorf("a value of the type %T is not read", v)
}
