package inference

import (
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest"
	"github.com/accrete-ml/accrete/metrics"
	"github.com/accrete-ml/accrete/serve"
)

// Brokers that accept connections and do not answer keep nobody from the metadata of the model
// that is served.
func TestMetadataWhileBrokersDoNotAnswer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	kafka, err := ingest.New(ingest.Config{Brokers: []string{silent.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	defer kafka.Close()
	m, _ := typed(t)
	mux := http.NewServeMux()
	(&Server{Name: "fraud", Model: func() *serve.Served { return m }, Past: serve.NewArchive(kafka, "fraud.log", nil, func() int64 { return 7 })}).Register(mux)
	s, err := metrics.Serve(t.Context(), "127.0.0.1:0", mux, metrics.Access{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	get := http.Client{Timeout: time.Minute}
	r, err := get.Get("http://" + s.Addr() + "/v2/models/fraud")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := in[modelMetadata](t, string(body)); r.StatusCode != http.StatusOK || !slices.Equal(got.Versions, []string{version(m)}) {
		t.Errorf("%d %s, want the version %s alone", r.StatusCode, body, version(m))
	}
}
