package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/quarantine"
	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/pipeline"
)

// quarantineCommand is a group of commands.
type quarantineCommand struct {
	List   quarantineList   `cmd:"" help:"Count the records in quarantine by reason."`
	Show   quarantineShow   `cmd:"" help:"Print one record in quarantine."`
	Replay quarantineReplay `cmd:"" help:"Send records in quarantine back to their input topics, each exactly once."`
}

func (quarantineCommand) Examples() string {
	return `
accrete quarantine list -c accrete.yaml
accrete quarantine replay -c accrete.yaml --dry-run`
}

// quarantineFlags select records of a quarantine topic.
type quarantineFlags struct {
	configFlags
	jsonFlag
	Topic  string `placeholder:"TOPIC" help:"Quarantine topic (default: <model>.quarantine)."`
	Reason string `placeholder:"TEXT" help:"Only records whose reason contains this text."`
}

// open loads the configuration and returns a client and the name of the topic.
func (q *quarantineFlags) open(e *env) (*config.Config, *ingest.Client, string, error) {
	c, client, err := q.configFlags.open(e)
	if err != nil {
		return nil, nil, "", err
	}
	return c, client, cmp.Or(q.Topic, pipeline.QuarantineTopic(c.Model)), nil
}

func (q *quarantineFlags) selects(e *quarantine.Entry) bool {
	return strings.Contains(e.Reason, q.Reason)
}

// retrying logs the errors after which a command goes on.
func retrying(e *env) func(error) {
	return func(err error) { e.log.Warn().Err(err).Msg("temporary failure, retrying") }
}

type quarantineList struct {
	quarantineFlags
}

func (quarantineList) Help() string {
	return `Reads the whole quarantine topic and prints a line for each reason: the number of records, how many of them were replayed, the newest timestamp, and the offset of the newest record (for accrete quarantine show). Values and positions in a reason are replaced with "…", so that records with the same fault are counted together. A record that the learner has written again after a crash counts again.`
}

func (quarantineList) Examples() string {
	return `
accrete quarantine list -c accrete.yaml
accrete quarantine list -c accrete.yaml --reason amount --json`
}

// quarantineGroup is the records of one reason.
type quarantineGroup struct {
	Reason    string    `json:"reason"`
	Count     int64     `json:"count"`
	Replayed  int64     `json:"replayed"`
	Newest    time.Time `json:"newest"` // the largest timestamp
	Partition int       `json:"partition"`
	Offset    int64     `json:"offset"`  // of the last record
	Example   string    `json:"example"` // its reason
}

// groupsAtMost bounds the memory of list.
const groupsAtMost = 1000

func (q *quarantineList) Run(ctx context.Context, e *env) error {
	_, client, topic, err := q.open(e)
	if err != nil {
		return err
	}
	defer client.Close()
	t, err := quarantine.Read(ctx, client, topic, false, retrying(e))
	if err != nil {
		return err
	}
	groups := map[string]*quarantineGroup{}
	total := int64(0)
	foreign, err := t.Each(ctx, func(x *quarantine.Entry) error {
		if !q.selects(x) {
			return nil
		}
		total++
		name := kindOf(x.Reason)
		if groups[name] == nil && len(groups) >= groupsAtMost {
			name = "other reasons"
		}
		g := groups[name]
		if g == nil {
			g = &quarantineGroup{Reason: name}
			groups[name] = g
		}
		g.Count++
		if x.Replayed {
			g.Replayed++
		}
		if at := time.UnixMilli(x.Original.Time).UTC(); at.After(g.Newest) {
			g.Newest = at
		}
		g.Partition, g.Offset, g.Example = x.Partition, x.Offset, x.Reason
		return nil
	})
	if err != nil {
		return err
	}
	if foreign > 0 {
		e.log.Warn().Int64("records", foreign).Str("topic", topic).Msg("the topic has records that no learner or scorer has written")
	}
	all := slices.SortedFunc(maps.Values(groups), func(a, b *quarantineGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
	if q.JSON {
		for _, g := range all {
			if err := e.print(true, "", g); err != nil {
				return err
			}
		}
		return nil
	}
	if total == 0 {
		return e.print(false, "no such records in "+topic, nil)
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "COUNT\tREPLAYED\tNEWEST\tAT\tREASON")
	for _, g := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d:%d\t%s\n", display.Thousands(g.Count), display.Thousands(g.Replayed), g.Newest.Format(time.RFC3339), g.Partition, g.Offset, g.Reason)
	}
	return w.Flush()
}

// What tells apart records with the same fault: texts, numbers and positions, but not the
// names of columns, nor what was wanted.
var (
	faultyText   = regexp.MustCompile(`(text |^label: )"(?:[^"\\]|\\.)*"…?`)
	faultyNumber = regexp.MustCompile(`( is| at byte| has| number|index|x\[|^limits:|^json:) ?-?[0-9][0-9a-zA-Z.+-]*…?`)
	faultyClass  = regexp.MustCompile(`would be class [0-9]+`)
)

// kindOf returns a reason with "…" in place of what differs between records.
func kindOf(reason string) string {
	s := faultyText.ReplaceAllString(reason, "${1}…")
	s = faultyClass.ReplaceAllString(s, "would be class …")
	return faultyNumber.ReplaceAllStringFunc(s, func(m string) string {
		parts := faultyNumber.FindStringSubmatch(m)
		if parts[1] == "x[" {
			return "x[…"
		}
		return parts[1] + " …"
	})
}
