package setup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
)

// ErrNoSnapshot reports a model log without a snapshot that can be used.
var ErrNoSnapshot = errors.New("no complete snapshot")

// snapshotWithin is how long a command waits for a snapshot in a log.
const snapshotWithin = 10 * time.Second

// NewestModel returns the newest model in the log that the configuration names. The error
// is ingest.ErrUnknownTopic if there is no log, and ErrNoSnapshot if it has no snapshot.
func NewestModel(ctx context.Context, e *env.Env, c *config.Config, client *ingest.Client) (s *serve.Served, err error) {
	_, key, err := Keys(c)
	if err != nil {
		return nil, err
	}
	log := model.LogTopic(c.Model)
	f := serve.NewFollower(client, log, key, func(id string, err error) {
		e.Log.Warn().Str("snapshot", id).Err(err).Msg("unusable snapshot, using the one before it")
	})
	read := false // whether the log was read up to its end
	f.Polled = func() { read = true }
	within, cancel := context.WithCancel(ctx) // a deadline would look like that of a request
	defer cancel()
	defer time.AfterFunc(snapshotWithin, cancel).Stop()
	for wait := new(ingest.Backoff); ; {
		s, err = f.Next(within)
		switch {
		case err == nil, ctx.Err() != nil, errors.Is(err, ingest.ErrUnknownTopic):
			return s, err
		case within.Err() != nil && read:
			return nil, fmt.Errorf("%s has %w", log, ErrNoSnapshot)
		case within.Err() != nil:
			return nil, fmt.Errorf("%w: %s could not be read within %v", ingest.ErrUnreachable, log, snapshotWithin)
		case errors.Is(err, ingest.ErrUnreachable):
			return nil, err
		case !ingest.Temporary(err):
			return nil, err
		}
		wait.Pause(within, err)
	}
}
