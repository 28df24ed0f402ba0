package fit

import (
	"cmp"
	"compress/gzip"
	"context"
	"io"
	"strings"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/files"
	"github.com/accrete-ml/accrete/cmd/accrete/internal/predict"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/internal/offline"
	"github.com/accrete-ml/accrete/internal/outfile"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/learner/loss"
)

// progressive writes each row with the prediction that was made before the row was learned. It is
// nil without --predictions.
type progressive struct {
	file  *outfile.File
	zip   *gzip.Writer // nil unless the name ends with .gz
	rows  *decode.File
	out   *predict.Writer
	queue []predict.Row // rows that are not predicted yet
	err   error         // the first error

	encoder *record.Encoder
	classes int // number of classes that encoder has
}

// progressive returns the writer of --predictions, and registers it with run.
func (f *Command) progressive(ctx context.Context, rows *decode.File, run *offline.Fit) (*progressive, error) {
	if f.Predictions == "" {
		return nil, nil
	}
	file, err := files.Create(ctx, f.Predictions)
	if err != nil {
		return nil, err
	}
	p := &progressive{file: file, rows: rows}
	var to io.Writer = file
	if strings.HasSuffix(f.Predictions, ".gz") {
		p.zip = gzip.NewWriter(file)
		to = p.zip
	}
	p.out = predict.NewWriter(to, rows, false, f.Label, nil)
	p.out.Intervals, p.out.Variance = f.Intervals > 0, f.Variance
	if l, err := loss.Parse(f.Loss); err == nil {
		if q, ok := l.(loss.Quantiles); ok {
			p.out.Taus = q.Taus()
		}
	}
	run.Predicted = p.write
	return p, nil
}

// add queues the current row of the file until run has predicted it. It returns the first error.
func (p *progressive) add(file *decode.File) error {
	if p == nil {
		return nil
	}
	row, err := p.out.Row(file)
	p.queue = append(p.queue, row)
	return cmp.Or(p.err, err)
}

func (p *progressive) write(pass *learner.PredictedBatch, i int) {
	row := p.queue[0]
	p.queue = p.queue[1:]
	if p.err != nil {
		return
	}
	task, _ := p.rows.Task()
	classes := p.rows.Schema().Classes
	if p.encoder == nil || len(classes) != p.classes {
		p.encoder, p.classes = predict.EncoderOf(classes), len(classes)
	}
	x := predict.Prediction{Task: pass.Task, Rules: record.Example{Decision: pass.Decision, Intervals: pass.Uncertainty(i), Quantiles: pass.Quantiles, Mixture: pass.Mixture}, Encoder: p.encoder, Classes: classes}
	if pass.Size > 0 {
		x.Values = pass.Row(i)
	}
	p.err = p.out.Write(row, task, x)
}

// finish writes what is buffered, makes the file complete under its name, and returns the first
// error.
func (p *progressive) finish() error {
	if p == nil {
		return nil
	}
	if p.err != nil {
		return p.err
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	if p.zip != nil {
		if err := p.zip.Close(); err != nil {
			return err
		}
	}
	return p.file.Commit()
}

// close leaves a file that was there before, unless finish has replaced it.
func (p *progressive) close() {
	if p != nil {
		p.file.Discard()
	}
}
