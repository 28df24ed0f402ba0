package main

import (
	"context"
	"crypto/ed25519"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline"
	"github.com/accrete-ml/accrete/serve"
)

// importances computes those of the snapshot that scorers serve, which it reads from the
// model log: only while somebody looks at the page, and so that nothing is kept in memory.
func importances(client *ingest.Client, model string, key ed25519.PublicKey) page.Importances {
	return func(ctx context.Context) ([]serve.Importance, int64, error) {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		s, err := serve.NewFollower(client, pipeline.LogTopic(model), key, func(string, error) {}).Next(ctx)
		if err != nil {
			return nil, 0, err
		}
		all, err := s.Importance()
		return all, s.ID.Step, err
	}
}
