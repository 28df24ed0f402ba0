package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
)

func TestFieldsAreRemovedOrHashed(t *testing.T) {
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("a@b.c")))
	r, err := NewRedaction([]string{"email:hash", "customer.name", "phones.number:remove", "id:hash"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"email":"a@b.c", "x": 1.50 }`:                                         `{"email":"sha256:` + sum + `","x":1.50}`,
		`{"em\u0061il":"a@b.c"}`:                                                `{"em\u0061il":"sha256:` + sum + `"}`,
		`{"email":"a@b.c","email":"a@b.c"}`:                                     `{"email":"sha256:` + sum + `","email":"sha256:` + sum + `"}`,
		`{"customer":{"name":"Eve","city":"Bonn"},"name":"Mallory"}`:            `{"customer":{"city":"Bonn"},"name":"Mallory"}`,
		`{"customer.name":"Eve","y":1}`:                                         `{"y":1}`,
		`{"phones":[{"number":1,"of":"home"},[{"number":2}],3],"y":null}`:       `{"phones":[{"of":"home"},null,3],"y":null}`,
		`{"features":{"email":"a@b.c","x":1}}`:                                  `{"features":{"email":"sha256:` + sum + `","x":1}}`,
		`{"specversion":"1.0","data":{"features":{"customer":{"name":"Eve"}}}}`: `{"specversion":"1.0","data":{"features":{"customer":{}}}}`,
		`{"x":"nothing to find"}`:                                               `{"x":"nothing to find"}`,
		`{"x": "not \"email\"", "y": 1}`:                                        `{"x": "not \"email\"", "y": 1}`,
		`{"email.work":"Eve"}`:                                                  fmt.Sprintf(`{"email.work":"sha256:%x"}`, sha256.Sum256([]byte("Eve"))),
		`{"customer":"{\"name\":\"Eve\",\"city\":\"Bonn\"}"}`:                   `{"customer":"{\"city\":\"Bonn\"}"}`,
		`{"id":17}`: fmt.Sprintf(`{"id":"sha256:%x"}`, sha256.Sum256([]byte("17"))),
	} {
		if got, ok := r.Value([]byte(in)); !ok || string(got) != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for _, in := range []string{"", "email=a@b.c", `{"email":"a@b.c"`, `["a@b.c"]`, "\x00\x00\x00\x00\x01a@b.c"} {
		if got, ok := r.Value([]byte(in)); ok || got != nil {
			t.Errorf("%q: %q, though its fields cannot be found", in, got)
		}
	}
	keyed, err := NewRedaction([]string{"email:hash"}, []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write([]byte("a@b.c"))
	if got, _ := keyed.Value([]byte(`{"email":"a@b.c"}`)); string(got) != fmt.Sprintf(`{"email":"hmac-sha256:%x"}`, mac.Sum(nil)) {
		t.Errorf("with a key: %s", got)
	}
	for _, bad := range [][]string{{""}, {"a:hsah"}, {"a", "a:hash"}, {"a..b"}, {":hash"}} {
		if _, err := NewRedaction(bad, nil); !errors.Is(err, ErrRedaction) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// A field may have the name of an envelope, and what is nested in envelopes takes no more time
// and memory than other records.
func TestEnvelopes(t *testing.T) {
	r, err := NewRedaction([]string{"data", "input.a", "b"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"data":"Eve","x":1}`:                    `{"x":1}`,
		`{"data":{"x":"Eve"},"features":{"b":1}}`: `{"features":{}}`,
		`{"input":{"a":1,"b":2,"c":3}}`:           `{"input":{"c":3}}`,
	} {
		if got, ok := r.Value([]byte(in)); !ok || string(got) != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	const levels = 5000
	deep := []byte(strings.Repeat(`{"features":`, levels) + `"` + strings.Repeat("b", 1<<16) + `"` + strings.Repeat("}", levels))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, ok := r.Value(deep)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; !ok || n > uint64(100*len(deep)) {
		t.Errorf("%d bytes are allocated for a record of %d", n, len(deep))
	}
}

// However a record nests its fields, none is left, and the rest means what it meant.
func TestNoFieldIsLeft(t *testing.T) {
	r, err := NewRedaction([]string{"a", "b.c:hash", "d.e.f"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "features", "data"})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := rapid.OneOf(rapid.Just(any("secret")), rapid.Map(rapid.IntRange(0, 9), func(n int) any { return float64(n) }))
		if depth == 0 {
			return leaf
		}
		return rapid.OneOf(leaf, rapid.Map(rapid.MapOfN(names, value(depth-1), 0, 4), func(m map[string]any) any { return m }),
			rapid.Map(rapid.SliceOfN(value(depth-1), 0, 3), func(s []any) any { return s }))
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.MapOfN(names, value(3), 0, 5).Draw(t, "record")
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := r.Value(b)
		var out map[string]any
		if !ok || json.Unmarshal(got, &out) != nil {
			t.Fatalf("%s: %s", b, got)
		}
		if _, has := out["a"]; has {
			t.Fatalf("%s: %s", b, got)
		}
		for _, under := range []any{out, out["features"], out["data"]} {
			m, _ := under.(map[string]any)
			if b, ok := m["b"].(map[string]any); ok && b["c"] != nil && !strings.HasPrefix(fmt.Sprint(b["c"]), "sha256:") {
				t.Fatalf("%s: %s", b, got)
			}
		}
		if again, _ := r.Value(got); !strings.Contains(string(b), `"c"`) && string(again) != string(got) {
			t.Fatalf("%s, again %s", got, again)
		}
	})
}

// The reason, the copy in quarantine and the member input of a prediction have nothing of a
// redacted field, and a record that was changed is not replayed.
func TestRedactedRecordsInQuarantine(t *testing.T) {
	const canary = "canary-4711"
	r, err := NewRedaction([]string{"email"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	quoted := &decode.Error{Stage: "columns", Reason: `"email" is "` + canary + `", want a number`}
	other := &decode.Error{Stage: "columns", Reason: `"amount" is "x", want a number`}
	for _, c := range []struct {
		value, reason, kept, lacks string
		why                        error
	}{
		{`{"email":"` + canary + `","amount":"x"}`, "columns: " + other.Reason, `{"amount":"x"}`, "redacted", other},
		{`{"email":"` + canary + `","amount":1}`, "columns: invalid (output.redact)", `{"amount":1}`, "redacted", quoted},
		{`{"email":"` + canary, "columns: invalid (output.redact)", "", "value truncated", other},
		{`{"amount":"x"}`, "columns: " + other.Reason, `{"amount":"x"}`, "", other},
	} {
		q := Quarantined("in", 0, &ingest.Record{Offset: 5, Value: []byte(c.value)}, c.why, ValuesFull, r, 1<<20)
		back, err := ReadQuarantined(q)
		if err != nil || back.Reason != c.reason || string(back.Original.Value) != c.kept || back.Incomplete != c.lacks {
			t.Errorf("%s: %+v, %v", c.value, back, err)
		}
		if text := fmt.Sprintf("%s %q", q.Value, q.Headers); strings.Contains(text, canary) {
			t.Errorf("%s: %s", c.value, text)
		}
	}
	in := &ingest.Record{Value: []byte(`{"customer":{"email":"` + canary + `","id":7},"email":"` + canary + `"}`)}
	r, err = NewRedaction([]string{"customer.email", "email"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := predictedFrom(Passed{Fields: []string{"customer", "customer.email", "email"}, Redact: r}, in, 1<<20)
	if v := string(p.Value); strings.Contains(v, canary) || !strings.Contains(v, `"input":{"customer":{"id":7}}`) {
		t.Error(v)
	}
	before := predictedFrom(Passed{Fields: []string{"customer"}}, in, 1<<20)
	if v := string(r.Prediction(before.Value)); strings.Contains(v, canary) || !json.Valid([]byte(v)) {
		t.Error(v)
	}
}
