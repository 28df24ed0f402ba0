package serve_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/pipeline/event"
	"github.com/accrete-ml/accrete/pipeline/model"
	"github.com/accrete-ml/accrete/test/kafkatest"
)

const (
	recordLimit = 1 << 20  // largest value that is decoded, in bytes
	bombLimit   = 64 << 20 // largest batch that is decompressed, in bytes
)

// heavy generates random records. Some are far too large for a topic without
// compression.
type heavy struct {
	*rand.Rand
	filler []byte
}

// some returns filler of a random length up to most, with a uniform distribution of
// the length's logarithm.
func (h heavy) some(most int) []byte {
	n := int(math.Exp(h.Float64()*math.Log(float64(most)))) - 1
	return h.filler[:n]
}

// record returns a record, and reports whether it is valid and whether it has a
// label.
func (h heavy) record() (r ingest.Record, good, labelled bool) {
	if h.IntN(3) > 0 {
		r.Key = h.some(4 << 20)
	}
	headers := h.IntN(6)
	if h.IntN(8) == 0 {
		headers = h.IntN(ingest.MaxHeaders + 20)
	}
	for range headers {
		name := []string{"traceparent", "ce_id", "accrete.truncated.value", "__connect.errors.topic", string(h.some(1 << 16))}[h.IntN(5)]
		r.Headers = append(r.Headers, ingest.Header{Key: name, Value: h.some(1 << 20)})
	}
	label := fmt.Sprintf(`,"label":"%c%s"`, 'a'+rune(h.IntN(4)), strings.Repeat(`\u0001\"`, 127))
	if labelled = h.IntN(4) > 0; !labelled {
		label = ""
	}
	text := fmt.Sprintf(`{"features":{"x":%v,"y":%v}%s}`, h.NormFloat64(), h.NormFloat64(), label)
	switch good = true; h.IntN(12) {
	case 0:
		r.Value, good = h.some(16<<20), false
	case 1:
		r.Value, good = append([]byte("\xff\xc3"), h.some(2<<20)...), false
	case 2: // exactly at the limit of the decoder
		r.Value = append([]byte(text), bytes.Repeat([]byte(" "), recordLimit-len(text))...)
	case 3:
		r.Value, good = append([]byte(text), bytes.Repeat([]byte(" "), recordLimit-len(text)+1)...), false
	case 4:
		r.Value, good = nil, false
	case 5: // as large as the topic accepts; its copy in quarantine has more headers
		r.Value, good = append([]byte("no"), h.some(recordLimit-200)...), false
	default:
		r.Value = []byte(text)
	}
	good = good && len(r.Headers) <= ingest.MaxHeaders
	return r, good, good && labelled
}

// TestEveryRecordIsAccountedForWhateverItsSize sends random records through a
// learner and a scorer. Each record must be learned, predicted or in quarantine,
// each output record must be accepted, and neither process may stop.
func TestEveryRecordIsAccountedForWhateverItsSize(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 100
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // or the large records would take twice the memory
	w := newWorld(t)
	w.asked = w.in
	rng := rand.New(rand.NewPCG(uint64(n), 9))
	filler := make([]byte, 16<<20)
	for i := range filler {
		filler[i] = "abcdefgh\""[i%9]
		if i%1000 == 0 {
			filler[i] = byte(rng.Uint32()) | 0x80
		}
	}
	h := heavy{rng, filler}
	var learned, predicted, quarantined, skipped, seen int64
	w.learnEvents = func(ev event.Event) {
		if l, ok := ev.(event.Learned); ok {
			seen += l.Counts.Learned
			learned, predicted = learned-l.Counts.Learned, predicted-l.Counts.Predicted
			quarantined, skipped = quarantined-l.Counts.Quarantined, skipped-l.Counts.Skipped
		}
	}
	// Compression ratios differ between codecs.
	var clients []*ingest.Client
	for _, codec := range []ingest.Codec{ingest.Gzip, ingest.LZ4, ingest.Zstd} {
		clients = append(clients, kafkatest.ClientOf(t, w.addr, func(c *ingest.Config) { c.Compression, c.MaxBatchBytes = codec, bombLimit }))
	}
	kafkatest.Fill(t, w.client, w.in, 1, rings(1, 50, class)) // columns and task
	learned += 50
	tx := clients[0].Transactor(kafkatest.Name("tx"), 30*time.Second)
	if err := tx.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	send := func(rs ...ingest.Record) {
		t.Helper()
		var err error
		if rng.IntN(10) == 0 { // followed by a transaction marker, which is skipped
			if _, err = tx.Write(t.Context(), w.in, 0, rs); err == nil {
				err = tx.Commit(t.Context())
			}
			skipped++
		} else {
			err = clients[rng.IntN(len(clients))].Producer().Publish(t.Context(), w.in, 0, rs)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	good := int64(50)
	for i := range n {
		r, ok, labelled := h.record()
		switch {
		case labelled:
			learned++
		case ok:
			predicted++
		default:
			quarantined++
		}
		if ok {
			good++
		}
		send(r)
		if i == n/2 {
			zeros := make([]byte, bombLimit)
			send(ingest.Record{Value: zeros[:bombLimit-100]})   // the largest batch that is read
			send(ingest.Record{Key: []byte("k"), Value: zeros}) // one that is too large
			send(ingest.Record{Value: zeros[:bombLimit/2-20]}, ingest.Record{Value: zeros[:bombLimit/2]})
			quarantined += 4
		}
	}
	send(ingest.Record{Value: []byte(rings(2, 1, none)[0])})
	predicted, good = predicted+1, good+1
	bad := quarantined
	if skipped == 0 || bad < 20 {
		t.Errorf("%d skipped, %d bad: this shows little", skipped, bad)
	}
	_, end, err := w.client.Offsets(t.Context(), w.in)
	if err != nil {
		t.Fatal(err)
	}
	w.learn(t, w.in)
	w.learn(t, w.in) // again, from the end of the input
	if w.learn(t, w.in); learned != 0 || predicted != 0 || quarantined != 0 || skipped > 1 || seen == 0 {
		t.Errorf("not as sent: %d to be learned, %d predicted, %d in quarantine, %d skipped", learned, predicted, quarantined, skipped)
	}
	if err := w.scorer(true).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(answers(kafkatest.Read(t, w.client, model.PredictionsTopic(w.model)))); got != int(good) {
		t.Errorf("%d of %d records have a prediction, of %d offsets", got, good, end[0])
	}
	if got := len(answers(kafkatest.Read(t, w.client, model.ScoresTopic(w.model)))); got != int(good) {
		t.Errorf("%d of %d records have a score", got, good)
	}
	if got := len(kafkatest.Read(t, w.client, model.QuarantineTopic(w.model))); got != 2*int(bad) {
		t.Errorf("%d records in quarantine, want %d of the learner and as many of the scorer", got, bad)
	}
}
