package inference

import (
	"bytes"
	"net/http"
	"sync"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
	"github.com/accrete-ml/accrete/ingest/record"
	"github.com/accrete-ml/accrete/learner"
	"github.com/accrete-ml/accrete/serve"
	"github.com/accrete-ml/accrete/serve/requests"
)

// worker decodes and predicts the rows of one request at a time.
type worker struct {
	model   *serve.Served
	decoder *decode.Decoder
	schema  *decode.Schema // schema of the decoder before its first row
	encoder *record.Encoder
	batch   learner.Batch
	log     *requests.Request // receives the rows; nil: the request is not logged
}

// workers returns a function that returns a worker for a model, and a function to give the
// worker back. Workers are pooled. After a new snapshot, a worker of the previous model that
// reads rows in the same way keeps its decoder and its memory, so that requests do not have to
// create new decoders.
func workers(p record.Passed) func(m *serve.Served) (*worker, func(*worker)) {
	var pool sync.Pool
	back := func(w *worker) {
		if w.decoder.Schema() == w.schema { // otherwise its rows have changed how later rows are read
			pool.Put(w)
		}
	}
	return func(m *serve.Served) (*worker, func(*worker)) {
		w, ok := pool.Get().(*worker)
		switch {
		case ok && w.model == m:
			return w, back
		case ok && w.model.ReadsLike(m):
			w.model, w.encoder = m, newEncoder(m, p).After(w.encoder)
			return w, back
		}
		d, err := m.NewDecoder(m.Decode.AsJSON())
		if err != nil {
			return nil, nil // impossible: the learner uses the same options
		}
		return &worker{model: m, decoder: d, schema: d.Schema(), encoder: newEncoder(m, p)}, back
	}
}

func newEncoder(m *serve.Served, p record.Passed) *record.Encoder {
	return record.NewEncoder(m.ID, m.Schema.Classes, ingest.DefaultMaxMessageBytes).Passing(p)
}

// begin returns a worker without rows, and a function to give it back.
func (s *Server) begin(m *serve.Served) (*worker, func(*worker), *failure) {
	if !predicts(m) {
		return nil, nil, status(http.StatusServiceUnavailable, "the model has seen no row yet: write one to an input topic of its learner")
	}
	w, back := s.pool(m)
	if w == nil {
		return nil, nil, status(http.StatusInternalServerError, "the options of the model are invalid")
	}
	w.batch.Reset(len(m.Schema.Columns))
	w.log = nil
	return w, func(w *worker) {
		for i, n := range w.decoder.WithoutRow() {
			if s.NoRow != nil {
				s.NoRow(m.Decode.Tables[i].Name(), n)
			}
		}
		back(w)
	}, nil
}

// add decodes a row like a record of a topic with this value and key, and adds it to the batch.
func (w *worker) add(value, key []byte) error {
	row, err := w.model.Read(w.decoder, &ingest.Record{Key: key, Value: value, Time: time.Now().UnixMilli()})
	if err != nil {
		return err
	}
	w.batch.Append(row.X, learner.Label{}, row.Weight)
	w.batch.SetWindows(row.Windows)
	w.batch.SetSparse(row.Sparse)
	if w.log != nil {
		w.log.Rows = append(w.log.Rows, requests.Row{Key: bytes.Clone(row.Key), Value: bytes.Clone(value)})
	}
	if w.model.Keyed() {
		w.batch.SetKey(string(row.Key))
	}
	return nil
}

// predictions returns the predictions for the rows, and a record.Example with what is common to
// all of them.
func (w *worker) predictions() (learner.Predictions, record.Example) {
	out := w.model.Predict(&w.batch)
	return out, record.Example{Decision: out.Decision, Quantiles: out.Quantiles, Mixture: out.Mixture}
}
