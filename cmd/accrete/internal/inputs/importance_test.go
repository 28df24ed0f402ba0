package inputs

import (
	"testing"

	"github.com/accrete-ml/accrete/ingest/decode"
)

// An importance is a share, whatever the estimate is.
func TestImportanceIsAtMostOne(t *testing.T) {
	got := ByField(&decode.Schema{Columns: []string{"a", "b"}}, []float64{1.045, 0.25})
	if len(got) != 2 || got[0] != 1 || got[1] != 0.25 {
		t.Errorf("got %v, want [1 0.25]", got)
	}
}
