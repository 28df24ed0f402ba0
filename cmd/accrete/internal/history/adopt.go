package history

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/setup"
	"github.com/accrete-ml/accrete/pipeline/admin"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/snapshot/modellog"
)

// Adopt is accrete adopt.
type Adopt struct {
	env.ConfigFlags
	env.JSONFlag
	Topic  []string `placeholder:"T[=NEW]" help:"Topic to replace, and the name of the new one if it differs (default: all that were recreated); can be repeated."`
	At     string   `default:"fingerprint" placeholder:"AT" help:"Position in the new topic: fingerprint (after the record that was learned last), earliest, end, or the next offset of some partitions as P:OFFSET,… (${default})."`
	Reason string   `placeholder:"TEXT" help:"Reason, recorded in the model log."`
	DryRun bool     `help:"Print what would be written, and write nothing."`
}

func (Adopt) Help() string {
	return `Continues a model on input topics that hold the same records under other ids, names or offsets: topics that were recreated from a backup, or mirrored to another cluster. In each partition the command looks for the record that was learned last, by its fingerprint, and refuses if it does not find it or finds it several times. It ends a running learner (exit code 76) and writes one record to the model log. Decisions that no snapshot covers are rolled back if their records were in a replaced topic. Start the learner afterwards, with the new names in input.topics.`
}

func (Adopt) Examples() string {
	return `
accrete adopt -c accrete.yaml --dry-run
accrete adopt -c accrete.yaml --topic payments=primary.payments --reason failover
accrete adopt -c accrete.yaml --topic payments --at 0:1200,1:1187`
}

// AdoptReport describes what was adopted, if anything.
type AdoptReport struct {
	Model    string             `json:"model"`
	Adopted  bool               `json:"adopted"`
	DryRun   bool               `json:"dry_run,omitempty"`
	Seq      int64              `json:"seq,omitempty"`
	ToSeq    int64              `json:"to_seq"` // decision after which the new topics are read
	Rollback bool               `json:"rolled_back"`
	Inputs   []modellog.Adopted `json:"inputs,omitempty"`
}

func (a *Adopt) Run(ctx context.Context, e *env.Env) error {
	o, err := a.adoption()
	if err != nil {
		return err
	}
	c, p, err := setup.OpenWriter(a.ConfigFlags, e, "input.topics")
	if err != nil {
		return err
	}
	defer p.Client.Close()
	progress := e.Progress(false)
	p.Report = progress.EverySecond(func(ev event.Event) string {
		s, ok := ev.(event.Searching)
		if !ok {
			return ""
		}
		return fmt.Sprintf("searching %s/%d: %s of %s offsets", s.Topic, s.Partition, display.Thousands(s.Done), display.Thousands(s.Of))
	})
	done, err := admin.Adopt(ctx, p, o)
	progress.Done()
	if err != nil {
		return err
	}
	report := AdoptReport{Model: c.Model, DryRun: a.DryRun, ToSeq: done.ToSeq, Rollback: done.Rollback != nil}
	text := "there is nothing to adopt: the input topics of " + c.Model + " are those that it has learned from"
	if done.Record != nil {
		report.Adopted, report.Seq, report.Inputs = !a.DryRun, done.Record.Seq, done.Record.Inputs
		text = adoptText(c.Model, done, a.DryRun)
	}
	return e.Print(a.JSON, text, report)
}

func adoptText(model string, done admin.AdoptReport, dry bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s continues after seq %d on these inputs", model, done.ToSeq)
	if dry {
		fmt.Fprint(&b, " (dry run: nothing was written)")
	}
	if r := done.Rollback; r != nil {
		fmt.Fprintf(&b, "; %s (%s)", abandoned(r.ToSeq+1, r.Seq-1), r.Reason)
	}
	for _, in := range done.Record.Inputs {
		name := in.NewTopic
		if name == "" {
			name = in.Topic
		}
		for _, p := range in.Partitions {
			fmt.Fprintf(&b, "\n%s/%d (id %v) at offset %d: %s/%d (id %v) at offset %d", in.Topic, p.Partition, in.TopicID, p.From, name, p.Partition, in.NewID, p.Next)
		}
	}
	return b.String()
}

// adoption parses --topic and --at.
func (a *Adopt) adoption() (o admin.Adoption, err error) {
	o.Reason, o.DryRun = a.Reason, a.DryRun
	o.Topics = map[string]string{}
	for _, t := range a.Topic {
		old, now, named := strings.Cut(t, "=")
		if _, twice := o.Topics[old]; old == "" || named && now == "" || twice {
			return o, exit.Usage("--topic %s: want T or T=NEW, once for each topic", t)
		}
		o.Topics[old] = now
	}
	switch a.At {
	case "fingerprint":
	case "earliest":
		o.At = admin.AtEarliest
	case "end":
		o.At = admin.AtEnd
	default:
		if o.Offsets, err = parseOffsets(a.At); err != nil {
			return o, err
		}
	}
	return o, nil
}

func parseOffsets(text string) (map[int32]int64, error) {
	out := map[int32]int64{}
	for _, s := range strings.Split(text, ",") {
		p, o, ok := strings.Cut(s, ":")
		partition, bad := strconv.ParseInt(p, 10, 32)
		offset, worse := strconv.ParseInt(o, 10, 64)
		if _, twice := out[int32(partition)]; !ok || bad != nil || worse != nil || partition < 0 || offset < 0 || twice {
			return nil, exit.Usage("--at %s: want fingerprint, earliest, end, or offsets as 0:1200,1:1187", text)
		}
		out[int32(partition)] = offset
	}
	return out, nil
}
