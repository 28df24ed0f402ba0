package avro

import (
	"fmt"
	"strings"
	"testing"
)

// A record without a value for a union is read, even if the reader's schema lacks a field inside
// whose type contains itself.
func TestAbsentRecordsMayContainThemselves(t *testing.T) {
	const writer = `{"type":"record","name":"T","fields":[{"name":"v","type":"double"},{"name":"u","type":["null",
		{"type":"record","name":"R","fields":[{"name":"w","type":"double"},
			{"name":"s","type":{"type":"record","name":"S","fields":[{"name":"next","type":["null","S"]}]}}]}]}]}`
	const reader = `{"type":"record","name":"T","fields":[{"name":"v","type":"double"},{"name":"u","type":["null",
		{"type":"record","name":"R","fields":[{"name":"w","type":"double"}]}]}]}`
	p, err := Compile(writer, reader, names)
	if err != nil {
		t.Fatal(err)
	}
	leaves, err := p.Read(make([]byte, 9)) // v is 0, and u is null
	if err != nil || len(leaves) != 2 || string(leaves[1].Name) != "u.w" {
		t.Errorf("Read returns %v, %v; want v and u.w", leaves, err)
	}
}

// doubling is a schema with 2^levels records in each record, none of which takes a byte.
func doubling(levels int) string {
	text := `{"type":"record","name":"R0","fields":[]}`
	for k := 1; k <= levels; k++ {
		text = fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"a","type":%s},{"name":"b","type":"R%d"}]}`, k, text, k-1)
	}
	return fmt.Sprintf(`{"type":"record","name":"T","fields":[{"name":"v","type":"double"},{"name":"deep","type":%s}]}`, text)
}

// Schemas and records take a bounded time, however many records without bytes they have.
func TestRecordsWithoutBytesAreBounded(t *testing.T) {
	shallow, deep := names, names
	shallow.Depth, deep.Depth = 1, 60 // so that most records are skipped, or none is
	p, err := Compile(doubling(12), "", shallow)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(make([]byte, 8)); err != nil {
		t.Errorf("2^12 records: %v", err)
	}
	if p, err = Compile(doubling(50), "", shallow); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(make([]byte, 8)); err == nil || !strings.Contains(err.Error(), "records that take no bytes") {
		t.Errorf("2^50 records: %v", err)
	}
	if _, err := Compile(doubling(50), "", deep); err == nil || !strings.Contains(err.Error(), errMany.Error()) {
		t.Errorf("a plan of 2^50 records: %v", err)
	}
}
