package quarantine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/ingest/quarantine"
)

// Replay is accrete quarantine replay.
type Replay struct {
	selection
	From   int64 `default:"0" placeholder:"OFFSET" help:"First offset in the quarantine topic (${default})."`
	To     int64 `default:"-1" placeholder:"OFFSET" help:"Last offset in the quarantine topic (default: the end)."`
	Limit  int64 `default:"0" help:"Maximum number of records to send; 0: no limit (${default})."`
	DryRun bool  `help:"Count what would be sent, and send nothing."`
}

func (Replay) Help() string {
	return `Sends records in quarantine back to the topic and partition that they came from, unchanged but for the header accrete.replayed, which names their place in quarantine. Learner and scorer then read them as new records. Fix the cause first: a record that is still invalid goes to quarantine again.

Each record is sent exactly once, however often and however long the command runs: one Kafka transaction writes records to their topics together with a marker in the quarantine topic that names them. Another run reads the markers and skips these records, and copies of them. If the command is killed, its open transaction is aborted by the next run, or by the cluster after 30 s; until then consumers of the input wait. Of two runs at the same time, the first one fails.

Only records of input.topics and score.topics are sent. Truncated records cannot be replayed; they are counted. The command needs permission to write to these topics and to the quarantine topic, and for the transactional.id accrete-replay-<quarantine topic>.`
}

func (Replay) Examples() string {
	return `
accrete quarantine replay -c accrete.yaml --dry-run
accrete quarantine replay -c accrete.yaml --reason customer.country --limit 100
accrete quarantine replay -c accrete.yaml --from 1000 --to 1999 --json`
}

// Validate rejects values that would select nothing. Kong calls it.
func (q *Replay) Validate() error {
	switch {
	case q.From < 0:
		return fmt.Errorf("--from is %d: want 0 or more", q.From)
	case q.To >= 0 && q.To < q.From:
		return fmt.Errorf("--to is %d: want %d (--from) or more", q.To, q.From)
	case q.Limit < 0:
		return fmt.Errorf("--limit is %d: want 0 or more", q.Limit)
	}
	return nil
}

// replayReport is the result of a replay.
type replayReport struct {
	Topic  string           `json:"topic"` // the quarantine topic
	DryRun bool             `json:"dry_run,omitempty"`
	Sent   int64            `json:"sent"`
	To     map[string]int64 `json:"to"`
	Before int64            `json:"replayed_before"` // copies included
	Left   map[string]int64 `json:"not_replayed"`    // by reason
	Rest   int64            `json:"over_limit"`
}

func (q *Replay) Run(ctx context.Context, e *env.Env) error {
	c, client, topic, err := q.open(e)
	if err != nil {
		return err
	}
	defer client.Close()
	to := slices.Concat(c.Input.LearnedTopics(), c.Score.Topics)
	slices.Sort(to)
	done, failed := quarantine.Replay{
		Client: client, Topic: topic, To: slices.Compact(to), Limit: q.Limit, DryRun: q.DryRun, Now: time.Now, Report: e.WarnOfRetry,
		Select: func(x *quarantine.Entry) bool {
			return q.selects(x) && x.Offset >= q.From && (q.To < 0 || x.Offset <= q.To)
		},
	}.Run(ctx)
	r := replayReport{Topic: topic, DryRun: q.DryRun, To: done.Sent, Before: done.Before, Left: done.Left, Rest: done.Rest}
	for _, n := range done.Sent {
		r.Sent += n
	}
	if failed != nil && r.Sent == 0 {
		return failed
	}
	if err := e.Print(q.JSON, r.String(), r); err != nil {
		return err
	}
	return failed
}

func (r replayReport) String() string {
	var b strings.Builder
	verb := "sent"
	if r.DryRun {
		verb = "would send"
	}
	fmt.Fprintf(&b, "%s %s", verb, display.Count(r.Sent, "record"))
	for i, topic := range slices.Sorted(maps.Keys(r.To)) {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		fmt.Fprintf(&b, "%s%s to %s", sep, display.Thousands(r.To[topic]), topic)
	}
	line := func(n int64, why string) {
		if n > 0 {
			fmt.Fprintf(&b, "\n%s not sent: %s", display.Thousands(n), why)
		}
	}
	line(r.Before, "replayed before, or copies")
	line(r.Rest, "over the limit")
	for _, why := range slices.Sorted(maps.Keys(r.Left)) {
		line(r.Left[why], why)
	}
	return b.String()
}
