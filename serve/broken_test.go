package serve_test

import (
	"context"
	"testing"

	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

// A scorer keeps its model while the log is broken, reports it, and follows the log
// again once it is whole.
func TestScorerOutlivesABrokenLog(t *testing.T) {
	t.Parallel()
	d := kafkatest.NewDisk(t)
	w := newWorld(t)
	w.client = kafkatest.ClientOf(t, d.Addr, nil)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 1500, class))
	kafkatest.Fill(t, w.client, w.asked, 1, rings(2, 20, none))
	w.learn(t, w.in)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	go func() { done <- w.scorer(false).Run(ctx) }()
	counted := func(n *int) func() bool {
		return func() bool { w.mu.Lock(); defer w.mu.Unlock(); return *n > 0 }
	}
	until(t, done, "it scores", func() bool { return w.scores(t) == 20 })

	log := model.LogTopic(w.model)
	var all [][]byte
	d.Down(func() {
		d.Change(log, 0, func(bs [][]byte) [][]byte {
			all = bs
			return bs[:len(bs)-3]
		})
	})
	until(t, done, "it says that the log is broken", counted(&w.broken))
	kafkatest.Fill(t, w.client, w.asked, 1, rings(3, 20, none))
	until(t, done, "it continues to score", func() bool { return w.scores(t) == 40 })
	if w.whole > 0 {
		t.Error("it takes the log for whole without its tail")
	}

	d.Down(func() { d.Change(log, 0, func([][]byte) [][]byte { return all }) })
	until(t, done, "it says that the log is whole", counted(&w.whole))
	kafkatest.Fill(t, w.client, w.in, 1, rings(4, 1500, class))
	w.client = kafkatest.ClientOf(t, d.Addr, nil)
	w.learn(t, w.in)
	until(t, done, "it follows the log again", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.switches == 2 })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
