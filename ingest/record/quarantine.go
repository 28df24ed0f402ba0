package record

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/ingest"
)

// The headers of a record in quarantine, with the names that Kafka Connect uses. They come
// before the headers of the original.
const (
	originTopic     = "__connect.errors.topic"
	originPartition = "__connect.errors.partition"
	originOffset    = "__connect.errors.offset"
	errorStage      = "__connect.errors.stage"
	errorMessage    = "__connect.errors.exception.message"
)

var quarantineHeaders = []string{originTopic, originPartition, originOffset, errorStage, errorMessage}

// Quarantined returns the copy of an invalid record for a quarantine topic that
// accepts batches of up to limit bytes. The copy is the original record, truncated
// if necessary, with Kafka Connect's headers for its origin and the error. values and
// redact determine how much of the original it contains.
func Quarantined(topic string, partition int32, r *ingest.Record, why error, values Values, redact *Redaction, limit int) ingest.Record {
	why = redact.Reason(values.Reason(why), r.Value)
	bare, notes := values.of(*r)
	if bare.Value != nil {
		var more []ingest.Header
		bare, more = redact.of(bare)
		notes = append(notes, more...)
	}
	return bounded(bare, append([]ingest.Header{
		{Key: originTopic, Value: []byte(topic)},
		{Key: originPartition, Value: strconv.AppendInt(nil, int64(partition), 10)},
		{Key: originOffset, Value: strconv.AppendInt(nil, r.Offset, 10)},
		{Key: errorStage, Value: []byte("VALUE_CONVERTER")},
		{Key: errorMessage, Value: []byte(Reason(why))},
	}, notes...), false, limit)
}

// Rejected is a record that was sent to quarantine.
type Rejected struct {
	Topic     string // of the original
	Partition int32
	Offset    int64
	Reason    string

	Original ingest.Record // without the headers of the quarantine; its offset is that in the quarantine topic

	// Incomplete says why Original is not the whole record: which parts were truncated, that
	// fields were redacted, or that it could not be read. It is empty for the whole record.
	Incomplete string
}

// ErrForeign reports a record of a quarantine topic that Quarantined has not written.
var ErrForeign = errors.New("not a record in quarantine")

// ReadQuarantined is the inverse of Quarantined. It returns ErrForeign for any other record.
func ReadQuarantined(r ingest.Record) (Rejected, error) {
	own := len(quarantineHeaders)
	if r.Unread != nil || len(r.Headers) < own {
		return Rejected{}, ErrForeign
	}
	for i, name := range quarantineHeaders {
		if r.Headers[i].Key != name {
			return Rejected{}, ErrForeign
		}
	}
	partition, err := strconv.ParseInt(string(r.Headers[1].Value), 10, 32)
	offset, bad := strconv.ParseInt(string(r.Headers[2].Value), 10, 64)
	if err != nil || bad != nil || partition < 0 || offset < 0 {
		return Rejected{}, ErrForeign
	}
	out := Rejected{Topic: string(r.Headers[0].Value), Partition: int32(partition), Offset: offset, Reason: string(r.Headers[4].Value), Original: r}
	out.Original.Headers = slices.Clip(r.Headers[own:])
	var lacks []string
	for _, h := range out.Original.Headers {
		if name, ok := strings.CutPrefix(h.Key, "accrete.truncated."); ok {
			lacks = append(lacks, name)
		}
	}
	switch {
	case slices.ContainsFunc(out.Original.Headers, func(h ingest.Header) bool { return h.Key == redactedValue }):
		out.Incomplete = "redacted"
	case lacks != nil:
		out.Incomplete = strings.Join(lacks, " and ") + " truncated"
	case len(r.Headers) > ingest.MaxHeaders:
		out.Incomplete = "headers truncated"
	case r.Value == nil && out.Reason != noValue:
		out.Incomplete = "it could not be read"
	}
	return out, nil
}
