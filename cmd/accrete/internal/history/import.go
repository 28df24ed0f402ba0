package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/event"
)

// Import is accrete import.
type Import struct {
	env.ConfigFlags
	env.JSONFlag
	File string `arg:"" help:"File written by accrete export."`
}

func (Import) Help() string {
	return `Writes an exported model with its history to an empty model log, which it creates if necessary. It verifies the whole file before it writes anything. The records are written under new claims, and signed if snapshot.sign_key_file is set: signatures in the file are not kept. If the command is interrupted, no learner accepts the incomplete log: delete the topic and repeat the import. If the input topics have other ids, names or offsets on this cluster, run accrete adopt next; then start the learner.`
}

func (Import) Examples() string {
	return `
accrete import -c accrete.yaml fraud.export`
}

func (i *Import) Run(ctx context.Context, e *env.Env) error {
	_, p, err := setup.OpenWriter(i.ConfigFlags, e)
	if err != nil {
		return err
	}
	defer p.Client.Close()
	progress := e.Progress(false)
	p.Report = progress.EverySecond(func(ev event.Event) string {
		n, ok := ev.(event.Copying)
		if !ok {
			return ""
		}
		return display.Thousands(n.Records) + " records"
	})
	done, err := admin.Import(ctx, p, func() (io.ReadCloser, error) { return os.Open(i.File) })
	progress.Done()
	if errors.Is(err, fs.ErrNotExist) {
		return files.NotFound(i.File)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", i.File, err)
	}
	r := reportOf(i.File, done)
	signed := p.SignKey != nil
	r.Signed = &signed
	text := r.String()
	if done.Signed && !signed {
		text += "\nthe exported log was signed, but this one is not: snapshot.sign_key_file is not set"
	}
	return e.Print(i.JSON, text, r)
}
