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

// The heads that Confluent's own clients are tested with, in Go, Java, C#, Python and
// JavaScript alike: schemaid_test.go of confluent-kafka-go has them.
func TestHeadsAreThoseOfConfluent(t *testing.T) {
	const guid = "\x01\x89\x79\x17\x62\x23\x36\x41\x86\x96\x74\x29\x9b\x90\xa8\x02\xe2"
	const rest = "rest"
	for _, test := range []struct {
		head    string
		indexed bool
		id      string
		path    []int
	}{
		{guid, false, "89791762-2336-4186-9674-299b90a802e2", nil},
		{"\x00\x00\x00\x00\x01", false, "1", nil},
		{guid + "\x06\x02\x04\x06", true, "89791762-2336-4186-9674-299b90a802e2", []int{1, 2, 3}},
		{"\x00\x00\x00\x00\x01\x06\x02\x04\x06", true, "1", []int{1, 2, 3}},
		{guid + "\x00", true, "89791762-2336-4186-9674-299b90a802e2", nil},
	} {
		h, body, err := Cut([]byte(rest), []byte(test.head), test.indexed)
		if err != nil || string(body) != rest || h.ID() != test.id || !slices.Equal(h.Path(), test.path) {
			t.Errorf("header %x: %x, %q, %v, want schema %s, path %v", test.head, h, body, err, test.id, test.path)
		}
		if test.head[0] == byGUID {
			continue
		}
		h, body, err = Cut([]byte(test.head+rest), nil, test.indexed)
		if err != nil || string(body) != rest || h.ID() != test.id || !slices.Equal(h.Path(), test.path) {
			t.Errorf("prefix %x: %x, %q, %v, want schema %s, path %v", test.head, h, body, err, test.id, test.path)
		}
	}
	// The header counts, whatever the value begins with, and is not cut off from it.
	if h, body, err := Cut([]byte("\x00\x00\x00\x00\x01"+rest), []byte(guid), false); err != nil || h.ID()[:8] != "89791762" || string(body) != "\x00\x00\x00\x00\x01"+rest {
		t.Errorf("%x, %q, %v", h, body, err)
	}
	for n := range len(guid) {
		if h, _, err := Cut([]byte(rest), []byte(guid[:n]), false); err == nil {
			t.Errorf("a header of %d bytes is %s", n, h.ID())
		}
	}
}
