package quarantine

import (
	"encoding/hex"
	"encoding/json"

	"github.com/accrete-ml/accrete/ingest"
)

// A marker is a record of the quarantine topic with the header
//
//	accrete.quarantine: replayed
//
// Its value lists the identities of the records that its transaction has sent:
//
//	{"replayed":["6f1ed002ab5595859014ebf0951522d9",…]}
const (
	markerHeader = "accrete.quarantine"
	markerKind   = "replayed"
)

type markerValue struct {
	Replayed []string `json:"replayed"`
}

func newMarker(ids []identity, now int64) ingest.Record {
	v := markerValue{Replayed: make([]string, len(ids))}
	for i, id := range ids {
		v.Replayed[i] = hex.EncodeToString(id[:])
	}
	b, _ := json.Marshal(v) // strings alone
	return ingest.Record{Time: now, Value: b, Headers: []ingest.Header{{Key: markerHeader, Value: []byte(markerKind)}}}
}

// readMarker returns the identities in a marker, or nil if r is not a marker.
func readMarker(r *ingest.Record) []identity {
	if len(r.Headers) != 1 || r.Headers[0].Key != markerHeader || string(r.Headers[0].Value) != markerKind {
		return nil
	}
	var v markerValue
	if json.Unmarshal(r.Value, &v) != nil {
		return nil
	}
	ids := make([]identity, 0, len(v.Replayed))
	for _, s := range v.Replayed {
		var id identity
		if n, err := hex.Decode(id[:], []byte(s)); err == nil && n == len(id) && len(s) == 2*n {
			ids = append(ids, id)
		}
	}
	return ids
}
