package lint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/inputs"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/quarantine"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
)

// SampleReport describes records of the input topics.
type SampleReport struct {
	Of       string `json:"of"` // which records
	Records  int    `json:"records"`
	Labelled int    `json:"labelled"`
	Labels   int    `json:"labels,omitempty"` // labels without features, to be joined with the features of other records
	Rejected int    `json:"rejected"`         // would go to quarantine
	Task     string `json:"task"`
	Classes  int    `json:"classes,omitempty"`

	// LikeClasses is the number of different labels if a new model reads them as values, but they look
	// like classes.
	LikeClasses int `json:"like_classes,omitempty"`

	keyed, weighted bool // a record has a key, or another weight than 1
}

// labels returns the part of the text about labels without features.
func (r *SampleReport) labels() string {
	if r.Labels == 0 {
		return ""
	}
	return display.Thousands(int64(r.Labels)) + " labels of other records, "
}

// rejection is a reason for which sampled records would go to quarantine.
type rejection struct {
	Reason  string `json:"reason"`
	Count   int    `json:"count"`
	Example string `json:"example"`
}

// Sampled is what a sample of the input topics shows.
type Sampled struct {
	Report  SampleReport
	Columns []inputs.Report
	why     map[string]*rejection
}

// Sample reads n records of the input topics. It returns how the model reads them or, if there is
// no model yet, how a new one would.
func Sample(ctx context.Context, e *env.Env, c *config.Config, client *ingest.Client, n int) (*Sampled, error) {
	return (&cluster{e: e, c: c, client: client}).take(ctx, n)
}

// sample reads n records and reports how a learner would read them.
func (o *cluster) sample(ctx context.Context, n int) error {
	s, err := o.take(ctx, n)
	if err != nil {
		return o.problem(ctx, err)
	}
	if err := o.printSample(s.Report, s.Columns, s.why); err != nil {
		return err
	}
	if err := o.unused(&s.Report); err != nil {
		return err
	}
	switch r := s.Report; {
	case r.Rejected > r.Records/2:
		return o.say("problem", "more than half of the sampled records would go to quarantine, at which a learner pauses: correct the configuration or the records")
	case r.Records > 0 && r.Labelled+r.Labels == 0 && o.c.Learner.Task != "novelty":
		return o.say("warning", "none of the sampled records has a label: correct input.label (%s), unless labelled ones are yet to come", o.c.Input.Label)
	}
	return nil
}

// unused warns of a weight that no record has, such as one with a misspelt name, and of such a key if the
// records have no keys of their own, which are used instead.
func (o *cluster) unused(r *SampleReport) error {
	in := &o.c.Input
	if in.Key != "" && !r.keyed && r.Records > r.Rejected+r.Labels {
		if err := o.say("warning", "none of the sampled records has a key: correct input.key (%s), a field at their top", in.Key); err != nil {
			return err
		}
	}
	if in.Weight != "" && !r.weighted && r.Records > r.Rejected+r.Labels {
		return o.say("warning", "none of the sampled records has another weight than 1: correct input.weight (%s), a field at their top", in.Weight)
	}
	return nil
}

// take reads n records with the schema of the model or, if there is none, as a new model would.
func (o *cluster) take(ctx context.Context, n int) (*Sampled, error) {
	c, err := setup.Pipeline(o.c, o.client, nil)
	if err != nil {
		return nil, err
	}
	var schema decode.Schema
	of := "oldest records, which a new model learns first"
	model, err := setup.NewestModel(ctx, o.e, o.c, o.client)
	switch {
	case err == nil:
		of, schema, c.Decode = fmt.Sprintf("newest records, as the model reads them at step %d", model.ID.Step), model.Schema, model.Decode
	case !errors.Is(err, ingest.ErrUnknownTopic) && !errors.Is(err, setup.ErrNoSnapshot):
		return nil, err
	}
	c.Decode.Fixed = true // so that all rows of the sample have the same columns
	d, err := decode.New(c.Decode, schema)
	if err != nil {
		return nil, err
	}
	if err := d.Rename(c.Renames); err != nil {
		return nil, err
	}
	if err := o.enrich(ctx, d, &c.Decode); err != nil {
		return nil, err
	}
	rs, topics, err := o.read(ctx, n, model != nil)
	if err != nil {
		return nil, err
	}
	if _, err := record.Learn(ctx, d, rs, c.Schemas, func(err error) { o.e.WarnOfRetry(err) }); err != nil {
		return nil, err
	}
	fit := designer(c.Learner)
	d.Look()
	t := inputs.Tally{Hint: d.Hint, IsText: d.IsText}
	report, why := SampleReport{Of: of, Records: len(rs)}, map[string]*rejection{}
	for i := range rs {
		row, label, err := decoded(d, topics[i], &rs[i])
		switch {
		case label:
			report.Labels++
			continue
		case err != nil:
			report.Rejected++
			reason := record.Reason(c.Passed.Redact.Reason(err, rs[i].Value))
			kind := quarantine.Kind(reason)
			if why[kind] == nil {
				why[kind] = &rejection{Reason: kind, Example: reason}
			}
			why[kind].Count++
			continue
		}
		t.Add(row.X, row.Types)
		report.keyed, report.weighted = report.keyed || len(row.Key) > 0, report.weighted || row.Weight != 1
		if row.Label.Task != learner.Auto {
			report.Labelled++
			if fit != nil {
				fit.Add(row)
			}
		}
	}
	s := d.Schema()
	report.Task, report.Classes = s.Task, len(s.Classes)
	if model == nil {
		report.LikeClasses = d.LikeClasses()
	}
	return &Sampled{report, o.columns(&t, s, fit, model), why}, nil
}

// decoded reads a record as a learner does. If labels arrive late, the record may hold only a
// label.
func decoded(d *decode.Decoder, topic string, r *ingest.Record) (row decode.Row, label bool, err error) {
	if record.IsLabel(d, topic, r) {
		_, err = record.DecodeLabel(d, r)
		return row, err == nil, err
	}
	if row, err = record.Decode(d, r); err == nil && d.Late() != nil {
		_, err = record.Joined(d, r, row.Key)
	}
	return row, false, err
}

// designer returns a small learner that encodes columns as a learner with the options c does. It is
// nil if these options are invalid.
func designer(c learner.Config) *offline.Fit {
	c.Algorithm, c.Loss, c.Costs, c.OnDrift, c.Direction = "ridge", "", "", "", ""
	c.Lags, c.MaxFeatures, c.Minibatch, c.Mixture, c.Variance = 0, 32, 0, false, false
	fit, err := offline.NewFit(c, decode.Config{})
	if err != nil {
		return nil
	}
	return fit
}

// columns describes the columns of the sample.
func (o *cluster) columns(t *inputs.Tally, s *decode.Schema, fit *offline.Fit, model *serve.Served) []inputs.Report {
	if len(s.Columns) == 0 || t.Rows == 0 {
		return nil
	}
	var seen []learner.Column
	fitted := false
	if model != nil {
		seen, fitted = model.Columns()
	} else if fit != nil {
		fitted, seen = fit.Finish().Kernel != "", fit.Columns()
	}
	return inputs.Decided(t.All(s, seen), fitted)
}

// read returns up to n records with their topics, the newest or the oldest of each partition.
func (o *cluster) read(ctx context.Context, n int, newest bool) (all []ingest.Record, topics []string, err error) {
	type part struct {
		topic     string
		partition int
		from, end int64
	}
	var parts []part
	for _, topic := range o.c.Input.LearnedTopics() {
		first, end, err := o.client.Offsets(ctx, topic)
		if o.created(topic, err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for p := range end {
			if first[p] < end[p] {
				parts = append(parts, part{topic, p, first[p], end[p]})
			}
		}
	}
	for i, p := range parts {
		share := (n - len(all)) / (len(parts) - i)
		if newest {
			p.from = max(p.from, p.end-int64(share))
		}
		f := o.client.Fetcher(p.topic, p.partition)
		for took := 0; took < share && p.from < p.end; {
			var got ingest.Fetched
			err := ingest.Retry(ctx, o.e.WarnOfRetry, func() error {
				var err error
				got, err = f.Poll(ctx, p.from)
				return err
			})
			var gap *ingest.GapError
			if errors.As(err, &gap) {
				p.from = gap.LogStart
				continue
			}
			if err != nil {
				return nil, nil, err
			}
			rs := got.Records[:min(len(got.Records), share-took)]
			all, took, p.from = append(all, rs...), took+len(rs), got.Next
			topics = append(topics, slices.Repeat([]string{p.topic}, len(rs))...)
		}
	}
	return all, topics, nil
}

func (o *cluster) printSample(r SampleReport, columns []inputs.Report, why map[string]*rejection) error {
	reasons := slices.SortedFunc(maps.Values(why), func(a, b *rejection) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
	if !o.asJSON {
		var b strings.Builder
		fmt.Fprintf(&b, "\nsampled  %s of the %s: %s labelled, %s%s would go to quarantine", display.Thousands(int64(r.Records)), r.Of, display.Thousands(int64(r.Labelled)), r.labels(), display.Thousands(int64(r.Rejected)))
		if r.LikeClasses > 0 {
			fmt.Fprintf(&b, "\nlabels   %d different whole numbers, read as values: if they are classes, set learner.task to classification", r.LikeClasses)
		}
		if len(columns) > 0 {
			fmt.Fprintf(&b, "\n\n%s", strings.TrimSuffix(inputs.Text(columns), "\n"))
		}
		for i, x := range reasons {
			if i == 0 {
				b.WriteString("\n\nquarantine")
			}
			fmt.Fprintf(&b, "\n%6s  %s", display.Thousands(int64(x.Count)), x.Reason)
		}
		return o.e.Print(false, b.String()+"\n", nil)
	}
	if err := o.e.Print(true, "", map[string]SampleReport{"sample": r}); err != nil {
		return err
	}
	for _, c := range columns {
		if err := o.e.Print(true, "", map[string]inputs.Report{"column": c}); err != nil {
			return err
		}
	}
	for _, x := range reasons {
		if err := o.e.Print(true, "", map[string]*rejection{"quarantine": x}); err != nil {
			return err
		}
	}
	return nil
}
