package framing

import (
	"encoding/binary"
	"slices"
	"testing"
)

// What Cut returns is the id, the path and the value that were put together, wherever the
// record has them, and it refuses every part of them that is too short.
func TestCutIsTheReverseOfFraming(t *testing.T) {
	const value = "value"
	for _, id := range []struct{ bytes, text string }{
		{"\x00\x00\x00\x01\x02", "258"},
		{"\x00\xff\xff\xff\xff", "4294967295"},
		{"\x01\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef", "01234567-89ab-cdef-0123-456789abcdef"},
	} {
		for _, path := range [][]int{nil, {0}, {2, 1, 70}} {
			framed := binary.AppendVarint([]byte(id.bytes), int64(len(path)))
			for _, i := range path {
				framed = binary.AppendVarint(framed, int64(i))
			}
			head, body, err := Cut([]byte(value), framed, true)
			if err != nil || string(body) != value || head.ID() != id.text || !slices.Equal(head.Path(), path) {
				t.Errorf("header %x: %s, %v, %q, %v, want %s, %v", framed, head.ID(), head.Path(), body, err, id.text, path)
			}
			for n := range framed {
				if _, _, err := Cut([]byte(value), framed[:n:n], true); err == nil {
					t.Errorf("the first %d bytes of %x are a header", n, framed)
				}
			}
			inValue := append(slices.Clone(framed), value...)
			head, body, err = Cut(inValue, nil, true)
			if byNumber := id.bytes[0] == 0; byNumber != (err == nil) || byNumber && (string(body) != value || head.ID() != id.text || !slices.Equal(head.Path(), path)) {
				t.Errorf("value %x: %v, %q, %v", inValue, head, body, err)
			}
		}
	}
	if _, _, err := Cut([]byte(value), []byte("\x02\x00\x00\x00\x01"), false); err == nil {
		t.Error("a header with another first byte is one")
	}
}
