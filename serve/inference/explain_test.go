package inference

import (
	"encoding/json"
	"math"
	"net/http"
	"strings"
	"testing"
)

// An explanation on request is the same in both protocols, adds up, and leaves the
// prediction as it is.
func TestPredictionsAreExplainedOnRequest(t *testing.T) {
	m, rows := typed(t)
	c := newClient(t, m)
	plain := c.ask("POST", "/predict", rows[0], http.StatusOK)
	text := c.ask("POST", "/predict?explain=true", rows[0], http.StatusOK)
	if !strings.HasPrefix(text, strings.TrimSuffix(plain, "}")+`,"explanation":`) {
		t.Errorf("explained: %s, want more of %s", text, plain)
	}
	if python := c.ask("POST", "/predict?explain=True", rows[0], http.StatusOK); python != text {
		t.Errorf("explain=True: %s, want %s", python, text)
	}
	x := in[struct {
		Explanation struct {
			Of                string
			Base, Score, Rest float64
			Parts             map[string]float64
		}
	}](t, text).Explanation
	sum := x.Base + x.Rest
	for _, part := range x.Parts {
		sum += part
	}
	if math.Abs(sum-x.Score) > 1e-9 || math.Abs(x.Rest) > 1e-4 || len(x.Parts) != len(m.Schema.Columns) || x.Of != m.Schema.Classes[1] {
		t.Errorf("%s: the parts sum to %v", text, sum)
	}
	request := `{"parameters":{"explain":true},"inputs":[{"name":"amount","datatype":"FP64","shape":[1],"data":[0.5]},{"name":"country","datatype":"BYTES","shape":[1],"data":["c1"]},{"name":"paid","datatype":"BOOL","shape":[1],"data":[true]},{"name":"at","datatype":"BYTES","shape":[1],"data":["2024-01-05T00:00:00Z"]}]}`
	answer := in[struct {
		Outputs []struct {
			Name string
			Data []json.RawMessage
		}
	}](t, c.ask("POST", "/v2/models/fraud/infer", request, http.StatusOK))
	same := in[struct{ Explanation json.RawMessage }](t, c.ask("POST", "/predict?explain=true", `{"amount":0.5,"country":"c1","paid":true,"at":"2024-01-05T00:00:00Z"}`, http.StatusOK))
	last := answer.Outputs[len(answer.Outputs)-1]
	if last.Name != "explanation" || in[string](t, string(last.Data[0])) != string(same.Explanation) {
		t.Errorf("by the protocol %s, want %s", last.Data, same.Explanation)
	}
	many := "[" + strings.Repeat(rows[0]+",", MaxExplained) + rows[0] + "]"
	c.ask("POST", "/predict", many, http.StatusOK)
	c.ask("POST", "/predict?explain=true", many, http.StatusRequestEntityTooLarge)
}

// A body that is JSON and neither an object nor a list is refused with both forms that are read.
func TestBodyThatIsNoRowNamesBothForms(t *testing.T) {
	m, _ := typed(t)
	c := newClient(t, m)
	for _, body := range []string{"5", "null", `"a"`} {
		if got := c.ask("POST", "/predict", body, http.StatusBadRequest); !strings.Contains(got, "want an object, or a list of objects") {
			t.Errorf("%s: %s", body, got)
		}
	}
}
