package draft

import (
	"bytes"
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
	"github.com/accrete-ml/accrete/ingest/decode/framing"
)

// fieldRecords bounds the search for the names of fields: it reads this many records of a partition
// at most, and no further partition once it has read as many in total.
const fieldRecords = 100

// oldest returns the oldest records of a topic.
func oldest(ctx context.Context, e *env.Env, client *ingest.Client, topic string) (all []ingest.Record, err error) {
	first, end, err := client.Offsets(ctx, topic)
	if err != nil {
		return nil, err
	}
	for p := range end {
		if first[p] >= end[p] || len(all) >= fieldRecords {
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
		all = append(all, got.Records[:min(len(got.Records), fieldRecords)]...)
	}
	return all, nil
}

// plain returns an error if most of the records of a topic are of another format than plain JSON objects.
func plain(topic string, records []ingest.Record) error {
	framed, events := 0, 0
	for _, r := range records {
		var event struct {
			Version string          `json:"specversion"`
			Data    json.RawMessage `json:"data"`
		}
		switch {
		case slices.ContainsFunc(r.Headers, func(h ingest.Header) bool { return h.Key == framing.Header }), len(r.Value) > 5 && r.Value[0] == 0:
			framed++
		case json.Unmarshal(r.Value, &event) == nil && event.Version != "" && event.Data != nil:
			events++
		}
	}
	const advice = "init reads plain JSON only. Write a configuration from accrete lint --reference, with input.format: "
	switch {
	case 2*framed > len(records):
		return exit.Refuse(fmt.Errorf("records of %s name a schema of a registry: %savro, protobuf or json-schema, and input.registry.url", topic, advice))
	case 2*events > len(records):
		return exit.Refuse(fmt.Errorf("records of %s are CloudEvents: %scloudevents", topic, advice))
	}
	return nil
}

// fields returns the names of the fields of records of a topic that may be labels: in some record,
// their value is no object, no list and not null.
func fields(topic string, records []ingest.Record) ([]string, error) {
	seen, objects, nested := map[string]bool{}, 0, false // nested: inputs are in features or x, beside which key and weight are no labels
	for _, r := range records {
		var object map[string]json.RawMessage
		if json.Unmarshal(r.Value, &object) == nil {
			objects++
			for name, value := range object {
				inside := bytes.ContainsAny(value[:1], "{[")
				nested = nested || inside && (name == "features" || name == "x")
				if !inside && value[0] != 'n' {
					seen[name] = true
				}
			}
		}
	}
	if objects == 0 {
		return nil, exit.Refuse(fmt.Errorf("topic %s has no records that are JSON objects", topic))
	}
	if nested {
		delete(seen, "key")
		delete(seen, "weight")
	}
	if len(seen) == 0 {
		return nil, exit.Refuse(fmt.Errorf("records of %s have no field that may be a label: name a topic of labelled records with --topic; if labels come in records of their own, write a configuration from accrete lint --reference, with input.labels (docs/late-labels.md)", topic))
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
