package serve_test

import (
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A follower with a key returns the newest snapshot that is signed with it,
// whichever snapshots come later and however far back it is.
func TestFollowerBelievesSignedSnapshotsOnly(t *testing.T) {
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 40, class))
	key := func(seed byte) ed25519.PrivateKey {
		return ed25519.NewKeyFromSeed(slices.Repeat([]byte{seed}, ed25519.SeedSize))
	}
	for i, k := range []ed25519.PrivateKey{key(1), key(2), key(3)} { // without a key, a learner refuses the log
		l, err := pipeline.Open(t.Context(), model.Config{
			Model: w.model, Client: w.client, Topics: []string{w.in}, BatchSize: 1, Linger: time.Millisecond, SignKey: k,
			Learner: learner.Config{Kernel: "gaussian:1"}, SnapshotEvery: time.Hour, ReplayLimit: time.Hour, Keep: 3, History: 1 << 30,
			ToEnd: true, Report: func(event.Event) {},
		})
		if err == nil {
			err = l.Run(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		kafkatest.Fill(t, w.client, w.in, 1, rings(uint64(i), 10, class))
	}
	for _, c := range []struct {
		key  ed25519.PublicKey
		seq  int64
		bad  int
		what string
	}{
		{key(1).Public().(ed25519.PublicKey), 40, 2, "the first key"},
		{key(2).Public().(ed25519.PublicKey), 50, 1, "the second key"},
		{nil, 60, 0, "no key"},
	} {
		bad := 0
		s, err := serve.NewFollower(w.client, model.LogTopic(w.model), c.key, func(string, error) { bad++ }).Next(t.Context())
		if err != nil || s.Seq != c.seq || bad != c.bad {
			t.Errorf("%s: seq %v, %d refused, %v; want seq %d, %d refused", c.what, s, bad, err, c.seq, c.bad)
		}
	}
}
