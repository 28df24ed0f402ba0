package history

import (
	"errors"
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/test/modeltest"
)

// TestImportanceNeedsTheColumnsOfTheModel: without them, its indices have no names.
func TestImportanceNeedsTheColumnsOfTheModel(t *testing.T) {
	var records []string
	for i := range 100 {
		records = append(records, `{"x":[`+string(rune('0'+i%10))+`,2],"y":`+string(rune('0'+i%7))+`}`)
	}
	s := modeltest.Snapshot(t, learner.Config{Algorithm: "ridge", MaxFeatures: 32}, decode.Config{}, records)
	if all, err := importanceOf(s); err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, schema := range []string{"", `{"columns":["0"],"task":"regression"}`} {
		s.Schema = []byte(schema)
		if all, err := importanceOf(s); !errors.Is(err, snapshot.ErrCorrupt) {
			t.Errorf("with the schema %q: %v, %v", schema, all, err)
		}
	}
}
