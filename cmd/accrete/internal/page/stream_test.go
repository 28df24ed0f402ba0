package page

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/pipeline/event"
)

// A stream begins with all sections, and continues with those that have changed.
func TestStreamSendsWhatHasChanged(t *testing.T) {
	f := newFixture(t, "m")
	r, err := http.Get(f.server.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	next := func() map[string]string {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: {"); ok {
				var update map[string]string
				if err := json.Unmarshal([]byte("{"+data), &update); err != nil {
					t.Fatal(err)
				}
				if len(update) > 0 {
					return update
				}
			}
		}
		t.Fatal("the stream has ended")
		return nil
	}
	if first := next(); len(first) != len(sections) {
		t.Errorf("begins with %d sections, want %d", len(first), len(sections))
	}
	f.event(event.Quarantining{Bad: []event.Bad{{Topic: "in", Err: errors.New("not JSON")}}})
	for {
		update := next()
		if strings.Contains(update["bad"], "not JSON") {
			if update["partitions"] != "" {
				t.Error("it sends sections that have not changed")
			}
			break
		}
	}
	f.page.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

func TestStreamsAreLimited(t *testing.T) {
	f := newFixture(t, "m")
	for range mostStreams {
		f.page.streams <- struct{}{}
	}
	r, err := http.Get(f.server.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more is answered with %s", r.Status)
	}
}

// A request for the headers ends with them: the connection answers the next request.
func TestHeadersOfTheStream(t *testing.T) {
	f := newFixture(t, "m")
	c, err := net.Dial("tcp", f.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\nHEAD /status HTTP/1.1\r\nHost: localhost\r\n\r\n")
	from := bufio.NewReader(c)
	for _, want := range []string{"text/event-stream", "application/json"} {
		r, err := http.ReadResponse(from, &http.Request{Method: "HEAD"})
		if err != nil || r.Header.Get("Content-Type") != want {
			t.Fatalf("%v, %v, want %s", r, err, want)
		}
	}
}
