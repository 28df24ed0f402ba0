package record

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/ingest/decode"
)

// Values determines how much of an invalid record is written to the quarantine topic, the
// log and the live page: ValuesFull, ValuesHash or ValuesNone. The zero value is ValuesFull.
type Values string

const (
	ValuesFull Values = "full" // key, value, headers and the whole reason
	ValuesHash Values = "hash" // length and SHA-256 of key, value and headers
	ValuesNone Values = "none" // only the length of key and value and the number of headers
)

// Reason returns the part of err, the reason for which a record is invalid, that may be
// shown: all of it with ValuesFull, otherwise only what was being read, because the rest
// may quote the record.
func (v Values) Reason(err error) error {
	if cmp.Or(v, ValuesFull) == ValuesFull {
		return err
	}
	return bare(err, fmt.Sprintf("quarantine.values is %s", v))
}

// bare reduces err to what was being read when it occurred, and names the option that
// withholds the rest.
func bare(err error, option string) error {
	var bad *decode.Error
	var short withoutValues
	switch {
	case errors.As(err, &short):
		return err
	case errors.As(err, &bad):
		return withoutValues(fmt.Sprintf("%s: invalid (%s)", bad.Stage, option))
	}
	return withoutValues(fmt.Sprintf("invalid (%s)", option))
}

// withoutValues is an error that quotes nothing.
type withoutValues string

func (w withoutValues) Error() string { return string(w) }

// of returns the record without its key, value and headers, unless they may be shown, and
// headers that describe what is missing.
func (v Values) of(r ingest.Record) (bare ingest.Record, notes []ingest.Header) {
	if cmp.Or(v, ValuesFull) == ValuesFull {
		return r, nil
	}
	note := func(name string, n int, described func() string) {
		if n == 0 {
			return
		}
		text := fmt.Sprint(n)
		if v == ValuesHash {
			text = described()
		}
		notes = append(notes, ingest.Header{Key: name, Value: []byte(text)})
	}
	note(truncatedValue, len(r.Value), func() string { return describe(r.Value) })
	note(truncatedKey, len(r.Key), func() string { return describe(r.Key) })
	note(truncatedHeaders, len(r.Headers), func() string { return describeHeaders(r.Headers) })
	bare = r
	bare.Key, bare.Value, bare.Headers = nil, nil, nil
	return bare, notes
}
