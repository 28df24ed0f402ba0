package journal

import (
	"cmp"
	"context"

	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Reached returns where the model has read its inputs to: the positions of the newest snapshot, and
// the ends of the ranges that were decided after it. Several may be of one partition. It returns none
// if that snapshot cannot be read, for which Restore has a replacement.
func (j *Journal) Reached(ctx context.Context) (reached []snapshot.Position) {
	r, ok := j.Log.Fold.Recover(0)
	if !ok {
		return nil
	}
	if r.Snapshot != nil {
		s, err := j.Load(ctx, *r.Snapshot)
		if err != nil {
			return nil
		}
		reached = s.Positions
	}
	for _, e := range r.Entries {
		switch d := e.Record.(type) {
		case *modellog.Batch:
			for _, of := range d.Ranges {
				reached = append(reached, snapshot.Position{Topic: of.Topic, TopicID: of.TopicID, Partition: of.Partition, Next: of.To})
			}
		case *modellog.Adopt:
			for _, in := range d.Inputs {
				for i := range reached {
					if p := &reached[i]; p.Topic == in.Topic {
						p.Topic, p.TopicID = cmp.Or(in.NewTopic, p.Topic), in.NewID
					}
				}
			}
		}
	}
	return reached
}
