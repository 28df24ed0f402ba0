package pipeline

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/auth"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

// Tools that watch consumer groups see how far the learner is. It does not: a group
// that somebody has set back changes nothing.
func TestPositionsAreCommittedToTheGroup(t *testing.T) {
	c, in := kafkatest.Client(t), kafkatest.Name("rings")
	kafkatest.Fill(t, c, in, 1, learntest.Rings(150))
	cfg, ev := learntest.Config(c, "m", in)
	cfg.Group = kafkatest.Name("group")
	learnAll(t, cfg)
	committed := func() int64 {
		next, err := c.Committed(t.Context(), cfg.Group, in, 1)
		if err != nil {
			t.Fatal(err)
		}
		return next[0]
	}
	if got := committed(); got != 150 {
		t.Errorf("committed %d, want 150", got)
	}
	before, _ := learntest.Last[event.Learned](ev)
	if err := c.CommitGroup(t.Context(), cfg.Group, map[string][]int64{in: {7}}); err != nil {
		t.Fatal(err)
	}
	kafkatest.Fill(t, c, in, 1, learntest.Rings(30))
	learnAll(t, cfg)
	if got := committed(); got != 180 {
		t.Errorf("committed %d, want 180", got)
	}
	if l, _ := learntest.Last[event.Learned](ev); l.Progress.Examples != before.Progress.Examples+30 {
		t.Errorf("%d examples were learned, then %d, want 30 more", before.Progress.Examples, l.Progress.Examples)
	}
}

// Without the permission the learner works as ever, and says so once.
func TestAGroupThatIsDeniedIsReported(t *testing.T) {
	in := kafkatest.Name("rings")
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "admin"),
		kfake.User("PLAIN", "ann", "pw", kfake.ACL{Resource: kmsg.ACLResourceTypeTopic, Name: "*", Pattern: kmsg.ACLResourcePatternTypeLiteral, Operation: kmsg.ACLOperationAll, Allow: true}))
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	as := func(user, password string) *ingest.Client {
		return kafkatest.ClientOf(t, k.ListenAddrs()[0], func(c *ingest.Config) {
			c.Security = auth.Security{Protocol: "SASL_PLAINTEXT", Mechanism: "PLAIN", Username: user, Password: password}
		})
	}
	kafkatest.Fill(t, as("admin", "admin"), in, 1, learntest.Rings(150))
	cfg, ev := learntest.Config(as("ann", "pw"), "m", in)
	cfg.Group = "group"
	learnAll(t, cfg)
	if u, ok := learntest.Last[event.Uncommitted](ev); !ok {
		t.Error("nothing was reported")
	} else {
		learntest.Wants(t, u.Err, ingest.ErrDenied, "group")
	}
}
