package audit

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/accrete-ml/accrete/ingest"
)

// Filter describes the records of the inputs for which all of its conditions hold.
type Filter struct {
	text       string
	conditions []condition
}

type condition func(topic string, partition int32, r *ingest.Record) bool

// ParseFilter reads conditions that are separated by "&": topic=NAME, partition=NUMBER,
// key=KEY, before=TIME, from=TIME (RFC 3339) and header:NAME=VALUE. In names and values,
// %26 stands for "&" and %25 for "%".
func ParseFilter(text string) (Filter, error) {
	f := Filter{text: text}
	for _, part := range strings.Split(text, "&") {
		name, value, found := strings.Cut(part, "=")
		n, bad := url.PathUnescape(name)
		v, worse := url.PathUnescape(value)
		if !found || bad != nil || worse != nil {
			return f, fmt.Errorf("%q: want topic=…, partition=…, key=…, before=TIME, from=TIME or header:NAME=…, joined by &", text)
		}
		c, err := parseCondition(n, v)
		if err != nil {
			return f, fmt.Errorf("%q: %w", text, err)
		}
		f.conditions = append(f.conditions, c)
	}
	return f, nil
}

func parseCondition(name, value string) (condition, error) {
	header, named := strings.CutPrefix(name, "header:")
	switch {
	case named:
		return func(_ string, _ int32, r *ingest.Record) bool {
			for _, h := range r.Headers {
				if h.Key == header && string(h.Value) == value {
					return true
				}
			}
			return false
		}, nil
	case name == "topic":
		return func(topic string, _ int32, _ *ingest.Record) bool { return topic == value }, nil
	case name == "partition":
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 0 {
			return nil, errors.New("want the number of a partition, for example 0")
		}
		return func(_ string, p int32, _ *ingest.Record) bool { return int64(p) == n }, nil
	case name == "key":
		return func(_ string, _ int32, r *ingest.Record) bool { return r.Key != nil && string(r.Key) == value }, nil
	case name == "before", name == "from":
		at, err := time.Parse(time.RFC3339, value)
		if err != nil {
			return nil, errors.New("want a time, for example 2006-01-02T15:04:05Z")
		}
		return func(_ string, _ int32, r *ingest.Record) bool {
			return (r.Time < at.UnixMilli()) == (name == "before")
		}, nil
	}
	return nil, fmt.Errorf("unknown condition %q: want topic, partition, key, before, from or header:NAME", name)
}

// Match reports whether f describes a record.
func (f Filter) Match(topic string, partition int32, r *ingest.Record) bool {
	for _, holds := range f.conditions {
		if !holds(topic, partition, r) {
			return false
		}
	}
	return true
}

// ParseFilters reads several Filters.
func ParseFilters(texts []string) (fs []Filter, err error) {
	for _, text := range texts {
		f, err := ParseFilter(text)
		if err != nil {
			return nil, err
		}
		fs = append(fs, f)
	}
	return fs, nil
}
