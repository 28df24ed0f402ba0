package heartbeat

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// The last heartbeat has the epoch of a claim only if there was one: a learner that ends before its claim,
// such as one with other options, does not make a standby take over from the owner.
func TestWhoEndsWithoutAClaimIsNoOwner(t *testing.T) {
	c := kafkatest.Client(t)
	for _, claimed := range []bool{false, true} {
		model := kafkatest.Name("m")
		h, err := Start(t.Context(), c, model, "host", time.Hour, func(event.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		h.Own(5, claimed)
		h.End(false)
		rs := kafkatest.Read(t, c, Topic(model))
		var last Beat
		if err := json.Unmarshal(rs[len(rs)-1].Value, &last); err != nil || last.Role != Left || (last.Epoch == 5) != claimed {
			t.Errorf("claimed %v: the last heartbeat is %+v, %v", claimed, last, err)
		}
		r := NewRoster(Beat{Process: "standby", Joined: 1})
		if r.See(2, last, 4); r.Due(4) != claimed {
			t.Errorf("claimed %v: a standby takes over from the owner of epoch 4: %v", claimed, r.Due(4))
		}
	}
}
