package pipeline

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/planted"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// ErrVersion means that the model log was written by a program with another version of
// the arithmetic or the decoder.
var ErrVersion = errors.New("another version of the arithmetic")

// versions are those of this program. Tests change them.
var versions = modellog.Versions{Arithmetic: learner.Arithmetic, Decoder: decode.Version}

// Versions returns the versions of this program's arithmetic and decoder for the
// algorithm of c.
func (c Config) Versions() modellog.Versions {
	v := versions
	v.Arithmetic += c.Learner.Arithmetic() - learner.Arithmetic
	return v
}

// claim makes this process the writer of the log, with the versions v. The last claim
// wins and fences the previous writer. The records that with returns are appended in
// the same batch after the claim; with may be nil.
func (j *journal) claim(ctx context.Context, v modellog.Versions, with func(modellog.Owner) []modellog.Record) error {
	for {
		f := j.log.Fold
		if j.owner == (modellog.Owner{}) {
			if err := j.complete(); err != nil {
				return err
			}
		}
		if !f.Seeded() && !planted.Fault("unseeded") { // and so any claim would be void
			return fmt.Errorf("%w: the model log %q has lost its beginning, and no snapshot in it is usable", snapshot.ErrCorrupt, j.topic)
		}
		c := &modellog.Claim{
			Owner: modellog.Owner{Epoch: f.Claim().Epoch + 1}, Host: host(),
			TopicID: j.log.ID(), Versions: v, Writer: j.writer,
		}
		rand.Read(c.Nonce[:])
		rs := []modellog.Record{c}
		if with != nil {
			rs = append(rs, with(c.Owner)...)
		}
		if err := j.write(ctx, rs...); err != nil {
			return err
		}
		now := j.log.Fold.Claim()
		if now.Owner == c.Owner || planted.Fault("owner") && now.Epoch == c.Epoch {
			j.owner = c.Owner
			return nil
		}
		if now.Epoch < c.Epoch && !planted.Fault("unseeded") {
			return fmt.Errorf("%w: the claim of the model log %q is void: set snapshot.sign_key_file to the private key of snapshot.verify_key_file", modellog.ErrSignature, j.topic)
		}
	}
}

// begin claims the log for a learner. An empty log begins after seq.
func (j *journal) begin(ctx context.Context, c Config, options []byte, seq int64) error {
	if err := j.trusted(c); err != nil {
		return err
	}
	err := j.claim(ctx, c.Versions(), func(o modellog.Owner) []modellog.Record {
		if j.log.Fold.Claim().Epoch > 0 {
			return nil
		}
		return []modellog.Record{
			&modellog.Genesis{Owner: o, Model: c.Model, TopicID: j.log.ID(), Seq: seq, Versions: c.Versions(), Writer: j.writer},
			&modellog.Config{Owner: o, Hash: sha256.Sum256(options), Config: options},
		}
	})
	if err != nil || j.log.Fold.Genesis().Versions == c.Versions() {
		return err
	}
	if err := j.sameVersions(c); err != nil { // the owner before may have decided until the claim
		return err
	}
	f := j.log.Fold
	u := &modellog.Upgrade{Owner: j.owner, Seq: f.Seq() + 1, Versions: c.Versions(), Writer: j.writer}
	u.Chain = modellog.NextChain(f.Chain(), u)
	return j.append(ctx, u)
}

// complete returns an error if the log has only a part of an imported history.
func (j *journal) complete() error {
	f := j.log.Fold
	if to := f.Genesis().Import; to > 0 && !j.starting {
		return fmt.Errorf("%w: the import of %q, up to seq %d, was interrupted at seq %d or is still running; delete the topic and repeat accrete import", ErrLog, j.topic, to, f.Seq())
	}
	return nil
}

// trusted returns an error if the records that this process would write do not pass
// its own verification.
func (j *journal) trusted(c Config) error {
	if c.VerifyKey == nil || !j.log.Fold.Genesis().Signed && c.SignKey == nil {
		return nil
	}
	if c.SignKey == nil || !bytes.Equal(c.SignKey.Public().(ed25519.PublicKey), c.VerifyKey) {
		return fmt.Errorf("%w: the model log %q is signed, so unsigned records would be void: set snapshot.sign_key_file to the private key of snapshot.verify_key_file", modellog.ErrSignature, j.topic)
	}
	return nil
}

// sameVersions returns an error unless the history is of this program's versions or
// can be upgraded to them.
func (j *journal) sameVersions(c Config) error {
	f := j.log.Fold
	have := f.Genesis().Versions
	if f.Claim().Epoch == 0 || have == c.Versions() || planted.Fault("versions") {
		return nil
	}
	if !c.Upgrade {
		return fmt.Errorf("%w: the model log %q has %v, this program has %v: run a program of the log's version%s, or upgrade the model to this program's with accrete learn --upgrade", ErrVersion, j.topic, have, c.Versions(), by(f.Claim().Writer))
	}
	if newest := f.Snapshots(); len(newest) == 0 && f.Seq() > f.Genesis().Seq || len(newest) > 0 && newest[0].Manifest.Seq != f.Seq() {
		return fmt.Errorf("%w: the model log %q has decisions of %v after its newest snapshot, which this program, of %v, would learn differently: start the older program%s once more and stop it, so that it writes a snapshot, or use it to roll back to the newest snapshot (accrete rollback)", ErrVersion, j.topic, have, c.Versions(), by(f.Claim().Writer))
	}
	return nil
}

func by(writer string) string {
	if writer == "" {
		return ""
	}
	return " (" + writer + ")"
}
