package quarantine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/display"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/env"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest/quarantine"
)

// Show is accrete quarantine show.
type Show struct {
	selection
	At    string `arg:"" optional:"" help:"Offset in the quarantine topic, or PARTITION:OFFSET (default: the last record that --reason selects)."`
	Bytes int    `default:"4096" help:"Maximum number of bytes of the value, the key and each header to print (${default})."`
}

func (Show) Help() string {
	return `Prints a record in quarantine: the reason, the topic, partition and offset that it came from, its timestamp, key, headers and value, and whether it was replayed. Bytes that are not text are printed as escape sequences.`
}

func (Show) Examples() string {
	return `
accrete quarantine show -c accrete.yaml
accrete quarantine show -c accrete.yaml 1042 --json`
}

// Validate rejects a negative limit. Kong calls it.
func (q *Show) Validate() error {
	if q.Bytes < 0 {
		return fmt.Errorf("--bytes is %d: want 0 or more", q.Bytes)
	}
	return nil
}

// Record is a record in quarantine.
type Record struct {
	Partition  int         `json:"partition"` // of the quarantine topic
	Offset     int64       `json:"offset"`
	Reason     string      `json:"reason"`
	Replayed   bool        `json:"replayed"`
	Incomplete string      `json:"incomplete,omitempty"` // why it cannot be replayed
	Origin     Origin      `json:"origin"`
	Time       time.Time   `json:"time"`
	Key        *string     `json:"key"`
	Headers    [][2]string `json:"headers,omitempty"`
	Value      *string     `json:"value"`
	Size       int         `json:"value_bytes"`
}

// Origin is the place that a record came from.
type Origin struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

func (q *Show) Run(ctx context.Context, e *env.Env) error {
	partition, offset, err := q.at()
	if err != nil {
		return err
	}
	var found *quarantine.Entry
	topic, _, err := q.each(ctx, e, func(x *quarantine.Entry) {
		if q.At == "" || x.Partition == partition && x.Offset == offset {
			found = x
		}
	})
	if err != nil {
		return err
	}
	if found == nil && q.At != "" {
		return fmt.Errorf("%s has no such record at offset %d of partition %d", topic, offset, partition)
	}
	if found == nil {
		return errors.New(q.none(topic))
	}
	r := q.record(found)
	return e.Print(q.JSON, r.String(), r)
}

// at parses the argument.
func (q *Show) at() (partition int, offset int64, err error) {
	if q.At == "" {
		return 0, 0, nil
	}
	p, o, both := strings.Cut(q.At, ":")
	if !both {
		p, o = "0", q.At
	}
	partition, bad := strconv.Atoi(p)
	offset, worse := strconv.ParseInt(o, 10, 64)
	if bad != nil || worse != nil || partition < 0 || offset < 0 {
		return 0, 0, exit.Usage("%s: want an offset, or PARTITION:OFFSET", q.At)
	}
	return partition, offset, nil
}

func (q *Show) record(x *quarantine.Entry) Record {
	o := &x.Original
	r := Record{
		Partition: x.Partition, Offset: x.Offset, Reason: x.Reason, Replayed: x.Replayed, Incomplete: x.Incomplete,
		Origin: Origin{x.Topic, x.Rejected.Partition, x.Rejected.Offset}, Time: time.UnixMilli(o.Time).UTC(),
		Key: display.Text(o.Key, q.Bytes), Value: display.Text(o.Value, q.Bytes), Size: len(o.Value),
	}
	for _, h := range o.Headers {
		value := ""
		if v := display.Text(h.Value, q.Bytes); v != nil {
			value = *v
		}
		r.Headers = append(r.Headers, [2]string{h.Key, value})
	}
	return r
}

func (r Record) String() string {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%-10s  %s\n", name, value) }
	orNull := func(s *string) string {
		if s == nil {
			return "null"
		}
		return *s
	}
	line("reason", r.Reason)
	line("origin", fmt.Sprintf("%s/%d offset %d", r.Origin.Topic, r.Origin.Partition, r.Origin.Offset))
	line("quarantine", fmt.Sprintf("partition %d offset %d", r.Partition, r.Offset))
	line("time", r.Time.Format(time.RFC3339Nano))
	switch {
	case r.Incomplete != "":
		line("replay", "not possible: "+r.Incomplete)
	case r.Replayed:
		line("replay", "done")
	}
	line("key", orNull(r.Key))
	for _, h := range r.Headers {
		line("header", h[0]+": "+h[1])
	}
	line("value", fmt.Sprintf("%d bytes", r.Size))
	b.WriteString(orNull(r.Value))
	return b.String()
}
