package inference

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/accrete-ml/accrete/ingest/record"
)

// MaxExplained is the maximum number of rows in a request for explanations. An explanation
// takes much longer than a prediction.
const MaxExplained = 64

// explains reports whether a request to /predict asks for explanations, with the query
// parameter explain. It accepts the spellings of strconv.ParseBool.
func explains(r *http.Request) (bool, *failure) {
	query, fault := queried(r, "explain")
	if fault != nil || !query.Has("explain") {
		return false, fault
	}
	v := query.Get("explain")
	explain, err := strconv.ParseBool(v)
	if err != nil {
		return false, bad("the query parameter explain is %.100q: want true or false", v)
	}
	return explain, nil
}

// queried returns the query parameters of a request, which must be among those that are known: a
// misspelt one would otherwise be ignored without notice.
func queried(r *http.Request, known ...string) (url.Values, *failure) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, bad("the query %.100q of the address is invalid: %v", r.URL.RawQuery, err)
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch {
		case slices.Contains(known, name):
			continue
		case len(known) == 0:
			return nil, bad("unknown query parameter %.100q: there are none, parameters are in the body", name)
		}
		return nil, bad("unknown query parameter %.100q: want %s", name, strings.Join(known, ", "))
	}
	return query, nil
}

// explanations returns the explanation of each row as JSON.
func (w *worker) explanations() (out []string, fault *failure) {
	if n := w.batch.Len(); n > MaxExplained {
		return nil, status(http.StatusRequestEntityTooLarge, "%d rows to explain, the limit is %d", n, MaxExplained)
	}
	all, err := w.model.Explain(&w.batch)
	if err != nil {
		return nil, bad("%v", err)
	}
	names := w.model.Schema.Classes
	if len(names) == 0 {
		names = w.model.Decode.Labels
	}
	for _, e := range all {
		out = append(out, string(record.AppendExplanation(nil, e, &w.model.Schema, names)))
	}
	return out, nil
}

// withMember returns a JSON object with another member, whose value is JSON.
func withMember(object []byte, name, value string) []byte {
	b := append(bytes.Clone(bytes.TrimSuffix(object, []byte("}"))), `,"`...)
	b = append(append(b, name...), `":`...)
	return append(append(b, value...), '}')
}
