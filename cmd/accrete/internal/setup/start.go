package setup

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
)

// Start returns how a new model begins: with the snapshot or the rows in a file, unless
// path is empty, and at the positions that from describes. It is nil if both are empty.
func Start(ctx context.Context, e *env.Env, c *config.Config, path, from string) (*model.Start, error) {
	if path == "" && from == "" {
		return nil, nil
	}
	at, err := model.ParseFrom(from)
	if err != nil {
		return nil, exit.Usage("--from-offsets %w", err)
	}
	s := &model.Start{From: at}
	if path == "" {
		return s, nil
	}
	if s.Name = filepath.Base(path); path == "-" {
		return nil, exit.Usage("--from needs a file, which can be read twice")
	}
	model := false
	if s.SHA256, model, err = digest(path); err != nil {
		return nil, err
	}
	if model {
		if s.Snapshot, err = files.ReadSnapshot(path); err == nil && snapshot.Hash(sha256.Sum256(s.Snapshot)) != s.SHA256 {
			err = fmt.Errorf("%s has changed while it was read", path)
		}
		return s, err
	}
	s.Rows = unchanged(s, path, func(yield func([]byte) error) error { return rows(ctx, e, c, path, yield) })
	if files.ReadOtherwise(path) {
		s.Earlier = unchanged(s, path, func(yield func([]byte) error) error { return earlierRows(ctx, c, path, yield) })
	}
	return s, nil
}

// unchanged returns read with an error if the file is not the one that s names, after it was read.
func unchanged(s *model.Start, path string, read func(yield func([]byte) error) error) func(yield func([]byte) error) error {
	return func(yield func([]byte) error) error {
		if err := read(yield); err != nil {
			return err
		}
		now, _, err := digest(path)
		if err == nil && now != s.SHA256 {
			err = fmt.Errorf("%s has changed while it was read", path)
		}
		return err
	}
}

// digest returns the SHA-256 of a file, and whether it is a snapshot.
func digest(path string) (sum snapshot.Hash, model bool, err error) {
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return sum, false, files.NotFound(path)
	}
	if err != nil {
		return sum, false, exit.Usage("%w", err)
	}
	defer file.Close()
	h := sha256.New()
	head := make([]byte, snapshot.HeadBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return sum, false, err
	}
	h.Write(head[:n])
	if _, err := io.Copy(h, file); err != nil {
		return sum, false, err
	}
	return snapshot.Hash(h.Sum(nil)), snapshot.Is(head[:n]), nil
}

// rows yields the rows of a file as the records that accrete feed writes.
func rows(ctx context.Context, e *env.Env, c *config.Config, path string, yield func([]byte) error) error {
	d, err := Decode(c)
	if err != nil {
		return err
	}
	d.Format = ""
	file, err := files.Open(ctx, e, path, d, decode.Schema{})
	if err != nil {
		return err
	}
	return records(ctx, file, yield)
}

// earlierRows is rows for versions that read the file in another way.
func earlierRows(ctx context.Context, c *config.Config, path string, yield func([]byte) error) error {
	d, err := Decode(c)
	if err != nil {
		return err
	}
	d.Format = ""
	file, err := files.OpenEarlier(path, d)
	if err != nil {
		return err
	}
	return records(ctx, file, yield)
}

// records yields the rows of a file, and closes it.
func records(ctx context.Context, file *decode.File, yield func([]byte) error) error {
	defer file.Close()
	for ctx.Err() == nil {
		if err := file.Skip(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		value, err := file.Record(nil)
		if err != nil {
			return fmt.Errorf("%w (correct the file: a history is learned completely or not at all)", err)
		}
		if err := yield(value); err != nil {
			return err
		}
	}
	return ctx.Err()
}
