package draft

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
)

// fieldRecords bounds the search for the names of fields: it reads this many records of a partition
// at most, and no further partition once it has read as many in total.
const fieldRecords = 100

// fields returns the names of the fields of the oldest records of a topic.
func fields(ctx context.Context, e *env.Env, client *ingest.Client, topic string) ([]string, error) {
	first, end, err := client.Offsets(ctx, topic)
	if err != nil {
		return nil, err
	}
	seen, records := map[string]bool{}, 0
	for p := range end {
		if first[p] >= end[p] || records >= fieldRecords {
			continue
		}
		var got ingest.Fetched
		err := ingest.Retry(ctx, e.WarnOfRetry, func() (err error) {
			got, err = client.Fetcher(topic, p).Poll(ctx, first[p])
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, r := range got.Records[:min(len(got.Records), fieldRecords)] {
			var object map[string]json.RawMessage
			if json.Unmarshal(r.Value, &object) == nil {
				records++
				for name := range object {
					seen[name] = true
				}
			}
		}
	}
	if records == 0 {
		return nil, exit.Refuse(fmt.Errorf("topic %s has no records that are JSON objects", topic))
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// labelNames are the names that labels usually have.
var labelNames = []string{"label", "labels", "y", "target", "class", "outcome"}

// guess returns the only field that has the name of a label.
func guess(fields []string) (string, error) {
	var found []string
	for _, f := range fields {
		name := strings.ToLower(f)
		if slices.Contains(labelNames, name) || strings.HasPrefix(name, "is_") || strings.HasSuffix(name, "_label") {
			found = append(found, f)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", exit.Refuse(errors.New("which field is the label? Choose one with --label: " + some(fields, 50)))
	}
	return "", exit.Refuse(fmt.Errorf("which field is the label, %s? Choose one with --label", strings.Join(found, " or ")))
}
