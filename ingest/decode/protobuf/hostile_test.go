package protobuf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/protobuf"
	"github.com/accrete-ml/accrete/ingest/registry"
)

// A schema whose plan would have 2^50 messages is refused.
func TestMessagesWithoutScalarsAreBounded(t *testing.T) {
	schema := func(levels int) string {
		var text strings.Builder
		text.WriteString("syntax = \"proto3\";\nmessage T { double v = 1; M0 deep = 2; }\n")
		for k := range levels {
			fmt.Fprintf(&text, "message M%d { M%d a = 1; M%[2]d b = 2; }\n", k, k+1)
		}
		fmt.Fprintf(&text, "message M%d {}\n", levels)
		set, err := registry.Proto(t.Context(), text.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	deep := names
	deep.Depth = 60
	if _, err := protobuf.Compile(schema(10), "", nil, deep); err != nil {
		t.Errorf("2^10 messages: %v", err)
	}
	if _, err := protobuf.Compile(schema(50), "", nil, deep); err == nil || !strings.Contains(err.Error(), "too many fields") {
		t.Errorf("2^50 messages: %v", err)
	}
}
