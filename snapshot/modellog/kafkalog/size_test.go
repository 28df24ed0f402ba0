package kafkalog

import (
	"testing"

	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// A log of years has more offsets and bytes than their product fits into 64 bits.
func TestTheSizeOfALongLogIsEstimated(t *testing.T) {
	var s Size
	s.add(modellog.Verdict{Bytes: 1 << 30})
	s.begin(1<<34, 1<<10)
	if want := int64(1<<30 + 1<<54); s.Total != want {
		t.Errorf("%d bytes, want %d", s.Total, want)
	}
}
