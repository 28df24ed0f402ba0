package decode

import (
	"github.com/accrete-ml/accrete/ingest/decode/leaf"
	"github.com/accrete-ml/accrete/ingest/decode/protobuf"
)

// protobufFormat is a message of Protocol Buffers.
var protobufFormat = format{
	name:       "protobuf",
	parse:      (*Decoder).parseLeaves,
	binary:     true,
	schemaType: "PROTOBUF",
	indexed:    true,
	compile: func(writer, reader string, path []int, n leaf.Names) (plan, error) {
		return protobuf.Compile(writer, reader, path, n)
	},
	schema: protobufExample,
	examples: []string{
		"\x08\x29" + "\x11\x00\x00\x00\x00\x00\x00\xf4\x3f" + "\x1a\x08\x00\x00\x80\x3f\x00\x00\x00\x40" + "\x22\x02ok",
		"\x11\x00\x00\x00\x00\x00\x00\xf0\xbf" + "\x1d\x00\x00\x80\x3f\x1d\x00\x00\x00\x40" + "\x22\x05fraud\x08\x03",
	},
}

// protobufExample is the schema of
//
//	message Example { optional int32 age = 1; double amount = 2; repeated float tags = 3; optional string y = 4; }
const protobufExample = "CoUBCgxzY2hlbWEucHJvdG8ibQoHRXhhbXBsZRIVCgNhZ2UYASABKAVIAFIDYWdliAEBEhYKBmFtb3VudBgCIAEoAVIGYW1vdW50EhIKBHRhZ3MYAyADKAJSBHRhZ3MSEQoBeRgEIAEoCUgBUgF5iAEBQgYKBF9hZ2VCBAoCX3liBnByb3RvMw=="
