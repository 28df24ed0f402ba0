package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/version"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/pipeline/audit"
	"github.com/accrete-ml/accrete/python"
	"github.com/accrete-ml/accrete/serve/onnx"
	"github.com/accrete-ml/accrete/snapshot"
)

// ModelReport describes an exported model.
type ModelReport struct {
	Model     string        `json:"model"`
	File      string        `json:"file"`
	Step      int64         `json:"step"`
	Seq       int64         `json:"seq"`
	Lineage   snapshot.Hash `json:"lineage"`
	StateHash snapshot.Hash `json:"state_hash"`
}

// model exports one snapshot.
func (x *Export) model(ctx context.Context, e *env.Env) error {
	s, file, err := x.read(ctx, e)
	if err != nil {
		return err
	}
	switch {
	case x.MLflow:
		err = writeMLflow(x.File, s, file)
	case x.ONNX:
		err = writeONNX(ctx, x.File, s)
	default:
		err = files.Write(ctx, x.File, file)
	}
	if err != nil {
		return err
	}
	r := ModelReport{s.Model, x.File, s.Step, s.Seq, s.Lineage, s.StateHash}
	return e.Print(x.JSON, fmt.Sprintf("%s: the model at step %d, state %v", x.File, r.Step, r.StateHash), r)
}

// read returns the snapshot to write, and its file.
func (x *Export) read(ctx context.Context, e *env.Env) (*snapshot.Snapshot, []byte, error) {
	if x.Model != "" {
		file, err := files.ReadSnapshot(x.Model)
		if err != nil {
			return nil, nil, err
		}
		s, err := snapshot.Decode(file, 0)
		if err != nil {
			return nil, nil, exit.Refuse(fmt.Errorf("%s: %w", x.Model, err))
		}
		return s, file, nil
	}
	_, p, err := setup.OpenWriter(x.ConfigFlags, e)
	if err != nil {
		return nil, nil, err
	}
	defer p.Client.Close()
	s, err := audit.Snapshot(ctx, p, x.Version)
	if errors.Is(err, audit.ErrVersion) {
		return nil, nil, exit.Refuse(err)
	}
	if err != nil {
		return nil, nil, err
	}
	s.Info = snapshot.Info{Writer: "accrete " + version.String(), Time: time.Now().UnixMilli()}
	file, err := snapshot.Append(nil, s)
	return s, file, err
}

// writeONNX writes the model as an ONNX graph. Only its owner can read the file, as with a
// snapshot.
func writeONNX(ctx context.Context, name string, s *snapshot.Snapshot) error {
	graph, err := onnx.Encode(s)
	if err != nil {
		return exit.Refuse(err)
	}
	return files.Write(ctx, name, graph)
}

// mlflowModel is the file MLmodel of a folder. The package of python/ reads the snapshot.
const mlflowModel = `flavors:
  python_function:
    loader_module: accrete.mlflow
    code: code
    data: model.snap
    env: {conda: conda.yaml, virtualenv: python_env.yaml}
model_uuid: '%.16x'
utc_time_created: '%s'
metadata: {model: %q, step: %d, seq: %d, lineage: %q, state_hash: %q}
`

const (
	mlflowRequirements = "mlflow\nnumpy>=1.22\npandas\n"
	mlflowVirtualenv   = "python: '3.10'\nbuild_dependencies: [pip]\ndependencies: [-r requirements.txt]\n"
	mlflowConda        = "name: accrete\nchannels: [conda-forge]\ndependencies:\n- python=3.10\n- pip\n- pip: [mlflow, numpy>=1.22, pandas]\n"
)

// writeMLflow writes a model folder. It appears under its name once it is complete.
func writeMLflow(dir string, s *snapshot.Snapshot, file []byte) error {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return exit.Usage("%s exists already: name a directory to create", dir)
	}
	windows := func(a learner.Array) bool { return strings.HasPrefix(a.Name, "windows.") }
	if slices.ContainsFunc(s.State.Serving, windows) {
		return exit.Refuse(errors.New("the Python package of the folder has no windows: create the model without input.windows (fit --windows)"))
	}
	temporary, err := os.MkdirTemp(filepath.Dir(filepath.Clean(dir)), ".mlflow-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	at := time.UnixMilli(s.Info.Time).UTC().Format("2006-01-02 15:04:05.000000")
	for name, text := range map[string][]byte{
		"MLmodel":          fmt.Appendf(nil, mlflowModel, s.StateHash[:], at, s.Model, s.Step, s.Seq, s.Lineage, s.StateHash),
		"model.snap":       file,
		"requirements.txt": []byte(mlflowRequirements),
		"python_env.yaml":  []byte(mlflowVirtualenv),
		"conda.yaml":       []byte(mlflowConda),
	} {
		if err := os.WriteFile(filepath.Join(temporary, name), text, 0o600); err != nil {
			return err
		}
	}
	if err := os.CopyFS(filepath.Join(temporary, "code"), python.Package); err != nil {
		return err
	}
	return os.Rename(temporary, dir)
}
