package registry

import (
	"encoding/base64"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// The descriptor of a file that a registry returns in base64 is that of its text.
func TestADescriptorIsItsText(t *testing.T) {
	want, err := Proto(t.Context(), "syntax = \"proto3\"; message Row { double x = 1; string y = 2; }", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(want)
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(b, &set); err != nil {
		t.Fatal(err)
	}
	if b, err = proto.Marshal(set.File[0]); err != nil {
		t.Fatal(err)
	}
	if got, err := Proto(t.Context(), base64.StdEncoding.EncodeToString(b), nil); err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	for _, bad := range []string{"", "AAAA", base64.StdEncoding.EncodeToString(b[:5])} {
		if got, err := Proto(t.Context(), bad, nil); err == nil && bad != "" {
			t.Errorf("%q is %s", bad, got)
		}
	}
}
