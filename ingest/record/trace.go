package record

import "github.com/accrete-ml/accrete/ingest"

// Trace is the origin of a record, from its headers traceparent and tracestate (W3C Trace
// Context).
type Trace struct {
	Topic         string
	Offset        int64
	Parent, State string
}

// MostTraces is the maximum number of traces that are reported for a batch.
const MostTraces = 128

// AddTrace appends the trace of a record, if it has one and to has fewer than MostTraces.
func AddTrace(to []Trace, topic string, r *ingest.Record) []Trace {
	t := Trace{Topic: topic, Offset: r.Offset}
	for _, h := range r.Headers {
		switch {
		case len(h.Value) > parentBytes:
		case h.Key == parent && t.Parent == "":
			t.Parent = string(h.Value)
		case h.Key == traceState && t.State == "":
			t.State = string(h.Value)
		}
	}
	if t.Parent == "" || len(to) >= MostTraces {
		return to
	}
	return append(to, t)
}
