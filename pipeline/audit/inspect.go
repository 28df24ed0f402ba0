package audit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/internal/journal"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/snapshot"
	"github.com/accrete-ml/accrete/snapshot/modellog"
	"github.com/accrete-ml/accrete/snapshot/modellog/kafkalog"
)

// LogReport is the content of a model log.
type LogReport struct {
	Topic     string               `json:"topic"`
	First     int64                `json:"first"` // first offset
	End       int64                `json:"end"`
	Bytes     int64                `json:"bytes"` // total of all values
	Claim     modellog.Claim       `json:"claim"` // claim in effect
	Seq       int64                `json:"seq"`
	Released  int64                `json:"released"`
	Options   json.RawMessage      `json:"options,omitempty"`
	Snapshots []*modellog.Manifest `json:"snapshots"` // complete ones, the newest first
	Records   []modellog.Verdict   `json:"records"`   // the newest

	// Columns are the newest changes of the columns, and Absent is the sum of all changes.
	Columns []ColumnsChange        `json:"columns_changed,omitempty"`
	Absent  modellog.AbsentColumns `json:"columns_absent,omitzero"`

	Challengers []*modellog.Challenger `json:"challengers,omitempty"` // complete ones, the newest first

	Newest *snapshot.Snapshot `json:"-"`                // nil if there is none, or with Damage
	Damage string             `json:"damage,omitempty"` // why the newest snapshot cannot be read
}

// ColumnsChange is a BATCH with which columns have come or gone.
type ColumnsChange struct {
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`
	*modellog.Columns
}

// mostChanges bounds the changes of the columns in a LogReport.
const mostChanges = 20

// sees adds the change of the columns that v reports, if any.
func (r *LogReport) sees(at int64, v modellog.Verdict) {
	b, ok := v.Record.(*modellog.Batch)
	if !ok || !v.Counts() || b.Columns == nil || len(b.Columns.Gone)+len(b.Columns.Back)+len(b.Columns.New)+len(b.Columns.Adopted) == 0 {
		return
	}
	r.Columns = append(r.Columns, ColumnsChange{b.Seq, time.UnixMilli(at).UTC(), b.Columns})
	if len(r.Columns) > mostChanges {
		r.Columns = r.Columns[1:]
	}
}

// Inspect reads the model log of c and reports its newest n records. If the log is
// broken, it returns both a report of what could be read and ErrLog.
func Inspect(ctx context.Context, c model.Config, n int) (*LogReport, error) {
	c = c.Quiet()
	c.Keep = math.MaxInt
	j, err := journal.Unread(ctx, c)
	if j == nil {
		return nil, err
	}
	refusal := err
	r := &LogReport{Topic: j.Topic, Snapshots: []*modellog.Manifest{}, Records: []modellog.Verdict{}}
	if r.First, _, err = j.Log.Bounds(ctx); err != nil {
		return nil, err
	}
	j.Log.Rewind(r.First)
	err = j.ReadOn(ctx, func(rec *ingest.Record, v modellog.Verdict) {
		r.sees(rec.Time, v)
		r.Bytes += int64(v.Bytes)
		if n <= 0 {
			return
		}
		if r.Records = append(r.Records, v); len(r.Records) > n {
			r.Records = r.Records[1:]
		}
	})
	if err != nil && !errors.Is(err, kafkalog.ErrLog) {
		return nil, err
	}
	f := j.Log.Fold
	r.End, r.Claim, r.Seq, r.Released, r.Options = j.Log.Next(), f.Claim(), f.Seq(), f.Released(), f.Config().Config
	r.Absent = f.AbsentColumns()
	for _, s := range f.Snapshots() {
		r.Snapshots = append(r.Snapshots, s.Manifest)
	}
	if all := f.Snapshots(); len(all) > 0 {
		s, err := j.Load(ctx, all[0])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if r.Newest = s; err != nil {
			r.Newest, r.Damage = nil, err.Error()
		}
	}
	for _, s := range f.Challengers() {
		r.Challengers = append(r.Challengers, s.Challenger)
	}
	if refusal = cmp.Or(refusal, err); refusal == nil {
		_, refusal = j.Outlived(ctx, c)
	}
	if refusal != nil && !errors.Is(refusal, kafkalog.ErrLog) {
		return nil, refusal
	}
	return r, refusal
}
