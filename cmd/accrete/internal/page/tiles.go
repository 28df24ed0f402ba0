package page

import (
	"fmt"
	"strconv"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/learner"
)

// learnerTiles returns the tiles of a learner.
func (b *Board) learnerTiles(errorName string, memory int64) []tile {
	p, c := b.progress, b.counts
	tiles := []tile{b.errorTile(errorName)}
	rate := tile{ID: "rate", Name: "records per second", Text: count(int64(b.rate())), Note: display.Count(p.Examples, "example") + " learned", Description: "records per second, last two minutes"}
	rate.Line, rate.Area = spark(b.rates())
	unread := b.lag(false)
	lag := tile{ID: "lag", Name: "lag", Value: whole(unread), Text: count(unread), Note: "records not read yet", Description: "lag, last two minutes"}
	lag.Line, lag.Area = spark(b.each(func(s second) float64 { return float64(s.lag) }))
	learn, logged := quantiles(b.latencies.values, 0.5, 0.99), quantiles(b.appends.values, 0.5, 0.99)
	tiles = append(tiles, rate, lag,
		tile{ID: "latency", Name: "time per batch", Text: took(learn[0]), Note: fmt.Sprintf("99 %%: %s; log append %s, 99 %%: %s", took(learn[1]), took(logged[0]), took(logged[1]))},
		tile{ID: "step", Name: "step", Value: whole(p.Step), Text: count(p.Step), Note: display.Count(c.learned+c.predicted+c.quarantined, "record") + " in this run"},
		b.featuresTile(), b.memoryTile(memory),
		tile{ID: "predictions", Name: "predictions published", Value: whole(c.published), Text: count(c.published), Note: display.Count(c.snapshots, "snapshot") + " in this run"},
	)
	bad := tile{ID: "quarantined", Name: "in quarantine", Value: whole(c.quarantined), Text: count(c.quarantined), Note: "records of this run"}
	if c.quarantined > 0 {
		bad.Level = "bad"
	}
	tiles = append(tiles, bad)
	if c.lost > 0 {
		tiles = append(tiles, tile{ID: "lost", Name: "lost", Value: whole(c.lost), Text: count(c.lost), Note: "deleted before they were learned", Level: "bad"})
	}
	return tiles
}

func (b *Board) errorTile(name string) tile {
	t := tile{ID: "error", Name: name, Text: "–", Note: "no labelled examples yet", Description: name + " of the last 1,000 examples, last two minutes"}
	if b.progress.Task == learner.Novelty {
		t.Note = "no records learned yet"
	}
	if s := b.progress.Recent; s.Rows > 0 {
		t.Value, t.Text = exact(s.Model.Error), figure(s.Model.Error)
		t.Line, t.Area = spark(b.each(func(s second) float64 { return s.error }))
		if b.progress.Task == learner.Novelty {
			t.Note = "last " + display.Count(s.Rows, "record")
			return t
		}
		t.Note = fmt.Sprintf("last %s; linear %s", display.Count(s.Rows, "example"), figure(s.Linear.Error))
		if b.progress.Task == learner.Regression {
			t.Note += fmt.Sprintf("; R² %s", figure(1-s.Model.Error))
		}
		if s.Model.Error < min(s.Linear.Error, s.Majority.Error, s.NoChange.Error) {
			t.Level = "good"
		}
	}
	return t
}

func (b *Board) featuresTile() tile {
	n := b.progress.Features
	t := tile{ID: "features", Name: "random features", Value: whole(int64(n)), Text: count(int64(n)), Note: rounded(b.progress.Kernel)}
	if most := b.limit.MaxFeatures; most > 0 {
		t.Note = "of " + count(int64(most))
		if b.progress.Kernel != "" {
			t.Note += ", " + rounded(b.progress.Kernel)
		}
	}
	return t
}

func (b *Board) memoryTile(memory int64) tile {
	t := tile{ID: "memory", Name: "memory", Text: "–", Note: "resident"}
	if memory > 0 {
		t.Text = Size(memory)
	}
	if b.memoryLimit > 0 {
		t.Note = "limit " + Size(b.memoryLimit)
	}
	return t
}

// scorerTiles returns the tiles of a scorer.
func (b *Board) scorerTiles(now time.Time, memory int64) []tile {
	c, unread := b.counts, b.lag(true)
	scored := tile{ID: "scored", Name: "scored", Value: whole(c.scored), Text: count(c.scored), Note: "records of this run"}
	lag := tile{ID: "scorer-lag", Name: "lag of the scorer", Value: whole(unread), Text: count(unread), Note: "records not scored yet"}
	if !b.learner {
		scored.Note = count(int64(b.rate())) + " per second"
		scored.Description = "records per second, last two minutes"
		scored.Line, scored.Area = spark(b.rates())
		lag.Description = "lag, last two minutes"
		lag.Line, lag.Area = spark(b.each(func(s second) float64 { return float64(s.lag) }))
	}
	model := tile{ID: "scorer-step", Name: "step of the model", Value: whole(b.model.step), Text: "–", Note: "waiting for a snapshot"}
	if c.models > 0 {
		model.Text, model.Note = count(b.model.step), "in use for "+Span(now.Sub(b.model.at))
	}
	tiles := []tile{scored, lag, model}
	if b.learner {
		return tiles
	}
	tiles = append(tiles, b.memoryTile(memory))
	if c.requests > 0 {
		d := quantiles(b.answers.values, 0.5, 0.99)
		tiles = append(tiles, tile{ID: "http", Name: "time per request", Text: took(d[0]), Note: fmt.Sprintf("99 %%: %s; %s", took(d[1]), display.Count(c.requests, "request"))})
	}
	bad := tile{ID: "scorer-quarantined", Name: "in quarantine", Value: whole(c.scorerQuarantined), Text: count(c.scorerQuarantined), Note: "records of this run"}
	if c.scorerQuarantined > 0 {
		bad.Level = "bad"
	}
	return append(tiles, bad)
}

// rates returns the number of records in each second of the history.
func (b *Board) rates() []float64 {
	h := b.history.values
	rates := make([]float64, max(0, len(h)-1))
	for i := range rates {
		rates[i] = float64(h[i+1].records - h[i].records)
	}
	return rates
}

func (b *Board) each(of func(second) float64) []float64 {
	values := make([]float64, len(b.history.values))
	for i, s := range b.history.values {
		values[i] = of(s)
	}
	return values
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
