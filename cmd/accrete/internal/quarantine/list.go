package quarantine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/ingest/quarantine"
)

// List is accrete quarantine list.
type List struct {
	selection
}

func (List) Help() string {
	return `Reads the whole quarantine topic and prints a line for each reason: the number of records, how many of them were replayed, the newest timestamp, and the offset of the newest record (for accrete quarantine show). Values and positions in a reason are replaced with "…", so that records with the same fault are counted together. A record that the learner has written again after a crash counts again.`
}

func (List) Examples() string {
	return `
accrete quarantine list -c accrete.yaml
accrete quarantine list -c accrete.yaml --reason amount --json`
}

// Group summarises the records of one reason.
type Group struct {
	Reason    string    `json:"reason"`
	Count     int64     `json:"count"`
	Replayed  int64     `json:"replayed"`
	Newest    time.Time `json:"newest"` // the largest timestamp
	Partition int       `json:"partition"`
	Offset    int64     `json:"offset"`  // of the last record
	Example   string    `json:"example"` // reason of the last record
}

// groupsAtMost bounds the memory of list.
const groupsAtMost = 1000

func (q *List) Run(ctx context.Context, e *env.Env) error {
	groups := map[string]*Group{}
	total := int64(0)
	topic, foreign, err := q.each(ctx, e, func(x *quarantine.Entry) {
		total++
		name := quarantine.Kind(x.Reason)
		if groups[name] == nil && len(groups) >= groupsAtMost {
			name = "other reasons"
		}
		g := groups[name]
		if g == nil {
			g = &Group{Reason: name}
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
	})
	if err != nil {
		return err
	}
	if foreign > 0 {
		e.Log.Warn().Int64("records", foreign).Str("topic", topic).Msg("the topic has records that no learner or scorer has written")
	}
	all := slices.SortedFunc(maps.Values(groups), func(a, b *Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
	if q.JSON {
		for _, g := range all {
			if err := e.Print(true, "", g); err != nil {
				return err
			}
		}
		return nil
	}
	if total == 0 {
		return e.Print(false, q.none(topic), nil)
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "COUNT\tREPLAYED\tNEWEST\tAT\tREASON")
	for _, g := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d:%d\t%s\n", display.Thousands(g.Count), display.Thousands(g.Replayed), g.Newest.Format(time.RFC3339), g.Partition, g.Offset, g.Reason)
	}
	return w.Flush()
}
