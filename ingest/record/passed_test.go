package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
)

// predictedFrom returns the prediction of 1.5 for an input.
func predictedFrom(p Passed, in *ingest.Record, limit int) ingest.Record {
	e := NewEncoder(ModelID{Name: "m", Step: 7}, nil, limit).Passing(p)
	return e.Record(Example{Topic: "in", Record: in, Key: in.Key, Sequence: 3, Graded: true, Loss: 0.25}, learner.Regression, []float64{1.5})
}

// A prediction has the chosen fields of its input as they are spelled, wherever they are in
// it, in the order in which they were chosen.
func TestPredictionsHaveTheChosenFields(t *testing.T) {
	fields := []string{"customer.id", "amount", "features.x", "no", "no.such", "a\"b", "tags"}
	for value, want := range map[string]string{
		`{"amount": 1.50, "customer":{"name":"x","id" : 18446744073709551615},"y":1}`: `{"customer.id":18446744073709551615,"amount":1.50}`,
		`{"features":{"amount":1e3,"tags":["a", {"b":null}]},"y":1}`:                  `{"amount":1e3,"tags":["a", {"b":null}]}`,
		`{"a\"b":"\u00e9\n","y":1}`:    `{"a\"b":"\u00e9\n"}`,
		`{"no":{"such":true}}`:         `{"no":{"such":true},"no.such":true}`,
		`{"features":3,"amount":null}`: `{"amount":null}`,
		`{"other":1}`:                  ``,
		`{"x":[1,2],"y":1}`:            ``,
		`[1]`:                          ``,
		`{"amount":`:                   ``,
		"{\"amount\":\"\xff\"}":        ``,
	} {
		r := predictedFrom(Passed{Fields: fields}, &ingest.Record{Value: []byte(value)}, 1<<20)
		var got struct {
			Prediction float64         `json:"prediction"`
			Input      json.RawMessage `json:"input"`
			Step       int             `json:"step"`
		}
		if err := json.Unmarshal(r.Value, &got); err != nil || got.Prediction != 1.5 || got.Step != 7 {
			t.Fatalf("%s: %s: %v", value, r.Value, err)
		}
		if string(got.Input) != want {
			t.Errorf("%s: input %s, want %s", value, got.Input, want)
		}
		if all := decode.Extract(nil, []byte(value), nil); all != nil {
			t.Errorf("%s: %s without fields", value, all)
		}
	}
}

// What is passed through is bounded, and what is omitted is noted.
func TestWhatIsPassedThroughIsBounded(t *testing.T) {
	large := strings.Repeat("x", passedBytes)
	in := &ingest.Record{Value: fmt.Appendf(nil, `{"a":%q}`, large), Headers: []ingest.Header{
		{Key: "small", Value: []byte("1")}, {Key: "large", Value: []byte(large)}, {Key: "ce_id", Value: []byte("theirs")},
		{Key: "Content-Type", Value: []byte("theirs")}, {Key: "accrete.truncated.key", Value: []byte("theirs")},
		{Key: "traceparent", Value: []byte("00-1")}, {Key: "traceparent", Value: []byte("00-2")}, {Key: "tracestate", Value: []byte("v=1")}, {Key: "none", Value: nil},
	}}
	text := func(hs []ingest.Header) string {
		var b strings.Builder
		for _, h := range hs {
			if h.Value == nil {
				fmt.Fprintf(&b, "%s; ", h.Key)
			} else if h.Key != "ce_source" && h.Key != "ce_specversion" && h.Key != "ce_type" && h.Key != "ce_time" {
				fmt.Fprintf(&b, "%s=%.8s; ", h.Key, h.Value)
			}
		}
		return b.String()
	}
	const own = "ce_id=in-0-0; content-type=applicat; ce_sequence=3; "
	all := predictedFrom(Passed{Fields: []string{"a"}}, in, 1<<20)
	if got, want := text(all.Headers), own+"small=1; traceparent=00-1; tracestate=v=1; none; accrete.truncated.headers=9 in 164; "; got != want {
		t.Errorf("headers %s, want %s", got, want)
	}
	if !strings.Contains(string(all.Value), `,"input":null,"model"`) {
		t.Errorf("value %s", all.Value)
	}
	trace := predictedFrom(Passed{TraceOnly: true}, in, 1<<20)
	if got, want := text(trace.Headers), own+"traceparent=00-1; tracestate=v=1; "; got != want {
		t.Errorf("headers %s, want %s", got, want)
	}
	if a, b := fmt.Sprint(Own(all)), fmt.Sprint(Own(trace)); a != b {
		t.Errorf("own parts %s and %s", a, b)
	}
}
