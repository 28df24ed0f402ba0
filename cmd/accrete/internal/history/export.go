package history

import (
	"context"
	"fmt"
	"io"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/snapshot"
)

// Export is accrete export.
type Export struct {
	env.ConfigFlags
	env.JSONFlag
	File string `arg:"" help:"File to write, or to replace."`
}

func (Export) Help() string {
	return `Writes the model with its whole history to a file, for a backup or another cluster: the records of the model log that count, from the beginning or, if the log was trimmed, from its oldest snapshot. A learner may run meanwhile. The command refuses a broken log. The file has a checksum and no secrets, but it has the options, the names of the input topics and the classes; only its owner can read it. It does not contain input or predictions.`
}

func (Export) Examples() string {
	return `
accrete export -c accrete.yaml fraud.export
accrete export -c accrete.yaml fraud.export --json`
}

// CopyReport describes an exported or imported history.
type CopyReport struct {
	Model     string        `json:"model"`
	File      string        `json:"file"`
	Records   int64         `json:"records"`
	SHA256    snapshot.Hash `json:"sha256"`
	FromSeq   int64         `json:"from_seq"` // after which it begins
	Seq       int64         `json:"seq"`
	Snapshot  int64         `json:"snapshot_seq,omitempty"` // of the newest
	StateHash snapshot.Hash `json:"state_hash,omitzero"`
	Signed    *bool         `json:"signed,omitempty"` // of an import
}

func reportOf(file string, c admin.Copy) CopyReport {
	r := CopyReport{Model: c.Header.Model, File: file, Records: c.Records, SHA256: c.SHA256, FromSeq: c.Header.Begin.Seq, Seq: c.Header.Seq}
	if s := c.Header.Snapshot; s != nil {
		r.Snapshot, r.StateHash = s.Seq, s.StateHash
	}
	return r
}

func (r CopyReport) String() string {
	s := fmt.Sprintf("%s: %s records, seqs %d to %d", r.Model, display.Thousands(r.Records), r.FromSeq+1, r.Seq)
	if r.Snapshot > 0 {
		s += fmt.Sprintf("; newest snapshot at seq %d, state %v", r.Snapshot, r.StateHash)
	}
	return s + fmt.Sprintf("; SHA-256 of the records %v", r.SHA256)
}

func (x *Export) Run(ctx context.Context, e *env.Env) error {
	_, p, err := setup.OpenWriter(x.ConfigFlags, e)
	if err != nil {
		return err
	}
	defer p.Client.Close()
	var done admin.Copy
	err = snapshot.WriteStream(x.File, func(w io.Writer) (err error) {
		done, err = admin.Export(ctx, p, w)
		return err
	})
	if err != nil {
		return err
	}
	r := reportOf(x.File, done)
	return e.Print(x.JSON, r.String(), r)
}
