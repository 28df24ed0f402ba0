package page

import (
	"fmt"
	"math"
	"time"

	"github.com/accrete-ml/accrete/learner"
)

// view is what the templates display.
type view struct {
	Info
	Role    string
	Ready   bool
	Reasons []reason
	Uptime  string

	Learner, Scorer bool
	Gated           bool // gate.metric is not none

	Heading string // of the chart
	Chart   chart
	Tiles   []tile

	Partitions []partitionRow
	Snapshots  []snapshotRow
	Members    []memberRow
	Stacked    string // share of the stacks of the members in the predictions of the learner
	Inputs     *inputsView
	Serving    *servingView
	Columns    *importanceView
	Bad        []badRow
	BadCount   int64
	Notes      []noteRow
}

type reason struct {
	Name, Text string
	Red        bool
}

// tile is a number with its name. Value is exact, and equal to that in /metrics.
type tile struct {
	ID, Name    string
	Value       string // exact
	Text, Note  string
	Line, Area  string // of a small chart; empty for none
	Description string // of the chart
	Level       string // "", "good" or "bad"
}

type partitionRow struct {
	Topic             string
	Partition         int32
	Reader            string
	Next, Lag, Moved  string
	Value             int64 // exact lag
	Share             string
	Permille          int
	Blocked, Headroom string
}

type snapshotRow struct{ Age, Step, Bytes, Hash, Short, Froze string }

type memberRow struct{ Name, Learner, Scorer, Error string }

type inputsView struct {
	Distance     string
	Permille     int // of the threshold
	Alarm        bool
	Rows, Alarms string
	Last         string
	Columns      []string
	Missing      int
}

type badRow struct{ Age, Where, Records, Reason, Sample string }

type noteRow struct{ Age, Level, Text, Times string }

// view returns the current state of the board. memory is that of the process in bytes.
func (b *Board) view(info Info, memory int64) *view {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	p := b.progress
	v := &view{Info: info, Role: b.title(), Learner: b.learner, Scorer: b.scorer, Uptime: Span(now.Sub(b.started))}
	for _, o := range info.Options {
		v.Gated = v.Gated || o.Key == "gate.metric" && o.Text != "none"
	}
	states, ready := info.Health.States()
	v.Ready = ready
	for _, s := range states {
		if s.Reason != "" {
			v.Reasons = append(v.Reasons, reason{s.Name, Printable(s.Reason, 600), !s.Ready})
		}
	}
	latest := [4]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	if s := p.Recent; s.Rows > 0 {
		latest = [4]float64{s.Model.Error, s.Linear.Error, s.Majority.Error, s.NoChange.Error}
	} else if n := len(b.line.Points); n > 0 {
		latest = errorsOf(b.line.Points[n-1])
	}
	name := "error"
	switch p.Task {
	case learner.Regression:
		name = "nMSE"
	case learner.Novelty:
		name = "share of records flagged"
	}
	v.Heading = "Progressive " + name
	v.Chart = newChart(&b.line, latest, p.Task)
	if b.learner {
		v.Tiles = b.learnerTiles(name, memory)
	}
	if b.scorer {
		v.Tiles = append(v.Tiles, b.scorerTiles(now, memory)...)
	}
	v.Partitions = b.partitionRows(now)
	v.Inputs, v.Serving, v.Columns = b.inputsView(now), b.servingView(now), b.importanceView()
	b.lists(v, now)
	return v
}

func (b *Board) title() string {
	switch {
	case b.learner && b.scorer:
		return "learner and scorer"
	case b.scorer:
		return "scorer"
	case b.role == "standby":
		return "standby"
	}
	return "learner"
}

// lists fills the tables of snapshots, members, invalid records and events.
func (b *Board) lists(v *view, now time.Time) {
	for _, s := range b.snapshots.newestFirst() {
		r := snapshotRow{Age: "unknown", Step: count(s.step), Hash: s.hash, Short: s.hash[:min(12, len(s.hash))]}
		if !s.at.IsZero() {
			r.Age = Span(now.Sub(s.at)) + " ago"
		}
		if s.bytes > 0 {
			r.Bytes = Size(s.bytes)
		}
		if s.froze > 0 {
			r.Froze = took(s.froze)
		}
		v.Snapshots = append(v.Snapshots, r)
	}
	if x := b.progress.Mixture; x != nil {
		for _, m := range x.Members {
			v.Members = append(v.Members, memberRow{m.Name, figure(m.Weight), figure(m.Scorer), figure(m.Recent.Error)})
		}
		if x.Stacked > 0 {
			v.Stacked = figure(x.Stacked)
		}
	}
	v.BadCount = b.counts.quarantined + b.counts.scorerQuarantined
	for _, x := range b.bad.newestFirst() {
		v.Bad = append(v.Bad, badRow{Span(now.Sub(x.at)) + " ago", x.where, count(int64(x.records)), x.reason, x.sample})
	}
	for _, n := range b.notes.newestFirst() {
		r := noteRow{Age: Span(now.Sub(n.at)) + " ago", Level: n.level, Text: n.text}
		if n.times > 1 {
			r.Times = fmt.Sprintf("%d times", n.times)
		}
		v.Notes = append(v.Notes, r)
	}
}

func (b *Board) partitionRows(now time.Time) (rows []partitionRow) {
	for _, p := range b.sorted() {
		at := b.places[p]
		lag := max(0, at.end-at.next)
		r := partitionRow{Topic: p.topic, Partition: p.partition, Reader: "learner", Next: count(at.next), Lag: count(lag), Value: lag, Moved: "–", Headroom: "–", Permille: 1000}
		if !at.moved.IsZero() {
			r.Moved = Span(now.Sub(at.moved)) + " ago"
		}
		if p.scored {
			r.Reader = "scorer"
		} else {
			r.Headroom = count(at.next - at.first)
		}
		if of := at.end - at.first; of > 0 {
			r.Permille = int(1000 * float64(max(0, at.next-at.first)) / float64(of))
		}
		r.Share = fmt.Sprintf("%.1f %%", float64(min(1000, r.Permille))/10)
		if blocked := at.end - at.stable; blocked > 0 {
			r.Blocked = count(blocked)
		}
		rows = append(rows, r)
	}
	return rows
}

func (b *Board) inputsView(now time.Time) *inputsView {
	in := b.progress.Inputs
	if in == nil && b.gone == 0 {
		return nil
	}
	v := &inputsView{Missing: b.gone}
	if in == nil {
		return v
	}
	v.Distance, v.Rows, v.Alarms, v.Alarm = fmt.Sprintf("%.2f", in.Distance), count(in.Rows), count(in.Alarms), in.Distance > 1
	v.Permille = int(1000 * min(1, in.Distance/2))
	if !b.shifted.at.IsZero() {
		v.Last = Span(now.Sub(b.shifted.at)) + " ago"
		v.Columns = b.shifted.columns
	}
	return v
}
