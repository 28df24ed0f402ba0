package inference

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/accrete-ml/accrete/ingest"
)

// keyHeader is the request header with the key of the rows.
const keyHeader = "Accrete-Key"

// predict answers POST /predict. The body is a JSON object like the value of a record in a
// topic, and the response is the value of its prediction record. For a list of objects, the
// response is a list.
func (s *Server) predict(r *http.Request, b, rest []byte) (a result, fault *failure) {
	m, fault := s.current(r)
	if fault != nil {
		return a, fault
	}
	explain, fault := explains(r)
	if fault != nil {
		return a, fault
	}
	if len(rest) > 0 {
		return a, bad("binary data is for the paths below /v2")
	}
	w, back, fault := s.begin(m)
	if fault != nil {
		return a, fault
	}
	defer back(w)
	key := []byte(nil)
	if k := r.Header.Get(keyHeader); k != "" {
		key = []byte(k)
	}
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return a, bad("the body is empty")
	}
	objects, list, fault := objectsOf(b)
	if fault != nil {
		return a, fault
	}
	if w.log, fault = s.request(r, list); fault != nil {
		return a, fault
	}
	for i, o := range objects {
		if err := w.add(o, key); err != nil {
			switch {
			case list:
				return a, bad("row %d: %v", i, err)
			case several(b):
				return a, bad("the body has more than one object: want one, or a list of objects, [{…},{…}]")
			}
			return a, bad("%v", err)
		}
	}
	out, rules := w.predictions()
	var why []string
	if explain {
		if why, fault = w.explanations(); fault != nil {
			return a, fault
		}
	}
	var all bytes.Buffer
	for i := range objects {
		switch {
		case i > 0:
			all.WriteByte(',')
		case list:
			all.WriteByte('[')
		}
		rules.Intervals, rules.Record = out.Uncertainty(i), &ingest.Record{Value: objects[i]}
		value := w.encoder.Value(rules, out.Task, out.Row(i))
		if w.log != nil {
			w.log.Rows[i].Prediction = value
			value = withMember(value, "id", strconv.Quote(w.log.RowID(i)))
		}
		if why != nil {
			value = withMember(value, "explanation", why[i])
		}
		all.Write(value)
	}
	if list && len(objects) == 0 {
		all.WriteByte('[')
	}
	if list {
		all.WriteByte(']')
	}
	return result{body: all.Bytes(), rows: len(objects), log: w.log}, nil
}

// objectsOf returns the objects of a body, which is not empty, and whether it is a list of them.
func objectsOf(b []byte) (objects []json.RawMessage, list bool, fault *failure) {
	objects, list = []json.RawMessage{b}, b[0] == '['
	switch {
	case !list && b[0] != '{' && utf8.Valid(b):
		return nil, list, bad("the body is %.20q: want an object, or a list of objects", b)
	case list:
		if err := json.Unmarshal(b, &objects); err != nil {
			return nil, list, bad("the body is not JSON: %v", err)
		}
		if len(objects) > MaxRows {
			return nil, list, status(http.StatusRequestEntityTooLarge, "%d rows, the limit is %d", len(objects), MaxRows)
		}
	}
	return objects, list, nil
}

// several reports whether b has another object after the first, as JSON lines have.
func several(b []byte) bool {
	d, first := json.NewDecoder(bytes.NewReader(b)), json.RawMessage(nil)
	if d.Decode(&first) != nil {
		return false
	}
	rest := bytes.TrimSpace(b[d.InputOffset():])
	return len(rest) > 0 && rest[0] == '{'
}
