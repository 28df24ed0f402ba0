// Package transfer writes an exported history, record by record, to a model log under
// other claims.
package transfer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/backup"
)

// Err means that a model log cannot be exported, or that a model cannot be imported to
// it.
var Err = errors.New("model cannot be copied")

// Result is the result of an export or import.
type Result struct {
	Header  backup.Header
	Records int64
	SHA256  snapshot.Hash // of the uncompressed records
	Signed  bool          // an import: the records in the file had signatures
}

// Destination is where an import is written: a Rehearsal, or the model log. Claim makes the
// importer the owner of the destination. first returns the records that follow the CLAIM; it may be
// nil.
type Destination interface {
	Fold() *modellog.Fold
	Owner() modellog.Owner
	Claim(v modellog.Versions, first func(modellog.Owner) []modellog.Record) error
	Append(times []int64, rs []modellog.Record) error
}

// importer writes the records of a file under its own claims.
type importer struct {
	to     Destination
	model  string
	claims modellog.Versions // versions of the current claim
	signed bool

	times []int64 // times of the records in group
	group []modellog.Record
	size  int
	moved map[int64]modellog.Ref // the snapshots written, by the offsets that their MANIFESTs have in the file
	files [2]hash.Hash           // over the chunks of the snapshot and of the challenger in progress
}

// Write reads a file and writes it to a Destination.
func Write(open func() (io.ReadCloser, error), model string, to Destination, report func(event.Event)) (out Result, err error) {
	file, err := open()
	if err != nil {
		return out, err
	}
	defer file.Close()
	r, err := backup.NewReader(file)
	if err != nil {
		return out, err
	}
	out.Header = r.Header
	if r.Header.Model != model {
		return out, fmt.Errorf("%w: the export contains model %q, the configuration is for %q", Err, r.Header.Model, model)
	}
	i := &importer{to: to, model: model, moved: map[int64]modellog.Ref{}}
	if err := i.begin(r.Header); err != nil {
		return out, err
	}
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = i.add(rec)
		}
		if err != nil {
			return out, err
		}
		if n, _ := r.Sum(); n%1000 == 0 {
			report(event.Copying{Records: n})
		}
	}
	if err := i.flush(); err != nil {
		return out, err
	}
	out.Records, out.SHA256 = r.Sum()
	out.Signed = i.signed
	return out, i.arrived(r.Header)
}

// begin claims the log and writes the GENESIS, with the options if the history begins
// at a snapshot.
func (i *importer) begin(h backup.Header) error {
	i.claims = h.Begin.Versions
	return i.to.Claim(i.claims, func(o modellog.Owner) []modellog.Record {
		rs := []modellog.Record{&modellog.Genesis{
			Owner: o, Model: h.Model, Seq: h.Begin.Seq, Chain: h.Begin.Chain, Import: h.Seq, Versions: h.Begin.Versions,
		}}
		if len(h.Begin.Config) > 0 {
			rs = append(rs, &modellog.Config{Owner: o, Hash: sha256.Sum256(h.Begin.Config), Config: h.Begin.Config})
		}
		return rs
	})
}

const (
	groupBytes   = 600 << 10 // bytes of one append, which has to fit into a record batch of 1 MiB
	groupRecords = 500
)

// add writes a record, as the owner of the log.
func (i *importer) add(r backup.Record) error {
	switch rec := r.Record.(type) {
	case *modellog.Claim, *modellog.Genesis, *modellog.Imported:
		return fmt.Errorf("%w: unexpected %s in an export", snapshot.ErrCorrupt, rec.Type())
	case *modellog.Upgrade:
		if err := i.as(rec.Versions); err != nil {
			return err
		}
	case *modellog.Rollback:
		if err := i.flush(); err != nil {
			return err
		}
		v, ok := i.to.Fold().VersionsAt(rec.ToSeq)
		if !ok {
			return fmt.Errorf("%w: %v: the export does not have seq %d", snapshot.ErrMismatch, rec, rec.ToSeq)
		}
		if err := i.as(v); err != nil {
			return err
		}
	}
	if i.size+r.Size > groupBytes || len(i.group) == groupRecords {
		if err := i.flush(); err != nil {
			return err
		}
	}
	i.signed = modellog.Reown(r.Record, i.to.Owner()) || i.signed
	var complete *modellog.Manifest
	var finish func() error
	switch rec := r.Record.(type) {
	case *modellog.Chunk:
		i.hash(rec)
	case *modellog.Serving:
		if !i.move(&rec.Snapshot) {
			return nil // its snapshot is not in the file
		}
	case *modellog.Manifest:
		if rec.Gate != nil {
			i.move(&rec.Gate.Champion)
		}
		complete, finish = rec, func() error { return i.to.Fold().Finish(rec) }
	case *modellog.Challenger:
		complete, finish = &rec.Manifest, func() error { return i.to.Fold().FinishChallenger(rec) }
	}
	if complete != nil {
		if err := i.whole(complete, r.Record.Type() == "challenger"); err != nil {
			return err
		}
		if err := i.flush(); err != nil { // the chunks
			return err
		}
		if err := finish(); err != nil {
			return fmt.Errorf("%w: %w", snapshot.ErrMismatch, err)
		}
	}
	i.times, i.group, i.size = append(i.times, r.Time), append(i.group, r.Record), i.size+r.Size
	if complete != nil {
		if err := i.flush(); err != nil {
			return err
		}
	}
	if m, ok := r.Record.(*modellog.Manifest); ok {
		if all := i.to.Fold().Snapshots(); len(all) > 0 && all[0].Manifest.Snapshot == m.Snapshot {
			i.moved[r.Offset] = modellog.RefTo(all[0].Manifest, all[0].Offset)
		}
	}
	return nil
}

// move changes ref to name the same snapshot at the place where it was written, and reports whether
// it was written.
func (i *importer) move(ref *modellog.Ref) bool {
	to, ok := i.moved[ref.Offset]
	if ok {
		*ref = to
	}
	return ok
}

// as makes sure that the current claim has the versions v.
func (i *importer) as(v modellog.Versions) error {
	if i.claims == v {
		return nil
	}
	if err := i.flush(); err != nil {
		return err
	}
	i.claims = v
	return i.to.Claim(v, nil)
}

func (i *importer) flush() error {
	if len(i.group) == 0 {
		return nil
	}
	err := i.to.Append(i.times, i.group)
	i.times, i.group, i.size = nil, nil, 0
	return err
}

func index(challenger bool) int {
	if challenger {
		return 1
	}
	return 0
}

// hash adds a chunk to the hash of its file.
func (i *importer) hash(c *modellog.Chunk) {
	h := &i.files[index(c.Challenger)]
	if c.Index == 0 || *h == nil {
		*h = sha256.New()
	}
	(*h).Write(c.Data)
}

// whole returns an error unless the chunks before m make up the file that m describes.
func (i *importer) whole(m *modellog.Manifest, challenger bool) error {
	h := i.files[index(challenger)]
	if h == nil || snapshot.Hash(h.Sum(nil)) != m.SHA256 || m.Model != i.model {
		return fmt.Errorf("%w: the chunks before %v are not its file, or it is not of the model %q", snapshot.ErrCorrupt, m, i.model)
	}
	return nil
}

// arrived returns an error unless the log has the history that the header describes.
func (i *importer) arrived(h backup.Header) error {
	f := i.to.Fold()
	var newest *backup.Snapshot
	if s := f.Snapshots(); len(s) > 0 {
		m := s[0].Manifest
		newest = &backup.Snapshot{Seq: m.Seq, Step: m.Step, StateHash: m.StateHash}
	}
	if f.Seq() != h.Seq || f.Chain() != h.Chain || (newest == nil) != (h.Snapshot == nil) || newest != nil && *newest != *h.Snapshot {
		return fmt.Errorf("%w: the records lead to seq %d, but the header states seq %d, or another chain or snapshot", snapshot.ErrMismatch, f.Seq(), h.Seq)
	}
	if _, ok := f.Recover(0); !ok {
		return fmt.Errorf("%w: the export has neither the beginning of the history nor a snapshot", snapshot.ErrMismatch)
	}
	return nil
}
