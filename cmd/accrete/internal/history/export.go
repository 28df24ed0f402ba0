package history

import (
	"context"
	"fmt"
	"io"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/snapshot"
)

// Export is accrete export.
type Export struct {
	env.ConfigFlags
	env.JSONFlag
	File     string `arg:"" help:"File to write, or to replace; with --mlflow a directory to create."`
	Snapshot bool   `xor:"what" help:"Write one snapshot of the model, as fit --save does, instead of its history."`
	MLflow   bool   `name:"mlflow" xor:"what" help:"Write one snapshot as a model folder of MLflow (docs/python.md)."`
	ONNX     bool   `name:"onnx" xor:"what" help:"Write one snapshot as an ONNX graph, for other runtimes (docs/python.md)."`
	Version  string `placeholder:"VERSION" help:"Snapshot to write: its step, a time such as 2026-01-02T15:04:05Z, or champion for the one that scorers serve (default: the newest)."`
	Model    string `placeholder:"SNAPSHOT" help:"Snapshot file to write with --mlflow or --onnx, instead of one from the model log."`
}

func (Export) Help() string {
	return `Writes the model with its whole history to a file, for a backup or another cluster: the records of the model log that count, from the beginning or, if the log was trimmed, from its oldest snapshot. A learner may run meanwhile. The command refuses a broken log. The file has a checksum and no secrets, but it has the options, the names of the input topics and the classes; only its owner can read it. It does not contain the input or the predictions, but its snapshots have the inputs of the last rows as numbers, and keys (docs/privacy.md).

With --snapshot, --mlflow or --onnx it writes one model, without history: a snapshot file for accrete predict --model, learn --from and the Python package; a folder that mlflow.pyfunc.load_model loads, with the snapshot and the Python code that it needs; or an ONNX graph with the same predictions, for models of numbers, also as normal scores, and booleans.`
}

func (Export) Examples() string {
	return `
accrete export -c accrete.yaml fraud.export
accrete export -c accrete.yaml fraud.export --json
accrete export -c accrete.yaml --snapshot fraud.snap
accrete export -c accrete.yaml --snapshot --version 2026-05-01T00:00:00Z fraud-may.snap
accrete export --mlflow --model spam.snap spam-mlflow
accrete export --onnx --model spam.snap spam.onnx`
}

// CopyReport describes an exported or imported history.
type CopyReport struct {
	Model     string        `json:"model"`
	File      string        `json:"file"`
	Records   int64         `json:"records"`
	SHA256    snapshot.Hash `json:"sha256"`
	FromSeq   int64         `json:"from_seq"` // seq after which the history begins
	Seq       int64         `json:"seq"`
	Snapshot  int64         `json:"snapshot_seq,omitempty"` // seq of the newest snapshot
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
	return s + fmt.Sprintf("; SHA-256 of the export %v", r.SHA256)
}

// Files returns the files that are read and written. A folder of --mlflow must not exist, which
// writing it checks.
func (x *Export) Files() env.Files {
	f := env.Files{Inputs: append(x.ConfigFlags.Inputs(), env.Named{Name: "--model", Path: x.Model})}
	if !x.MLflow {
		f.Outputs = []env.Named{{Name: "the file to write", Path: x.File}}
	}
	return f
}

func (x *Export) Run(ctx context.Context, e *env.Env) error {
	switch {
	case x.Model != "" && !x.MLflow && !x.ONNX:
		return exit.Usage("--model is a snapshot file: add --mlflow or --onnx, or omit it to write a model of the model log")
	case x.Model != "" && x.Version != "":
		return exit.Usage("--model is a snapshot file, and --version names a snapshot of the model log: want one of them")
	case x.Snapshot || x.MLflow || x.ONNX:
		return x.model(ctx, e)
	case x.Version != "":
		return exit.Usage("--version names a snapshot: add --snapshot, --mlflow or --onnx")
	}
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
