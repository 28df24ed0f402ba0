package page

import (
	"fmt"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
)

// Scorer updates the board with an event of a scorer.
func (b *Board) Scorer(ev serve.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.scorer = true
	switch ev := ev.(type) {
	case serve.Scored:
		b.counts.scored += int64(ev.Scored)
		b.counts.scorerQuarantined += int64(ev.Quarantined)
		b.move(place{ev.Topic, int32(ev.Partition), true}, ev.Next, 0, ev.End, ev.Stable)
	case serve.Switched:
		b.switched(ev.To)
	case serve.Shared:
		for p := range b.places {
			if mine := ev.Mine[p.topic]; p.scored && !slices.Contains(mine, p.partition) {
				delete(b.places, p)
			}
		}
		for topic, mine := range ev.Mine {
			for _, p := range mine {
				b.place(place{topic, p, true})
			}
		}
	case serve.Chosen:
		b.serves(ev.Choice)
	case serve.Judged:
		b.judge(ev.Step, &ev.Gate, time.Time{})
	case serve.Waiting:
		b.note("info", "waiting for a snapshot of the model")
	case serve.Retrying:
		b.note("warning", "scorer: retrying: "+ev.Err.Error())
	case serve.Damaged:
		b.note("error", "unusable snapshot "+ev.ID+": "+ev.Err.Error())
	case serve.Broken:
		b.note("error", "cannot follow the model log: "+ev.Err.Error())
	case serve.Repaired:
		b.note("info", "the model log is valid again")
	case serve.Gap:
		b.counts.scorerLost += ev.To - ev.From
		b.note("error", fmt.Sprintf("gap: %s/%d offsets %d to %d were deleted before they were scored", ev.Topic, ev.Partition, ev.From, ev.To-1))
	case serve.Truncated:
		if ev.Recreated {
			b.note("error", fmt.Sprintf("%s was deleted and created again: partition %d is scored from its beginning", ev.Topic, ev.Partition))
			break
		}
		b.note("error", fmt.Sprintf("%s/%d was truncated to offset %d", ev.Topic, ev.Partition, ev.End))
	}
}

func (b *Board) switched(to *serve.Served) {
	b.counts.models++
	b.model = served{to.ID.Step, to.ID.Lineage.String(), to.StateHash.String(), b.now()}
	if b.learner {
		return
	}
	b.progress.Task, _ = learner.ParseTask(to.Schema.Task) // that of a model is valid
	b.snapshots.add(saved{at: to.Written, step: to.ID.Step, hash: to.StateHash.String()})
	if to.Timeline != nil {
		b.line = *to.Timeline.Clone()
	}
}

// Answered counts a request for predictions over HTTP and the time that it took.
func (b *Board) Answered(took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts.requests++
	b.answers.add(took)
}
