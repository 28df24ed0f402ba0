package serve

import (
	"context"

	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// wanted returns the snapshot to serve, and reports whether it differs from the one served
// last. The snapshot to serve is the one that the log names. If that one is damaged, it is
// the newest earlier one that has passed the gate.
func (f *Follower) wanted() (at modellog.Ref, other bool) {
	all := f.log.Fold.Snapshots()
	if len(all) > 0 {
		f.newest.Store(all[0].Offset)
	}
	c, ok := f.log.Fold.Serves()
	if !ok {
		return at, false
	}
	f.tell(c, all)
	if !f.bad[c.Snapshot.Offset] {
		return c.Snapshot, c.Snapshot.Offset != f.last
	}
	for _, s := range all {
		if g := s.Manifest.Gate; s.Offset < c.Snapshot.Offset && !f.bad[s.Offset] && (g == nil || g.Passed) {
			return modellog.RefTo(s.Manifest, s.Offset), s.Offset != f.last
		}
	}
	return at, false
}

// tell calls Chosen if the choice of the snapshot to serve has changed, and Judged if the
// newest snapshot has a new verdict of the gate.
func (f *Follower) tell(c modellog.Choice, all []modellog.Stored) {
	if was := f.choice.Load(); was == nil || *was != c {
		f.choice.Store(&c)
		if f.Chosen != nil {
			f.Chosen(c)
		}
	}
	if len(all) > 0 && all[0].Offset > f.judged && all[0].Manifest.Gate != nil {
		f.judged = all[0].Offset
		if f.Judged != nil {
			f.Judged(all[0].Manifest.Step, *all[0].Manifest.Gate)
		}
	}
}

// Choice returns how the snapshot to serve is chosen. It may be called concurrently with Next.
func (f *Follower) Choice() modellog.Choice {
	if c := f.choice.Load(); c != nil {
		return *c
	}
	return modellog.Choice{Mode: modellog.Follow}
}

func (f *Follower) load(ctx context.Context, at modellog.Ref) (*Served, error) {
	m, s, err := f.reader.Snapshot(ctx, at)
	if err != nil {
		return nil, err
	}
	return servedAt(f.model, m, s, at.Offset)
}

// servedAt returns the model of the snapshot s, whose MANIFEST is m at the given offset. If
// before is not nil, parts that both models have in common are taken from it: see Served.Next.
func servedAt(before *Served, m *modellog.Manifest, s *snapshot.Snapshot, offset int64) (served *Served, err error) {
	if before == nil {
		served, err = NewServed(s)
	} else {
		served, err = before.Next(s)
	}
	if err == nil {
		served.Timeline, served.Written, served.offset = m.Timeline, m.Written(), offset
	}
	return served, err
}
