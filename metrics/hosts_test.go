package metrics

import (
	"net/http"
	"testing"
)

// A page of another site cannot read a server on this machine through a name of its own.
func TestForeignHostsAreRefused(t *testing.T) {
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, c := range []struct {
		hosts []string
		host  string
		path  string
		code  int
	}{
		{nil, "evil.example:8080", "/", 421},
		{nil, "evil.example", "/metrics", 421},
		{nil, "localhost.evil.example", "/", 421},
		{nil, "evil.example", "/livez", 200},
		{nil, "localhost:8080", "/", 200},
		{nil, "LOCALHOST.", "/", 200},
		{nil, "a.localhost", "/", 200},
		{nil, "127.0.0.1:1", "/", 200},
		{nil, "[::1]:8080", "/", 200},
		{nil, "10.1.2.3", "/", 200},
		{[]string{"accrete.example"}, "Accrete.example:443", "/", 200},
		{[]string{"accrete.example"}, "evil.example", "/", 421},
	} {
		s, err := Serve(t.Context(), "127.0.0.1:0", ok, Access{Hosts: c.hosts})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Addr()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = c.host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		s.Close()
		if resp.StatusCode != c.code {
			t.Errorf("%q of %q with hosts %q: %d, want %d", c.path, c.host, c.hosts, resp.StatusCode, c.code)
		}
		if kind := resp.Header.Get("Content-Type"); c.code == 421 && kind != "application/json" {
			t.Errorf("the error is %q, want JSON", kind)
		}
	}
	s, err := Serve(t.Context(), "0.0.0.0:0", ok, Access{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Addr(), nil)
	req.Host = "any.example"
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("a server for all addresses: %v, %v", resp, err)
	}
}
