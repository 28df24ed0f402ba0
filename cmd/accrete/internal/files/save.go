package files

import (
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/version"
	"github.com/accrete-ml/accrete/snapshot"
)

// Save writes s to the file of --save, and who wrote it when. It does nothing without a name.
func Save(path string, s *snapshot.Snapshot) error {
	if path == "" {
		return nil
	}
	s.Info = snapshot.Info{Writer: "accrete " + version.String(), Time: time.Now().UnixMilli()}
	file, err := snapshot.Append(nil, s)
	if err == nil {
		err = snapshot.WriteFile(path, file)
	}
	if err != nil {
		return fmt.Errorf("--save: %w", err)
	}
	return nil
}
