package grouplag

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/snapshot"
)

func TestOffsetsAreThePositions(t *testing.T) {
	c := New(nil, "g", nil)
	at := []snapshot.Position{{Topic: "a", Partition: 2, Next: 7}, {Topic: "b", Partition: 0, Next: 9}, {Topic: "a", Partition: 0, Next: 3}}
	c.Reached(5, at)
	at[0].Next = 100 // the learner goes on
	seq, offsets := c.latest()
	if seq != 5 || len(offsets) != 2 || !slices.Equal(offsets["a"], []int64{3, -1, 7}) || !slices.Equal(offsets["b"], []int64{9}) {
		t.Errorf("seq %d: %v", seq, offsets)
	}
}

// What is not published yet is not committed: the lag of the group is that of the
// predictions. Without a client a commit would panic.
func TestWhatIsNotPublishedIsNotCommitted(t *testing.T) {
	c := New(nil, "g", func(err error) { t.Error(err) })
	c.Reached(5, []snapshot.Position{{Topic: "a", Next: 7}})
	ctx, stop := context.WithCancel(t.Context())
	var asked []int64
	c.Run(ctx, time.Nanosecond, func(_ context.Context, seq int64) error {
		if asked = append(asked, seq); len(asked) == 3 {
			stop()
		}
		return errors.New("not published")
	})
	if len(asked) < 3 || asked[0] != 5 {
		t.Errorf("asked for %v", asked)
	}
}
