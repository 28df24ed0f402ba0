package avro

import (
	"encoding/binary"
	"strings"
	"testing"
)

// Elements that take no bytes are limited in a whole record, not in each of its lists.
func TestElementsWithoutBytesAreLimited(t *testing.T) {
	of := names
	of.Most = 1000
	p, err := Compile(`{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array","items":{"type":"array","items":"null"}}}]}`, `{"type":"record","name":"r","fields":[{"name":"b","type":"int","default":0}]}`, of)
	if err != nil {
		t.Fatal(err)
	}
	const lists, nulls = 500, 900
	b := binary.AppendVarint(nil, lists)
	for range lists {
		b = append(binary.AppendVarint(b, nulls), 0)
	}
	if _, err := p.Read(append(b, 0)); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%d nulls in %d bytes: %v", lists*nulls, len(b), err)
	}
}
