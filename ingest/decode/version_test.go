package decode

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// versions are, by version of the decoder, what it makes of some records.
var versions = map[int]string{
	1: "2073839bf537fcac",
}

func TestTheDecoderHasAVersion(t *testing.T) {
	records := strings.Split(`{"features":{"a":1,"b":2.5},"label":"yes"}
{"features":{"b":-0.0,"a":1e-3},"label":"no","weight":0.5,"key":"k"}
{"features":{"a":null,"b":1},"label":"yes"}
{"features":{"a":1},"label":"yes"}
{"features":{"a":1,"b":"text"},"label":"yes"}
{"features":{"a":1,"b":2,"c":3},"label":"yes"}
{"x":[1,2],"y":true}
{"x":[0.1,1e308],"y":1}
{"x":[1,2]
{"x":[1,1e999],"y":1}
`, "\n")
	h := sha256.New()
	for _, c := range []Config{{}, {Missing: "zero", Unknown: "ignore"}, {Label: "y"}} {
		d, err := New(c, Schema{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			row, err := d.Decode([]byte(r))
			fmt.Fprintf(h, "%v %v %v %q %v %v\n", row.X, row.Label, row.Weight, row.Key, err != nil, d.Schema().Columns)
		}
	}
	if got, want := fmt.Sprintf("%x", h.Sum(nil)[:8]), versions[Version]; got != want {
		t.Errorf("version %d of the decoder leads to %s, and led to %q: where that is meant, the constant Version becomes %d, and this its line in the table", Version, got, want, Version+1)
	}
}
