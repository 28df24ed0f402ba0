package predict

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/accrete-ml/accrete/cmd/accrete/internal/exit"
	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
)

// Names of the columns or members that are added to a row.
const (
	predictionName    = "prediction"
	mixtureName       = "mixture"
	probabilitiesName = "probabilities"
	truncatedName     = "probabilities_truncated"
	intervalName      = "interval"
	varianceName      = "variance"
	quantileName      = "quantile"
	quantilesName     = "quantiles"
	scoreName         = "score" // of a novelty
	thresholdName     = "threshold"
	probabilityName   = "probability"
	explanationName   = "explanation"
)

// Writer writes the rows of a file in its own format, or as JSON, together with
// their predictions. The numbers are those of the prediction records of a topic.
type Writer struct {
	out    *bufio.Writer
	cells  *csv.Writer // nil unless the format is CSV
	format string
	header []string // of the rows
	began  bool

	targets   []string  // names, if there are several
	columns   []string  // classes, each with a column for its probability; nil: one column, for the predicted class
	Intervals bool      // numbers have intervals
	Variance  bool      // numbers have variances
	Taus      []float64 // levels of the quantiles of a number; nil unless there are several
}

// NewWriter returns a writer of rows of file. classes are those of the model; nil
// if they are not known yet.
func NewWriter(w io.Writer, file *decode.File, asJSON bool, targets, classes []string) *Writer {
	p := &Writer{out: bufio.NewWriter(w), format: file.Format(), header: file.Header(), columns: classes}
	if len(targets) > 1 {
		p.targets = targets
	}
	if asJSON || p.format != "csv" && p.format != "libsvm" {
		p.format = "json"
	}
	if p.format == "csv" {
		p.cells = csv.NewWriter(p.out)
		p.cells.Comma = file.Comma()
	}
	return p
}

// added returns the names of the columns that are added to a CSV file.
func (p *Writer) added(task learner.Task) []string {
	names := []string{predictionName}
	if p.targets != nil {
		names = nil
		for _, t := range p.targets {
			names = append(names, predictionName+"."+t)
		}
		for _, t := range p.targets {
			names = append(names, p.levels("."+t)...)
		}
		if p.Intervals {
			for _, t := range p.targets {
				names = append(names, intervalName+".low."+t, intervalName+".high."+t)
			}
		}
		if p.Variance {
			for _, t := range p.targets {
				names = append(names, varianceName+"."+t)
			}
		}
		return names
	}
	if task == learner.Novelty {
		return append(names, scoreName, thresholdName)
	}
	if task == learner.Regression {
		names = append(names, p.levels("")...)
		if p.Intervals {
			names = append(names, intervalName+".low", intervalName+".high")
		}
		if p.Variance {
			names = append(names, varianceName)
		}
		return names
	}
	if p.columns == nil {
		return append(names, probabilityName)
	}
	for _, c := range p.columns {
		names = append(names, probabilityName+"."+c)
	}
	return names
}

// levels returns the names of the columns of the quantiles of a target.
func (p *Writer) levels(of string) (names []string) {
	for _, tau := range p.Taus {
		names = append(names, quantileName+"."+spelled(tau)+of)
	}
	return names
}

// Prediction is the prediction for a row.
type Prediction struct {
	Task    learner.Task // Auto: the model has seen no label
	Values  []float64    // as in learner.Predictions; empty if there is no prediction
	Rules   record.Example
	Encoder *record.Encoder
	Classes []string

	Explanation []byte // JSON, for JSON only; nil: none
}

// members returns the members of the JSON object, as in a topic.
func (x Prediction) members() []byte { return x.Encoder.Members(x.Rules, x.Task, x.Values) }

// EncoderOf returns an encoder of predictions of classes.
func EncoderOf(classes []string) *record.Encoder {
	return record.NewEncoder(record.ModelID{}, classes, ingest.DefaultMaxMessageBytes)
}

// Row is a row of the file as a Writer writes it.
type Row struct {
	raw    decode.Raw
	object []byte // its JSON, for JSON only
}

// Row returns the row that file has read last.
func (p *Writer) Row(file *decode.File) (r Row, err error) {
	r.raw = file.Raw()
	switch {
	case p.format != "json":
	case file.Format() == "json":
		r.object = r.raw.Text
	default:
		r.object, err = file.Record(nil)
	}
	return r, err
}

// Begin writes the header of a CSV file, unless it is written already.
func (p *Writer) Begin(task learner.Task) error {
	if p.format != "csv" || p.began {
		return nil
	}
	p.began = true
	added := p.added(task)
	for _, name := range p.header {
		if slices.Contains(added, name) {
			return exit.Usage("a column is named %s already: rename it, or have predict write JSON, with --json", name)
		}
	}
	return p.cells.Write(slices.Concat(p.header, added))
}

// Write writes a row with its prediction.
func (p *Writer) Write(r Row, task learner.Task, x Prediction) error {
	switch p.format {
	case "csv":
		if err := p.Begin(task); err != nil {
			return err
		}
		return p.cells.Write(slices.Concat(r.raw.Cells, p.row(task, x)))
	case "json":
		return p.object(r.object, x)
	}
	p.out.Write(r.raw.Text)
	p.out.WriteString(" # {")
	p.out.Write(x.members())
	_, err := p.out.WriteString("}\n")
	return err
}

// row returns the cells that are added to a row of a CSV file.
func (p *Writer) row(task learner.Task, x Prediction) []string {
	cells := make([]string, len(p.added(task)))
	switch {
	case len(x.Values) == 0:
	case x.Task == learner.Novelty:
		copy(cells, []string{strconv.FormatBool(learner.Novel(x.Values)), spelled(x.Values[0]), spelled(x.Values[1])})
	case x.Task == learner.Regression:
		numbers := x.Rules.Quantiles.Points(nil, x.Values)
		n := len(numbers)
		if x.Rules.Quantiles.Valid() {
			numbers = append(numbers, x.Values...)
		}
		for i, v := range numbers[:n] {
			if x.Rules.Intervals.Valid() {
				low, high := x.Rules.Intervals.Bounds(v, i)
				numbers = append(numbers, low, high)
			}
		}
		for i := range n {
			if x.Rules.Intervals.HasVariance() {
				numbers = append(numbers, x.Rules.Intervals.Variance(i))
			}
		}
		for i, v := range numbers[:min(len(cells), len(numbers))] {
			cells[i] = spelled(v)
		}
	default:
		class := x.Encoder.Class(x.Rules.Decision, x.Values)
		cells[0] = x.Classes[class]
		if p.columns == nil {
			cells[1] = spelled(x.Values[class])
			break
		}
		for i, v := range x.Values[:min(len(cells)-1, len(x.Values))] {
			cells[i+1] = spelled(v)
		}
	}
	return cells
}

// memberNames are the names that a prediction can add to a JSON object.
var memberNames = []string{predictionName, mixtureName, probabilitiesName, truncatedName, intervalName, varianceName, quantilesName, scoreName, thresholdName, explanationName}

// object writes a JSON object with the prediction as further members.
func (p *Writer) object(row []byte, x Prediction) error {
	row = bytes.TrimSpace(row)
	added := x.members()
	if x.Explanation != nil {
		added = slices.Concat(added, []byte(`,"`+explanationName+`":`), x.Explanation)
	}
	for _, name := range memberNames {
		if quoted := []byte(`"` + name + `"`); !bytes.Contains(row, quoted) || !bytes.Contains(added, append(quoted, ':')) {
			continue
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(row, &members); err != nil {
			return err
		}
		if _, has := members[name]; has {
			return fmt.Errorf("a record has a field %s already: rename it", name)
		}
	}
	body := bytes.TrimSpace(row[:len(row)-1]) // without the brace
	p.out.Write(body)
	if len(body) > 1 {
		p.out.WriteByte(',')
	}
	p.out.Write(added)
	_, err := p.out.WriteString("}\n")
	return err
}

func spelled(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Flush writes what is buffered.
func (p *Writer) Flush() error {
	if p.cells != nil {
		p.cells.Flush()
		if err := p.cells.Error(); err != nil {
			return err
		}
	}
	return p.out.Flush()
}
