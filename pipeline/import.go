package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/backup"
)

// Import writes an exported history to the model log, which must be empty. It reads the
// file twice, through open: the first time to verify all of it, and only then to write.
// GENESIS states up to where the history goes, and until the IMPORTED at the end counts,
// no learner accepts the log.
func Import(ctx context.Context, c Config, open func() (io.ReadCloser, error)) (Copy, error) {
	want, err := importTo(open, c.Model, new(rehearsal), c.Report)
	if err != nil {
		return Copy{}, err
	}
	c.Keep = math.MaxInt
	if err := c.Client.CreateDurable(ctx, LogTopic(c.Model), 1, logConfig); err != nil {
		return Copy{}, fmt.Errorf("create topic %q: %w", LogTopic(c.Model), err)
	}
	c.tolerant = true
	j, err := newJournal(ctx, c)
	if err != nil {
		return Copy{}, err
	}
	if err := j.empty(ctx, c); err != nil {
		return Copy{}, err
	}
	got, err := importTo(open, c.Model, &imports{ctx, j, want.Header}, c.Report)
	if err == nil && got.SHA256 != want.SHA256 {
		err = fmt.Errorf("%w: the export changed while it was read", snapshot.ErrMismatch)
	}
	if err == nil {
		err = j.append(ctx, &modellog.Imported{Owner: j.owner, Seq: want.Header.Seq, Chain: want.Header.Chain})
	}
	if err == nil && j.log.Fold.Genesis().Import != 0 {
		err = fmt.Errorf("%w: the IMPORTED record is void", snapshot.ErrMismatch)
	}
	if err != nil {
		return Copy{}, fmt.Errorf("the import of %q is incomplete, and no learner accepts it: delete the topic and repeat the import: %w", j.topic, err)
	}
	return got, nil
}

// empty returns an error unless the log is, and has always been, empty.
func (j *journal) empty(ctx context.Context, c Config) error {
	if c.VerifyKey != nil && c.SignKey == nil {
		return fmt.Errorf("%w: unsigned records would be void: set snapshot.sign_key_file to the private key of snapshot.verify_key_file", modellog.ErrSignature)
	}
	first, end, err := j.log.Bounds(ctx)
	if err != nil || end == 0 {
		return err
	}
	j.log.Rewind(first)
	if err := j.readOn(ctx, nil); err != nil {
		return err
	}
	if to := j.log.Fold.Genesis().Import; to > 0 {
		return fmt.Errorf("%w: an earlier import to %q, up to seq %d, was interrupted at seq %d, or is still running; delete the topic and repeat the import", ErrCopy, j.topic, to, j.log.Fold.Seq())
	}
	return fmt.Errorf("%w: %q has records, up to seq %d, but an import needs an empty log: delete the topic to replace its history", ErrCopy, j.topic, j.log.Fold.Seq())
}

// destination is where an importer writes: a rehearsal, or the model log.
type destination interface {
	fold() *modellog.Fold
	owner() modellog.Owner
	claim(v modellog.Versions, first func(modellog.Owner) []modellog.Record) error
	append(times []int64, rs []modellog.Record) error
}

// importer writes the records of a file under its own claims.
type importer struct {
	to     destination
	model  string
	claims modellog.Versions // of the current claim
	signed bool

	times []int64 // of group
	group []modellog.Record
	size  int
	files [2]hash.Hash // over the chunks of the snapshot and of the challenger in progress
}

// importTo reads a file and writes it to a destination.
func importTo(open func() (io.ReadCloser, error), model string, to destination, report func(event.Event)) (out Copy, err error) {
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
		return out, fmt.Errorf("%w: the export contains model %q, the configuration is for %q", ErrCopy, r.Header.Model, model)
	}
	i := &importer{to: to, model: model}
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
	return i.to.claim(i.claims, func(o modellog.Owner) []modellog.Record {
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
	groupBytes   = 600 << 10 // of one append, which has to fit into a record batch of 1 MiB
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
		v, ok := i.to.fold().VersionsAt(rec.ToSeq)
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
	i.signed = modellog.Reown(r.Record, i.to.owner()) || i.signed
	var complete *modellog.Manifest
	var finish func() error
	switch rec := r.Record.(type) {
	case *modellog.Chunk:
		i.hash(rec)
	case *modellog.Manifest:
		complete, finish = rec, func() error { return i.to.fold().Finish(rec) }
	case *modellog.Challenger:
		complete, finish = &rec.Manifest, func() error { return i.to.fold().FinishChallenger(rec) }
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
		return i.flush()
	}
	return nil
}

// as makes the current claim one of the versions v.
func (i *importer) as(v modellog.Versions) error {
	if i.claims == v {
		return nil
	}
	if err := i.flush(); err != nil {
		return err
	}
	i.claims = v
	return i.to.claim(v, nil)
}

func (i *importer) flush() error {
	if len(i.group) == 0 {
		return nil
	}
	err := i.to.append(i.times, i.group)
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

// whole returns an error unless the chunks before m are the file that it describes.
func (i *importer) whole(m *modellog.Manifest, challenger bool) error {
	h := i.files[index(challenger)]
	if h == nil || snapshot.Hash(h.Sum(nil)) != m.SHA256 || m.Model != i.model {
		return fmt.Errorf("%w: the chunks before %v are not its file, or it is not of the model %q", snapshot.ErrCorrupt, m, i.model)
	}
	return nil
}

// arrived returns an error unless the log has the history that the header describes.
func (i *importer) arrived(h backup.Header) error {
	f := i.to.fold()
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

// rehearsal is a destination that only decides which records count.
type rehearsal struct {
	log *modellog.Fold
	now modellog.Owner
}

func (r *rehearsal) fold() *modellog.Fold  { return r.log }
func (r *rehearsal) owner() modellog.Owner { return r.now }

func (r *rehearsal) claim(v modellog.Versions, first func(modellog.Owner) []modellog.Record) error {
	if r.log == nil {
		r.log = modellog.NewFold(0, math.MaxInt)
	}
	r.now = modellog.Owner{Epoch: r.now.Epoch + 1, Nonce: snapshot.ID{1}}
	rs := []modellog.Record{&modellog.Claim{Owner: r.now, Versions: v}}
	if first != nil {
		rs = append(rs, first(r.now)...)
	}
	return r.append(nil, rs)
}

func (r *rehearsal) append(_ []int64, rs []modellog.Record) error {
	for _, rec := range rs {
		if _, _, err := modellog.Encode(rec); err != nil {
			return fmt.Errorf("%w: %w", snapshot.ErrCorrupt, err)
		}
		if v := r.log.Judge(r.log.Next(), rec); !v.Counts() {
			return fmt.Errorf("%w: a record of the export would be void: %v", snapshot.ErrMismatch, v)
		}
	}
	return nil
}

// imports is the model log as a destination.
type imports struct {
	ctx     context.Context
	journal *journal
	header  backup.Header
}

func (d *imports) fold() *modellog.Fold  { return d.journal.log.Fold }
func (d *imports) owner() modellog.Owner { return d.journal.owner }

func (d *imports) claim(v modellog.Versions, first func(modellog.Owner) []modellog.Record) error {
	j := d.journal
	if first == nil {
		return j.claim(d.ctx, v, nil)
	}
	var genesis *modellog.Genesis
	err := j.claim(d.ctx, v, func(o modellog.Owner) []modellog.Record {
		rs := first(o)
		genesis = rs[0].(*modellog.Genesis)
		genesis.TopicID, genesis.Writer = j.log.ID(), j.writer
		return rs
	})
	f := j.log.Fold
	if err == nil && (f.Genesis().Import != d.header.Seq || f.Seq() != d.header.Begin.Seq || f.Claim().Epoch != 1) {
		err = errors.Join(ErrCopy, fmt.Errorf("another process has written to the log %q meanwhile", j.topic))
	}
	return err
}

func (d *imports) append(times []int64, rs []modellog.Record) error {
	j := d.journal
	if err := j.lock(d.ctx); err != nil {
		return err
	}
	defer j.unlock()
	if j.lost == nil {
		j.lost = j.writeAt(d.ctx, times, rs...)
	}
	if j.lost == nil {
		j.lost = j.fenced()
	}
	return j.lost
}
