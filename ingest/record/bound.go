package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest"
)

// Records for an OutputTopic always fit, whatever the input holds. A part of a record
// that is too large is truncated, and a header gives the length and the SHA-256 of the
// original:
//
//	accrete.truncated.value: 12582912 sha256=3a5e…
//	accrete.truncated.key: 300000 sha256=81f0…
//	accrete.truncated.headers: 65 in 70000 sha256=77c1…
//
// The last one gives the number of headers, of which at most 65 are read, and the
// total bytes of their names and values. Its SHA-256 covers the names and values, each
// preceded by its length as four bytes, most significant first. Headers that do not
// fit may be omitted entirely.
const (
	truncatedValue   = "accrete.truncated.value"
	truncatedKey     = "accrete.truncated.key"
	truncatedHeaders = "accrete.truncated.headers"
	truncatedParent  = "accrete.truncated.traceparent" // only in predictions: the header is omitted entirely
)

const (
	// MinMessageBytes is the smallest max.message.bytes allowed for an output
	// topic. A prediction of 256 targets takes 7 KB, and its label takes as much.
	MinMessageBytes = 32 << 10

	keyShare    = 8 // a key may take an eighth of the limit: 128 KiB with Kafka's default of 1 MiB
	headerShare = 4 // the headers may take a quarter

	reasonBytes = 1 << 10
)

// bounded returns r, truncated to limit bytes. The headers in own, and notes about what
// is truncated, are put before the headers of r. If again is set, r has been bounded
// before, and its headers include the notes of that, which are not repeated.
func bounded(r ingest.Record, own []ingest.Header, again bool, limit int) ingest.Record {
	var notes []ingest.Header
	with := func() ingest.Record {
		out := r
		out.Headers = slices.Concat(own, notes, r.Headers)
		return out
	}
	all := r.Headers
	note := func(name string, value func() string) {
		named := func(h ingest.Header) bool { return h.Key == name }
		if slices.ContainsFunc(notes, named) || again && slices.ContainsFunc(all, named) {
			return
		}
		notes = append(notes, ingest.Header{Key: name, Value: []byte(value())})
	}
	ofHeaders := func() string { return describeHeaders(all) }
	if !again && len(all) > ingest.MaxHeaders {
		note(truncatedHeaders, ofHeaders)
		r.Headers = all[:ingest.MaxHeaders]
	}
	if whole := with(); whole.Size() <= limit {
		return whole
	}
	if most := limit / keyShare; len(r.Key) > most {
		note(truncatedKey, func() string { return describe(r.Key) })
		r.Key = r.Key[:most]
	}
	if kept, cut := fewerHeaders(r.Headers, limit/headerShare); cut {
		note(truncatedHeaders, ofHeaders)
		r.Headers = kept
	}
	if fits := with(); fits.Size() <= limit {
		return fits
	}
	note(truncatedValue, func() string { return describe(r.Value) })
	out := with()
	out.Value = out.Value[:max(0, len(out.Value)-max(0, out.Size()-limit))]
	return out
}

// describe returns the length and the hash of a part before it is truncated.
func describe(b []byte) string {
	sum := sha256.Sum256(b)
	return strconv.Itoa(len(b)) + " sha256=" + hex.EncodeToString(sum[:])
}

func describeHeaders(hs []ingest.Header) string {
	total, sum := 0, sha256.New()
	add := func(b []byte) {
		total += len(b)
		sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
		sum.Write(b)
	}
	for _, h := range hs {
		add([]byte(h.Key))
		add(h.Value)
	}
	return fmt.Sprintf("%d in %d sha256=%x", len(hs), total, sum.Sum(nil))
}

// fewerHeaders truncates hs to room bytes, and reports whether anything is
// missing. A header takes at most half of the remaining room, so that a large header
// does not displace the next ones. Names are not truncated.
func fewerHeaders(hs []ingest.Header, room int) (kept []ingest.Header, cut bool) {
	const around = 10 // bytes of the two lengths
	for _, h := range hs {
		most := room/2 - len(h.Key) - around
		if most < 0 {
			cut = true
			continue
		}
		if len(h.Value) > most {
			h.Value, cut = h.Value[:most], true
		}
		room -= len(h.Key) + len(h.Value) + around
		kept = append(kept, h)
	}
	return kept, cut
}

// Reason returns the text of an error as valid UTF-8 of at most about 2 KiB.
func Reason(err error) string {
	s := err.Error()
	if len(s) <= reasonBytes {
		return strings.ToValidUTF8(s, "\ufffd")
	}
	n := reasonBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.ToValidUTF8(s[:n], "\ufffd") + "…"
}

// Smaller returns a function that reduces a record that an output topic has
// rejected to half its size, as far as possible, and reports whether the record
// is smaller. Records of the topic quarantine are copies of input records; all
// others are predictions.
func Smaller(quarantine string) func(topic string, r *ingest.Record) bool {
	return func(topic string, r *ingest.Record) bool {
		was := r.Size()
		if topic == quarantine {
			*r = smallerQuarantined(*r, was/2)
		} else {
			*r = smallerPrediction(*r, was/2)
		}
		return r.Size() < was
	}
}

// smallerQuarantined returns r, which Quarantined has returned, truncated to limit bytes. The
// headers of the quarantine stay the first ones, and as they are.
func smallerQuarantined(r ingest.Record, limit int) ingest.Record {
	n := min(len(quarantineHeaders), len(r.Headers))
	own := r.Headers[:n]
	r.Headers = r.Headers[n:]
	return bounded(r, own, true, limit)
}

// smallerPrediction returns r without probabilities, and with its key truncated
// to its share of limit.
func smallerPrediction(r ingest.Record, limit int) ingest.Record {
	if most := limit / keyShare; len(r.Key) > most {
		if !slices.ContainsFunc(r.Headers, func(h ingest.Header) bool { return h.Key == truncatedKey }) {
			r.Headers = append(slices.Clip(r.Headers), ingest.Header{Key: truncatedKey, Value: []byte(describe(r.Key))})
		}
		r.Key = r.Key[:most]
	}
	if f := formOf(&r); f != nil {
		r.Value = f.smaller(r.Value)
	} else {
		r.Value = withoutProbabilities(r.Value)
	}
	return r
}

// withoutProbabilities replaces the probabilities of a prediction with their
// number.
func withoutProbabilities(v []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(v))
	var name json.Token
	from := 0
	for range 4 { // {, "prediction", its value, "probabilities"
		from = int(d.InputOffset())
		var err error
		if name, err = d.Token(); err != nil {
			return v
		}
	}
	var all map[string]float64
	if name != "probabilities" || d.Decode(&all) != nil {
		return v
	}
	omitted, rest := len(all), v[d.InputOffset():]
	if bytes.HasPrefix(rest, []byte(truncatedMember)) {
		rest = rest[len(truncatedMember):]
		end := bytes.IndexByte(rest, ',')
		more, _ := strconv.Atoi(string(rest[:end]))
		omitted, rest = omitted+more, rest[end:]
	}
	out := append(bytes.Clone(v[:from]), truncatedMember...)
	return append(strconv.AppendInt(out, int64(omitted), 10), rest...)
}
