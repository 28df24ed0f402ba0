package serve

import (
	"context"

	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// wanted returns the snapshot to serve, and reports whether it is another than the one
// served last: the one that the log names or, if that is damaged, the newest one before it
// that has passed the gate.
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

// tell passes on how the snapshot served is chosen, and the newest verdict of the gate, if
// they have changed.
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

// Choice returns how the snapshot that is served is chosen. It can be used while Next is
// called.
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

// servedAt returns the model of a snapshot that the MANIFEST at an offset completes. before is
// another model, or nil: see Served.Next.
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
