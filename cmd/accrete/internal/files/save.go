package files

import (
	"context"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/version"
	"github.com/accrete-ml/accrete/snapshot"
)

// Save writes s to the file of --save, and who wrote it when. It does nothing without a name.
func Save(ctx context.Context, path string, s *snapshot.Snapshot) error {
	if path == "" {
		return nil
	}
	s.Info = snapshot.Info{Writer: "accrete " + version.String(), Time: time.Now().UnixMilli()}
	file, err := snapshot.Append(nil, s)
	if err == nil {
		err = Write(ctx, path, file)
	}
	if err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	return nil
}

// Write creates or replaces a file. With a named pipe, it waits for a reader until ctx is done.
func Write(ctx context.Context, path string, b []byte) error {
	f, err := Create(ctx, path)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Commit()
}
