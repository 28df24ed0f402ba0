package main

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"slices"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/inputs"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/page"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/serve"
)

// importances returns a function that computes the importances of the input fields in the snapshot
// that scorers serve. It reads the snapshot from the model log at each call: the page calls it only
// while somebody looks, and nothing is kept in memory.
func importances(client *ingest.Client, name string, key ed25519.PublicKey) page.Importances {
	return func(ctx context.Context) ([]page.Importance, int64, error) {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		s, err := serve.NewFollower(client, model.LogTopic(name), key, func(string, error) {}).Next(ctx)
		if err != nil {
			return nil, 0, err
		}
		indices, err := s.Importance()
		if err != nil {
			return nil, 0, err
		}
		var all []page.Importance
		for i, v := range inputs.ByField(&s.Schema, indices) {
			all = append(all, page.Importance{Name: s.Schema.Fields()[i].Name, Index: v})
		}
		slices.SortStableFunc(all, func(a, b page.Importance) int { return cmp.Compare(b.Index, a.Index) })
		return all, s.ID.Step, nil
	}
}
