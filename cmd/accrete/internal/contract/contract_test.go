package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
)

// options are configurations that together produce every member of a prediction.
var options = map[string][]string{
	"classes":   {"learner.task=classification", "output.fields=id"},
	"hinge":     {"learner.loss=hinge", "learner.algorithm=dsg"},
	"costs":     {`learner.costs={"b":{"a":10}}`},
	"number":    {"learner.task=regression", "learner.intervals=0.9", "learner.variance=on"},
	"targets":   {"input.label=y,z", "learner.intervals=0.9", "learner.variance=on"},
	"quantiles": {"learner.loss=quantile:0.1,0.5,0.9", "learner.intervals=0.9"},
	"levels":    {"learner.loss=quantile:0.1,0.5,0.9", "input.label=y,z"},
	"poisson":   {"learner.loss=poisson"},
	"auto":      {},
	"novelty":   {"learner.task=novelty"},
}

func printed(t *testing.T, c Command, set []string) []byte {
	t.Helper()
	var out bytes.Buffer
	e := env.New(nil, strings.NewReader(""), &out, &out)
	c.Set = append([]string{"model=m", "kafka.bootstrap.servers=localhost:9092", "input.topics=t", "input.label=y"}, set...)
	if err := c.Run(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestPredictionsKeepTheContract makes predictions of every kind, before and after labels,
// and holds them against the schema that is printed for their configuration.
func TestPredictionsKeepTheContract(t *testing.T) {
	for name, set := range options {
		var schema any
		if err := json.Unmarshal(printed(t, Command{}, set), &schema); err != nil {
			t.Fatal(err)
		}
		for i, value := range published(t, set) {
			var v any
			if err := json.Unmarshal(value, &v); err != nil {
				t.Fatal(err)
			}
			if err := check(schema.(map[string]any), v, true); err != nil {
				t.Errorf("%s: prediction %d, %s: %v", name, i, value, err)
			}
		}
		if check(schema.(map[string]any), map[string]any{"prediction": []any{"x"}, "model": "m"}, true) == nil {
			t.Errorf("%s: anything is accepted", name)
		}
	}
}

// published returns the predictions of 150 rows, as they are published.
func published(t *testing.T, set []string) (all [][]byte) {
	t.Helper()
	c := learner.Config{MaxFeatures: 16, BlockSize: 8, Minibatch: 32, Kernel: "gaussian:1"}
	passed := record.Passed{}
	for _, s := range set {
		switch key, value, _ := strings.Cut(s, "="); key {
		case "learner.task":
			c.Task, _ = learner.ParseTask(value)
		case "learner.loss":
			c.Loss = value
		case "learner.algorithm":
			c.Algorithm = value
		case "learner.costs":
			c.Costs = value
		case "learner.intervals":
			c.Intervals = 0.9
		case "learner.variance":
			c.Variance = true
		case "input.label":
			c.Targets, c.Task = 2, learner.Regression
		case "output.fields":
			passed.Fields = []string{value}
		}
	}
	l, err := learner.New(c)
	if err != nil {
		t.Fatal(err)
	}
	classes := []string{"a", "b"}
	e := record.NewEncoder(record.ModelID{Name: "m", Step: 3}, classes, 1<<20).Passing(passed)
	var b learner.Batch
	for i := range 150 {
		label := learner.Label{Task: learner.Classification, Class: i % 2}
		switch {
		case c.Task == learner.Novelty:
			label = learner.Label{}
		case c.Targets == 2:
			label = learner.Label{Task: learner.Regression, Value: float64(i % 5), More: []float64{2}}
		case c.Task == learner.Regression, strings.HasPrefix(c.Loss, "quantile"), c.Loss == "poisson":
			label = learner.Label{Task: learner.Regression, Value: float64(i % 5)}
		}
		b.Reset(1)
		b.Append([]float64{float64(i % 10)}, label, 1)
		p := l.Predict(&b)
		x := record.Example{Record: &ingest.Record{Value: []byte(`{"id":7}`)}, Label: label, LabelName: classes[label.Class], Intervals: p.Uncertainty(0), Quantiles: p.Quantiles, Decision: p.Decision, Mixture: p.Mixture}
		x.Loss, x.Graded = p.Loss(0)
		all = append(all, e.Value(x, p.Task, p.Row(0)))
		l.Learn(p)
	}
	return all
}

// check is the part of JSON Schema that the contract uses. Members of an object that closed
// and the schema does not describe are an error.
func check(schema map[string]any, v any, closed bool) error {
	if c, ok := schema["const"]; ok && c != v {
		return fmt.Errorf("%v, want %v", v, c)
	}
	if enum, ok := schema["enum"].([]any); ok && !slices.Contains(enum, v) {
		return fmt.Errorf("%v, want one of %v", v, enum)
	}
	if any, ok := schema["anyOf"].([]any); ok && !slices.ContainsFunc(any, func(s interface{}) bool { return check(s.(map[string]interface{}), v, closed) == nil }) {
		return fmt.Errorf("%v is none of %v", v, any)
	}
	if err := checkType(schema["type"], v); err != nil {
		return err
	}
	switch v := v.(type) {
	case string:
		if p, ok := schema["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			return fmt.Errorf("%q does not match %s", v, p)
		}
	case float64:
		if least, ok := schema["minimum"].(float64); ok && v < least {
			return fmt.Errorf("%v, want at least %v", v, least)
		}
		if most, ok := schema["maximum"].(float64); ok && v > most {
			return fmt.Errorf("%v, want at most %v", v, most)
		}
	case []any:
		if n, ok := schema["minItems"].(float64); ok && len(v) < int(n) {
			return fmt.Errorf("%d items, want at least %v", len(v), n)
		}
		if n, ok := schema["maxItems"].(float64); ok && len(v) > int(n) {
			return fmt.Errorf("%d items, want at most %v", len(v), n)
		}
		for _, x := range v {
			if items, ok := schema["items"].(map[string]any); ok {
				if err := check(items, x, closed); err != nil {
					return err
				}
			}
		}
	case map[string]any:
		return checkObject(schema, v, closed)
	}
	return nil
}

func checkObject(schema, v map[string]any, closed bool) error {
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			return fmt.Errorf("%v is missing", name)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, x := range v {
		of, known := properties[name]
		if !known {
			of = schema["additionalProperties"]
		}
		switch of := of.(type) {
		case map[string]any:
			if err := check(of, x, closed); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		case bool:
			if !of {
				return fmt.Errorf("%s is not allowed", name)
			}
		case nil:
			if closed {
				return fmt.Errorf("%s is not described", name)
			}
		}
	}
	return nil
}

func checkType(types any, v any) error {
	all, ok := types.([]any)
	if !ok {
		all = []any{types}
	}
	is := map[string]bool{}
	switch v := v.(type) {
	case nil:
		is["null"] = true
	case bool:
		is["boolean"] = true
	case string:
		is["string"] = true
	case float64:
		is["number"], is["integer"] = true, v == float64(int64(v))
	case []any:
		is["array"] = true
	case map[string]any:
		is["object"] = true
	}
	if types == nil || slices.ContainsFunc(all, func(t any) bool { return is[t.(string)] }) {
		return nil
	}
	return fmt.Errorf("%v, want %v", v, types)
}

// TestInputsAreAsTheSchemaSays holds records against the schema of inputs and against the
// decoder, which agree.
func TestInputsAreAsTheSchemaSays(t *testing.T) {
	for _, missing := range []string{"impute", "quarantine"} {
		set := []string{"input.columns=amount:numeric,customer.city:category,paid:boolean,id:id", "input.missing=" + missing, "learner.task=classification"}
		var schema any
		if err := json.Unmarshal(printed(t, Command{Input: true}, set), &schema); err != nil {
			t.Fatal(err)
		}
		d, err := decode.New(decode.Config{Label: "y", Columns: []string{"amount", "customer.city", "paid"}, Types: map[string]string{"amount": "numeric", "customer.city": "category", "paid": "boolean", "id": "id"}, Missing: missing, Depth: 8, Infer: true, Task: learner.Classification}, decode.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{
			`{"amount":1,"customer":{"city":"Bonn"},"paid":true,"id":7,"y":"a"}`,
			`{"amount":1,"customer":{"city":3},"paid":true}`,
			`{"amount":null,"customer":{"city":"Bonn"},"paid":true}`,
			`{"customer":{"city":"Bonn"},"paid":true}`,
			`{"amount":"x","customer":{"city":"Bonn"},"paid":true}`,
			`{"amount":1,"customer":{"city":"Bonn","zip":1},"paid":true}`,
			`{"amount":1,"customer":{"city":"Bonn"},"paid":1}`,
			`{"amount":1,"customer":{"city":"Bonn"},"paid":true,"more":1}`,
		} {
			var v any
			if err := json.Unmarshal([]byte(value), &v); err != nil {
				t.Fatal(err)
			}
			err := check(schema.(map[string]any), v, false)
			if _, late := d.Decode([]byte(value)); (err == nil) != (late == nil) {
				t.Errorf("missing: %s: %s: the schema says %v, the decoder %v", missing, value, err, late)
			}
		}
	}
}

func TestTheOrderOfFieldsIsFixed(t *testing.T) {
	set := []string{"input.columns=amount:numeric,c.a:id,c.b:ignored,c.d:id,c.e:ignored,x.2:id,x.0:ignored,x.1:id"}
	first := printed(t, Command{Input: true}, set)
	for range 20 {
		if again := printed(t, Command{Input: true}, set); !bytes.Equal(again, first) {
			t.Fatalf("the same configuration has two contracts:\n%s\n%s", first, again)
		}
	}
	if !bytes.Contains(first, []byte("prefixItems")) {
		t.Errorf("the fields x.0, x.1 and x.2 are no list: %s", first)
	}
}

// TestALabelHasEachFieldOnce: the key, the label and the time may be in one object.
func TestALabelHasEachFieldOnce(t *testing.T) {
	for _, set := range [][]string{
		{"input.labels.key=order.id", "input.labels.time=order.at", "input.labels.field=paid"},
		{"input.labels.key=order.id", "input.labels.field=order.paid", "input.labels.time=order.at"},
		{"input.labels.key=id", "input.labels.field=order.paid", "input.labels.time=order.at"},
	} {
		text := string(printed(t, Command{AsyncAPI: true, JSON: true}, append(slices.Clip(set), "input.labels.ttl=24h", "input.labels.topic=outcomes")))
		var doc struct {
			Components struct {
				Messages map[string]struct {
					Payload struct {
						Schema struct {
							Properties map[string]struct{ Description string }
							Required   []string
						}
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		label := doc.Components.Messages["label"].Payload.Schema
		fields := map[string]bool{}
		for _, s := range set {
			_, path, _ := strings.Cut(s, "=")
			field, _, _ := strings.Cut(path, ".")
			fields[field] = true
		}
		if len(label.Properties) != len(fields) || len(label.Required) != len(fields) || strings.Count(text, `"order": {`) != 1 {
			t.Errorf("%q: %+v", set, label)
		}
		for _, s := range set {
			if _, path, _ := strings.Cut(s, "="); strings.Contains(path, ".") && !strings.Contains(label.Properties["order"].Description, "at the path "+path+".") {
				t.Errorf("%q: %+v", set, label)
			}
		}
	}
}

// TestTheDocumentIsWhole resolves every reference of the AsyncAPI document, and checks that its
// JSON and YAML forms have the same content.
func TestTheDocumentIsWhole(t *testing.T) {
	for _, format := range record.Forms() {
		set := []string{"input.labels.ttl=24h", "input.labels.topic=outcomes", "input.tables=topic=customers key=customer_id fields=tier,address.city; topic=shops key=shop fields=country", "input.labels.key=order.id", "requests.topic=t2", "score.http.predict=on", "score.topics=asked", "output.format=" + format, "output.registry.url=http://registry:8081"}
		var doc, other map[string]any
		if err := json.Unmarshal(printed(t, Command{AsyncAPI: true, JSON: true}, set), &doc); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(printed(t, Command{AsyncAPI: true}, set), &other); err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprint(doc), fmt.Sprint(other); a != b {
			t.Errorf("YAML has\n%s\nJSON has\n%s", b, a)
		}
		n := 0
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case []any:
				for _, x := range v {
					walk(x)
				}
			case map[string]any:
				if to, ok := v["$ref"].(string); ok {
					n++
					var at any = doc
					for _, name := range strings.Split(to, "/")[1:] {
						at = at.(map[string]any)[name]
					}
					if at == nil {
						t.Errorf("%s is nothing", to)
					}
				}
				for _, x := range v {
					walk(x)
				}
			}
		}
		walk(doc)
		if n < 10 || doc["asyncapi"] != "3.0.0" || len(doc["channels"].(map[string]any)) != 9 {
			t.Errorf("%d references in %v", n, doc)
		}
	}
	var doc map[string]any
	if err := yaml.Unmarshal(printed(t, Command{AsyncAPI: true}, []string{"input.labels.ttl=24h", "requests.topic=t", "score.http.predict=on", "input.key=id"}), &doc); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`input0:map[address:t`, `label:map[$ref:#/components/messages/label]`, `request:map[action:send channel:map[$ref:#/channels/input0]`, `required:[id y]`} {
		if !strings.Contains(fmt.Sprint(doc), want) {
			t.Errorf("%v lacks %s", doc, want)
		}
	}
	if got := printed(t, Command{Avro: true}, nil); !json.Valid(got) {
		t.Errorf("%s", got)
	}
}

// Scorers publish predictions of a canary under its own name, too.
func TestACanaryHasTheContract(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(printed(t, Command{}, []string{"score.topics=asked", "score.canary.model=n"}), &schema); err != nil {
		t.Fatal(err)
	}
	for name, valid := range map[string]bool{"m": true, "n": true, "o": false} {
		v := map[string]any{"prediction": nil, "model": name, "step": 1.0, "lineage": strings.Repeat("0", 64), "learned_to": strings.Repeat("0", 16)}
		if err := check(schema, v, true); (err == nil) != valid {
			t.Errorf("model %s: %v", name, err)
		}
	}
}
