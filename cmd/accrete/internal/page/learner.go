package page

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// Learner updates the board with an event of a learner. It is called after watch.Watch.
func (b *Board) Learner(ev event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.learner = true
	switch ev := ev.(type) {
	case event.Learned:
		b.learned(ev)
	case event.Lag:
		b.move(place{ev.Topic, ev.Partition, false}, ev.Next, ev.First, ev.End, ev.Stable)
	case event.Published:
		b.counts.published += int64(ev.Records)
	case event.Saved:
		b.counts.snapshots++
		b.snapshots.add(saved{at: b.now(), step: ev.Step, bytes: int64(ev.Bytes), hash: ev.StateHash.String(), froze: ev.Froze})
		b.judge(ev.Step, ev.Gate, b.now())
	case event.Serving:
		b.serves(ev.Choice)
	case event.Quarantining:
		b.quarantining(ev)
	case event.Replayed:
		b.replayed(ev)
	case event.Memory:
		b.memoryLimit = ev.Limit
	case event.Columns:
		b.gone = ev.Missing
		if len(ev.Gone) > 0 {
			b.note("warning", "no value in the last 1,000 records: "+list(ev.Gone))
		}
		if len(ev.Back) > 0 {
			b.note("info", "columns have values again: "+list(ev.Back))
		}
		if len(ev.Adopted) > 0 {
			b.note("info", "fields became columns, which a second model learns: "+list(ev.Adopted))
		}
		if len(ev.New) > 0 {
			b.note("warning", "fields that are not columns of the model, ignored: "+list(ev.New))
		}
	case event.NewClasses:
		text := fmt.Sprintf("%d new classes", ev.Number)
		if ev.Names != nil {
			text += ": " + list(ev.Names)
		}
		b.note("warning", text)
	case event.Misread:
		if len(ev.Texts) > 0 {
			b.note("warning", "categories that look like texts (to learn from their words, declare them in input.columns of a new model): "+list(ev.Texts))
		}
		if ev.Classes > 0 {
			b.note("warning", fmt.Sprintf("%d different labels, learned as values: if they are classes, begin a new model with learner.task: classification", ev.Classes))
		}
		if ev.LongTail > 0 {
			b.note("warning", fmt.Sprintf("the largest 1 %% of the labels have %d %% of their variance: a model of the logarithm of the labels predicts small and large ones equally well", ev.LongTail))
		}
	case event.Renamed:
		for _, a := range ev.Aliases {
			if a.Declared {
				b.note("info", fmt.Sprintf("column %s is read from %s (input.renames)", list([]string{a.Column}), list([]string{a.Field})))
				continue
			}
			b.note("warning", fmt.Sprintf("column %s is read from %s since step %d", list([]string{a.Column}), list([]string{a.Field}), a.Step))
		}
	case event.Succeeded:
		b.note("info", "the model with these columns predicts from now on: "+list(ev.Columns))
	case event.Shifted:
		b.shifted = shifted{b.now(), ev.Columns}
		b.note("warning", "the inputs have changed: "+list(ev.Columns))
	default:
		b.rare(ev)
	}
}

// rare handles events that do little more than add a note.
func (b *Board) rare(ev event.Event) {
	switch ev := ev.(type) {
	case event.Retrying:
		b.note("warning", "retrying: "+ev.Err.Error())
	case event.StandingBy:
		b.role, b.progress.Step = "standby", ev.Step
	case event.FencingLoop:
		b.note("warning", "learners of this model have fenced each other in the last minute")
	case event.StandbyFailed:
		b.note("warning", "the standby cannot follow: "+ev.Err.Error())
	case event.TakingOver:
		if ev.Epoch > 0 {
			b.note("warning", "taking over the model from its owner")
		}
	case event.Claimed:
		b.role = "owner"
		b.note("info", fmt.Sprintf("claimed the model log, epoch %d", ev.Epoch))
	case event.Began:
		b.note("info", fmt.Sprintf("began at step %s (%s)", count(ev.Start.Step), ev.Start.Kind))
	case event.Restored:
		b.note("info", fmt.Sprintf("restored a snapshot of step %s", count(ev.Step)))
	case event.Damaged:
		b.note("error", "unusable snapshot "+ev.ID+": "+ev.Err.Error())
	case event.Unreadable:
		b.note("error", fmt.Sprintf("unreadable record %d in the model log, ignored: %s", ev.Offset, ev.Why))
	case event.PartitionsAdded:
		b.note("warning", fmt.Sprintf("%s has %d partitions now, learning from the new ones", ev.Topic, ev.Partitions))
	case event.Gap:
		b.counts.lost += ev.To - ev.From
		b.note("error", fmt.Sprintf("gap: %s/%d offsets %d to %d were deleted before they were learned", ev.Topic, ev.Partition, ev.From, ev.To-1))
	case event.Paused:
		b.paused = cmp.Or(ev.Why.Reason, ev.Why.Why())
		b.note("error", "paused: "+ev.Why.Why())
	case event.Resumed:
		b.paused = ""
		b.note("info", "resumed")
	case event.RolledBack:
		b.note("warning", fmt.Sprintf("rolled back to BATCH %d", ev.Record.ToSeq))
	case event.Refitted:
		b.note("info", fmt.Sprintf("refit of step %s: gap %.3g on %s", count(ev.Step), ev.Refit.Gap, display.Count(int64(ev.Refit.Rows), "row")))
	case event.Unfit:
		b.note("warning", "refit failed: "+ev.Err.Error())
	}
}

func (b *Board) learned(ev event.Learned) {
	b.counts.learned += ev.Counts.Learned
	b.counts.predicted += ev.Counts.Predicted
	b.counts.quarantined += ev.Counts.Quarantined
	b.counts.skipped += ev.Counts.Skipped
	b.latencies.add(ev.Learn)
	b.appends.add(ev.Append)
	b.line.Observe(ev.Progress, b.drifts)
	b.progress = ev.Progress
	if d := ev.Progress.Drifts; d != b.drifts {
		b.note("warning", fmt.Sprintf("drift: the error has grown to %s after %s", figure(ev.Progress.Latest.Model.Error), display.Count(ev.Progress.Examples, "example")))
		b.drifts = d
	}
}

// replayed starts the board with the history in the model log.
func (b *Board) replayed(ev event.Replayed) {
	b.counts.replayed += int64(ev.Batches)
	b.progress, b.drifts = ev.Progress, ev.Progress.Drifts
	if ev.Timeline != nil {
		b.line = *ev.Timeline.Clone()
	}
	for _, m := range ev.Snapshots {
		b.snapshots.add(saved{at: m.Written(), step: m.Step, bytes: m.Size, hash: m.StateHash.String(), recovered: true})
		b.judge(m.Step, m.Gate, m.Written())
	}
	if ev.Batches > 0 {
		b.note("info", fmt.Sprintf("batches replayed: %s, in %s", count(int64(ev.Batches)), took(ev.Took)))
	}
}

func (b *Board) quarantining(ev event.Quarantining) {
	for _, bad := range ev.Bad[:min(len(ev.Bad), mostRows)] {
		where := fmt.Sprintf("%s/%d offset %d", bad.Topic, bad.Partition, bad.First)
		if bad.Records > 1 {
			where = fmt.Sprintf("%s/%d offsets %d to %d", bad.Topic, bad.Partition, bad.First, bad.Last)
		}
		b.bad.add(invalid{b.now(), where, bad.Records, Printable(bad.Err.Error(), 300), Printable(string(bad.Sample), 200)})
	}
}

// list returns the names of a few columns and the number of the others. No columns stand for a
// change in the dependence between them.
func list(names []string) string {
	const most = 8
	if len(names) == 0 {
		return "the dependence between the columns"
	}
	s := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
