package encode

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
)

// vowpal writes lines of Vowpal Wabbit, with all features in the namespace without a name.
type vowpal struct{ Roles }

func (v vowpal) Write(example []byte) ([]byte, []ingest.Header, error) {
	inputs, others, err := members(example, v.Roles)
	if err != nil {
		return nil, nil, err
	}
	var b strings.Builder
	if label := v.label(others); label != nil {
		if b.WriteString(plain(label)); strings.ContainsAny(b.String(), " \t\r\n|:,'") {
			return nil, nil, fmt.Errorf("the label %.40q cannot be that of a line of Vowpal Wabbit", label)
		}
	}
	weight := others[v.Weight]
	if weight != nil {
		if b.Len() == 0 {
			return nil, nil, fmt.Errorf("a line of Vowpal Wabbit has no weight without a label")
		}
		b.WriteString(" " + plain(weight))
	}
	b.WriteByte(' ')
	if key := others[v.Key]; key != nil {
		if strings.ContainsAny(plain(key), " \t\r\n|") {
			return nil, nil, fmt.Errorf("the key %.40q cannot be a tag of Vowpal Wabbit", key)
		}
		b.WriteString("'" + plain(key) + " ")
	}
	b.WriteByte('|')
	for _, m := range inputs {
		if strings.ContainsAny(m.name, " \t\r\n|:") {
			return nil, nil, fmt.Errorf("the name %.40q cannot be that of a feature of Vowpal Wabbit", m.name)
		}
		switch x := m.value.(type) {
		case nil:
		case json.Number:
			b.WriteString(" " + m.name + ":" + x.String())
		case bool:
			b.WriteString(" " + m.name + ":" + map[bool]string{true: "1", false: "0"}[x])
		case string:
			if strings.ContainsAny(x, " \t\r\n|:") || strings.Contains(m.name, "=") {
				return nil, nil, fmt.Errorf("%.40q of %s cannot be a feature of Vowpal Wabbit", x, m.name)
			}
			b.WriteString(" " + m.name + "=" + x)
		default:
			return nil, nil, fmt.Errorf("%s is an object or a list", m.name)
		}
	}
	return []byte(strings.TrimPrefix(b.String(), " ")), nil, nil
}

// plain writes a scalar.
func plain(v any) string { return fmt.Sprint(v) }

// float32s writes an example as a list of float32 numbers. The names of fields with a role are
// indices, at which their numbers are written. The inputs fill the other places, in order.
type float32s struct{ Roles }

func (f float32s) Write(example []byte) ([]byte, []ingest.Header, error) {
	inputs, others, err := members(example, f.Roles)
	if err != nil {
		return nil, nil, err
	}
	at := map[int]any{}
	for _, name := range append([]string{f.Weight, f.Key}, f.Labels...) {
		if i, err := strconv.Atoi(name); err == nil {
			at[i] = others[name]
		}
	}
	if last := len(inputs) + len(at) - 1; at[last] == nil { // the label may be left out at the end
		delete(at, last)
	}
	var b []byte
	for i := 0; len(inputs) > 0 || len(at) > 0; i++ {
		v, role := at[i]
		delete(at, i)
		name := strconv.Itoa(i)
		if !role {
			if len(inputs) == 0 {
				return nil, nil, fmt.Errorf("number %d would be the last, and a later one is the label, the weight or the key", i-1)
			}
			v, name, inputs = inputs[0].value, inputs[0].name, inputs[1:]
		}
		x, err := number32(v)
		if err != nil {
			return nil, nil, fmt.Errorf("%s %w", name, err)
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b, nil, nil
}

func number32(v any) (float32, error) {
	switch v := v.(type) {
	case nil:
		return float32(math.NaN()), nil
	case bool:
		if v {
			return 1, nil
		}
		return 0, nil
	case json.Number:
		x, err := strconv.ParseFloat(v.String(), 32)
		if err != nil {
			return 0, fmt.Errorf("is %s, which no float32 holds", v)
		}
		return float32(x), nil
	}
	return 0, fmt.Errorf("is %.40q, want a number", fmt.Sprint(v))
}
