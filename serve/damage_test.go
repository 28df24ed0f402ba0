package serve_test

import (
	"testing"

	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
	"github.com/accrete-ml/accrete/test/learntest"
)

func TestSnapshotBeforeADamagedOneIsUsed(t *testing.T) {
	w := newWorld(t)
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 1500, class))
	kafkatest.Fill(t, w.client, w.asked, 1, rings(2, 20, none))
	w.learn(t, w.in)
	learntest.DamageNewest(t, w.client, model.LogTopic(w.model))
	if err := w.scorer(true).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(kafkatest.Read(t, w.client, model.ScoresTopic(w.model))); n != 20 || w.switches != 1 || w.damaged != 1 {
		t.Errorf("%d scores of 20, by %d models, %d snapshots damaged", n, w.switches, w.damaged)
	}
	var restored, damaged int
	w.learnEvents = func(ev event.Event) {
		switch ev.(type) {
		case event.Restored:
			restored++
		case event.Damaged:
			damaged++
		}
	}
	w.learn(t, w.in)
	if restored != 1 || damaged != 1 {
		t.Errorf("the learner restored %d snapshots and found %d damaged", restored, damaged)
	}
}
