package record

import (
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode/schema"
	"github.com/accrete-ml/accrete/learner"
)

// The part of a field is the sum of those of its columns: of a text, and of a time with a key.
func TestPartsAreThoseOfFields(t *testing.T) {
	s := &schema.Schema{Columns: []string{"a"}, Types: []string{"numeric"}}
	add := func(name, typ string) { s.Columns, s.Types = append(s.Columns, name), append(s.Types, typ) }
	for range schema.TextBuckets {
		add("note:00", "text")
	}
	for range 3 * learner.TextKeys {
		add("note:w00", "gram")
	}
	add("seen", "time:since")
	add("seen:key", "key")
	e := learner.Explanation{Size: 2, Base: []float64{1, 2}, Scores: []float64{3, 4}, Rest: []float64{0, 0}, Parts: make([]float64, 2*len(s.Columns))}
	for j := range s.Columns {
		e.Parts[2*j], e.Parts[2*j+1] = 1, float64(j%2)
	}
	const want = `[{"of":"x","base":1,"score":3,"parts":{"a":1,"note":256,"seen":2},"rest":0},{"of":"y","base":2,"score":4,"parts":{"a":0,"note":128,"seen":1},"rest":0}]`
	if got := string(AppendExplanation(nil, e, s, []string{"x", "y"})); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
