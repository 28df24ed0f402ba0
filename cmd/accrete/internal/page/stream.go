package page

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/accrete-ml/accrete/metrics"
)

const eventStream = "text/event-stream"

// writeLimit is how long a reader may take to accept an update.
const writeLimit = 10 * time.Second

// events sends the sections that have changed, once a second. A reader that is slow
// misses intermediate states and costs no memory.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead { // which gets no events, and would not end
		protect(w, eventStream)
		return
	}
	select {
	case p.streams <- struct{}{}:
		defer func() { <-p.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		metrics.Refuse(w, http.StatusServiceUnavailable, "too many readers of the page")
		return
	}
	protect(w, eventStream)
	w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	if err := out.SetReadDeadline(time.Time{}); err != nil { // the deadline of the server is for reading requests
		return
	}
	send := func(event, data string) error {
		if err := out.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data); err != nil {
			return err
		}
		return out.Flush()
	}
	if _, err := fmt.Fprint(w, "retry: 1000\n"); err != nil {
		return
	}
	if send("boot", p.info.Boot) != nil {
		return
	}
	due := time.NewTicker(p.every)
	defer due.Stop()
	for sent := int64(0); ; {
		f, err := p.current()
		if err != nil {
			return
		}
		changed := map[string]string{}
		for name, at := range f.changed {
			if at > sent {
				changed[name] = f.html[name]
			}
		}
		data, err := json.Marshal(changed)
		if err != nil || send("update", string(data)) != nil {
			return
		}
		sent = f.number
		select {
		case <-due.C:
		case <-r.Context().Done():
			return
		case <-p.closing:
			return
		}
	}
}
