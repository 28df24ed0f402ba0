package parquet

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// nest sets what comes before each column, so that members of one object come together, and its name.
func nest(columns []column) error {
	var dirs []string
	for i := range columns {
		c, same := &columns[i], 0
		text, err := json.Marshal(c.name)
		if err != nil {
			return err
		}
		c.text = append(text, ':')
		for same < min(len(dirs), len(c.dirs)) && dirs[same] == c.dirs[same] {
			same++
		}
		for range dirs[same:] {
			c.before = append(c.before, '}')
		}
		dirs = c.dirs
		for k, name := range dirs[same:] {
			text, err := json.Marshal(name)
			if err != nil {
				return err
			}
			if k > 0 || len(c.before) > 0 || i > 0 {
				c.before = separated(c.before)
			}
			c.before = append(append(c.before, text...), ":{"...)
		}
	}
	return nil
}

// separated appends a comma unless dst ends with the beginning of an object.
func separated(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] == '{' {
		return dst
	}
	return append(dst, ',')
}

// appendRow appends a row as a line. values has room for the values of each leaf.
func appendRow(dst []byte, columns []column, row parquet.Row, values [][]parquet.Value) (_ []byte, err error) {
	clear(values)
	for at := 0; at < len(row); {
		from, leaf := at, row[at].Column()
		for at < len(row) && row[at].Column() == leaf {
			at++
		}
		if leaf < 0 || leaf >= len(values) {
			return nil, fmt.Errorf("damaged: a row has a value of column %d, of %d", leaf, len(values))
		}
		values[leaf] = row[from:at]
	}
	dst = append(dst, '{')
	depth := 0
	for i := range columns {
		c := &columns[i]
		dst = append(dst, c.before...)
		depth = len(c.dirs)
		if c.keys != nil {
			dst, err = c.appendEntries(dst, values[c.keys.at], values[c.at])
		} else {
			dst, err = c.appendMember(dst, values[c.at])
		}
		if err != nil {
			return nil, err
		}
	}
	for range depth {
		dst = append(dst, '}')
	}
	return append(dst, '}', '\n'), nil
}

// path returns the path of a column, for errors.
func (c *column) path() string {
	return strings.Join(append(c.dirs[:len(c.dirs):len(c.dirs)], c.name), ".")
}

// appendMember appends the member of a column that is in no map.
func (c *column) appendMember(dst []byte, values []parquet.Value) (_ []byte, err error) {
	if !c.list && len(values) != 1 {
		return nil, fmt.Errorf("damaged: column %q has %d values in a row", c.path(), len(values))
	}
	dst = append(separated(dst), c.text...)
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
			return nil, err
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
	with, err := c.append(dst, v)
	switch {
	case err != nil && c.ignored:
		return append(dst, "null"...), nil
	case err != nil:
		return nil, fmt.Errorf("column %q: %w%s", c.path(), err, advice)
	}
	return with, nil
}
