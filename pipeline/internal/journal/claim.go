package journal

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// Claim makes this process the writer of the log, with the versions v. The last claim wins and
// fences the previous writer. with, which may be nil, returns records that are appended in the same
// batch, after the claim.
func (j *Journal) Claim(ctx context.Context, v modellog.Versions, with func(modellog.Owner) []modellog.Record) error {
	for {
		f := j.Log.Fold
		if j.Owner == (modellog.Owner{}) {
			if err := j.Complete(); err != nil {
				return err
			}
		}
		if !f.Seeded() && !planted.Fault("unseeded") { // any claim would then be void
			return fmt.Errorf("%w: the model log %q has lost its beginning, and no snapshot in it is usable", snapshot.ErrCorrupt, j.Topic)
		}
		c := &modellog.Claim{
			Owner: modellog.Owner{Epoch: f.Claim().Epoch + 1}, Host: Host(),
			TopicID: j.Log.ID(), Versions: v, Writer: j.writer,
		}
		rand.Read(c.Nonce[:])
		rs := []modellog.Record{c}
		if with != nil {
			rs = append(rs, with(c.Owner)...)
		}
		if err := j.Write(ctx, rs...); err != nil {
			return err
		}
		now := j.Log.Fold.Claim()
		if now.Owner == c.Owner || planted.Fault("owner") && now.Epoch == c.Epoch {
			j.Owner = c.Owner
			return nil
		}
		if now.Epoch < c.Epoch && !planted.Fault("unseeded") {
			return fmt.Errorf("%w: the claim of the model log %q is void: set snapshot.sign_key_file to the private key of snapshot.verify_key_file", modellog.ErrSignature, j.Topic)
		}
	}
}

// Begin claims the log for a learner. An empty log begins after seq.
func (j *Journal) Begin(ctx context.Context, c model.Config, options []byte, seq int64) error {
	if err := j.Trusted(c); err != nil {
		return err
	}
	err := j.Claim(ctx, c.Versions(), func(o modellog.Owner) []modellog.Record {
		if j.Log.Fold.Claim().Epoch > 0 {
			return nil
		}
		return []modellog.Record{
			&modellog.Genesis{Owner: o, Model: c.Model, TopicID: j.Log.ID(), Seq: seq, Versions: c.Versions(), Writer: j.writer},
			&modellog.Config{Owner: o, Hash: sha256.Sum256(options), Config: options},
		}
	})
	if err != nil || j.Log.Fold.Genesis().Versions == c.Versions() {
		return err
	}
	if err := j.SameVersions(c); err != nil { // the previous owner may have decided something before the claim
		return err
	}
	f := j.Log.Fold
	u := &modellog.Upgrade{Owner: j.Owner, Seq: f.Seq() + 1, Versions: c.Versions(), Writer: j.writer}
	u.Chain = modellog.NextChain(f.Chain(), u)
	return j.Append(ctx, u)
}

// Complete returns an error if the log has only a part of an imported history.
func (j *Journal) Complete() error {
	f := j.Log.Fold
	if to := f.Genesis().Import; to > 0 && !j.starting {
		return fmt.Errorf("%w: the import of %q, up to seq %d, was interrupted at seq %d or is still running; delete the topic and repeat accrete import", kafkalog.ErrLog, j.Topic, to, f.Seq())
	}
	return nil
}

// Trusted returns an error if the records that this process would write are void for the readers of a
// signed log, among them its owner, or do not pass its own verification.
func (j *Journal) Trusted(c model.Config) error {
	var why string
	switch f := j.Log.Fold; {
	case c.VerifyKey == nil && c.SignKey == nil && f.Signs():
		why = "its owner signs it, and this process has no key: set snapshot.sign_key_file and snapshot.verify_key_file"
	case c.VerifyKey == nil || !f.Genesis().Signed && c.SignKey == nil:
		return nil
	case c.SignKey == nil || !bytes.Equal(c.SignKey.Public().(ed25519.PublicKey), c.VerifyKey):
		why = "set snapshot.sign_key_file to the private key of snapshot.verify_key_file"
	default:
		return nil
	}
	return fmt.Errorf("%w: the model log %q is signed, so unsigned records would be void: %s", modellog.ErrSignature, j.Topic, why)
}

// SameVersions returns an error unless the history has the versions of this program, or can be
// upgraded to them.
func (j *Journal) SameVersions(c model.Config) error {
	f := j.Log.Fold
	have := f.Genesis().Versions
	if f.Claim().Epoch == 0 || have == c.Versions() || planted.Fault("versions") {
		return nil
	}
	if !c.Upgrade {
		return fmt.Errorf("%w: the model log %q has %v, this program has %v: run a program of the log's version%s, or upgrade the model to this program's with accrete learn --upgrade", model.ErrVersion, j.Topic, have, c.Versions(), by(f.Claim().Writer))
	}
	if newest := f.Snapshots(); len(newest) == 0 && f.Seq() > f.Genesis().Seq || len(newest) > 0 && newest[0].Manifest.Seq != f.Seq() {
		return fmt.Errorf("%w: the model log %q has decisions of %v after its newest snapshot, which this program, of %v, would learn differently: start the older program%s once more and stop it, so that it writes a snapshot, or use it to roll back to the newest snapshot (accrete rollback)", model.ErrVersion, j.Topic, have, c.Versions(), by(f.Claim().Writer))
	}
	return nil
}

func by(writer string) string {
	if writer == "" {
		return ""
	}
	return " (" + writer + ")"
}
