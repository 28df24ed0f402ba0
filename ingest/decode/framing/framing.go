// Package framing reads the framing of a schema registry, by which a record names the schema with
// which it is written.
package framing

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// Header is the header of a record that names the schema of its value. Without this header, the
// first bytes of the value name the schema.
const Header = "__value_schema_id"

const (
	byID   = 0 // the first byte, before the four bytes of an id
	byGUID = 1 // before the 16 bytes of a GUID
)

// Head holds the bytes that name a schema, followed by the path to a message if the format has
// one.
type Head []byte

// Cut splits the value of a record into its head and the rest. header is that of the record; if it
// is nil, the value begins with the head. indexed means that a path to a message follows the id.
func Cut(value, header []byte, indexed bool) (head Head, body []byte, err error) {
	b := header
	if b == nil {
		b = value
		if len(b) > 0 && b[0] != byID {
			return nil, nil, fmt.Errorf("the value does not begin with the id of a schema: its first byte is %#02x, want 0", b[0])
		}
	}
	if len(b) > 0 && b[0] != byID && b[0] != byGUID {
		return nil, nil, fmt.Errorf("the header %s begins with %#02x, want 0 or 1", Header, b[0])
	}
	n := idBytes(b)
	if len(b) < n {
		return nil, nil, fmt.Errorf("%d bytes, fewer than the id of a schema has", len(b))
	}
	if indexed {
		k, ok := pathBytes(b[n:])
		if !ok {
			return nil, nil, errors.New("the index of the message is cut off")
		}
		n += k
	}
	if header != nil {
		return b[:n], value, nil
	}
	return b[:n], value[n:], nil
}

// idBytes returns the size of an id with the byte before it.
func idBytes(b []byte) int {
	if len(b) > 0 && b[0] == byGUID {
		return 1 + 16
	}
	return 1 + 4
}

// pathBytes returns the size of the path to a message, which is a number of indices and
// the indices, each a zigzag integer.
func pathBytes(b []byte) (n int, ok bool) {
	count, n := binary.Varint(b)
	if n <= 0 || count < 0 || count > int64(len(b)) {
		return 0, false
	}
	for range count {
		_, k := binary.Varint(b[n:])
		if k <= 0 {
			return 0, false
		}
		n += k
	}
	return n, true
}

// Path returns the path to the message; nil for the first one.
func (h Head) Path() (path []int) {
	at := idBytes(h)
	if at == len(h) {
		return nil
	}
	count, n := binary.Varint(h[at:])
	for at += n; count > 0; count-- {
		i, n := binary.Varint(h[at:])
		path = append(path, int(i))
		at += n
	}
	return path
}

// ID returns the id of the schema: a number, or a GUID.
func (h Head) ID() string {
	if h[0] == byID {
		return strconv.FormatUint(uint64(binary.BigEndian.Uint32(h[1:])), 10)
	}
	g := hex.EncodeToString(h[1:17])
	return g[:8] + "-" + g[8:12] + "-" + g[12:16] + "-" + g[16:20] + "-" + g[20:]
}
