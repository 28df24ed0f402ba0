// Package page serves the live page of a learner or a scorer: a server-rendered
// document, kept up to date by server-sent events. It loads nothing from elsewhere.
package page

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/accrete-ml/accrete/internal/config"
	"github.com/accrete-ml/accrete/metrics"
)

//go:embed assets
var assets embed.FS

var templates = template.Must(template.ParseFS(assets, "assets/page.html"))

// sections are the parts of the page that change.
var sections = []string{"status", "reasons", "chart", "tiles", "partitions", "snapshots", "notes", "serving", "columns", "inputs", "bad", "members"}

// Info is what the page displays beside its board.
type Info struct {
	Model, Version string
	Options        []config.Value // in effect, secrets hidden
	Health         *metrics.Health
	Importances    Importances // nil: unknown
	Boot           string      // identifies the process, so that a page notices a restart
}

// Page renders a board. All streams share the renderings of the sections, of which there are at
// most two a second.
type Page struct {
	info    Info
	board   *Board
	gather  prometheus.Gatherer
	every   time.Duration // between two updates of a stream
	streams chan struct{} // a token per open stream
	closing chan struct{}
	once    sync.Once
	begin   sync.Mutex     // held to start work, which must not start once ctx is done
	work    sync.WaitGroup // computes importances
	ctx     context.Context
	cancel  context.CancelFunc

	mu       sync.Mutex
	rendered time.Time
	latest   frame
}

// frame is one rendering of the sections, with the number of the rendering in which
// each last changed.
type frame struct {
	number  int64
	html    map[string]string
	changed map[string]int64
}

const (
	fresh       = 500 * time.Millisecond // how long a rendering is used
	mostStreams = 32
)

// New returns the page of a board. Memory is read from g.
func New(info Info, b *Board, g prometheus.Gatherer) *Page {
	info.Boot = strconv.FormatInt(time.Now().UnixNano(), 36)
	p := &Page{info: info, board: b, gather: g, every: time.Second, streams: make(chan struct{}, mostStreams), closing: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Register adds the page to mux.
func (p *Page) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", p.document)
	mux.HandleFunc("GET /events", p.events)
	mux.HandleFunc("GET /status", p.status)
	for name, kind := range map[string]string{"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml"} {
		content, err := assets.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // embedded
		}
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, _ *http.Request) {
			protect(w, kind)
			w.Write(content)
		})
	}
}

// Close ends all streams, and waits until no importances are being computed.
func (p *Page) Close() {
	p.once.Do(func() {
		p.begin.Lock()
		p.cancel()
		p.begin.Unlock()
		close(p.closing)
	})
	p.work.Wait()
}

// policy lets the page load its own files and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types accrete"

func protect(w http.ResponseWriter, kind string) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func (p *Page) document(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "page", p.view()); err != nil {
		metrics.Refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	protect(w, "text/html; charset=utf-8")
	w.Write(b.Bytes())
}

func (p *Page) status(w http.ResponseWriter, _ *http.Request) {
	b, err := json.Marshal(p.board.Status(p.info, p.memory()))
	if err != nil {
		metrics.Refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	protect(w, "application/json")
	w.Write(append(b, '\n'))
}

func (p *Page) view() *view {
	if f := p.info.Importances; f != nil {
		p.begin.Lock()
		if p.ctx.Err() == nil && p.board.outdated() {
			p.work.Go(func() { p.board.compute(p.ctx, f) })
		}
		p.begin.Unlock()
	}
	return p.board.view(p.info, p.memory())
}

// current returns a rendering that is at most half a second old.
func (p *Page) current() (frame, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest.html != nil && time.Since(p.rendered) < fresh {
		return p.latest, nil
	}
	v := p.view()
	next := frame{p.latest.number + 1, map[string]string{}, map[string]int64{}}
	var b bytes.Buffer
	for _, name := range sections {
		b.Reset()
		if err := templates.ExecuteTemplate(&b, name, v); err != nil {
			return frame{}, fmt.Errorf("section %s: %w", name, err)
		}
		next.html[name], next.changed[name] = b.String(), next.number
		if was, ok := p.latest.html[name]; ok && was == next.html[name] {
			next.changed[name] = p.latest.changed[name]
		}
	}
	p.latest, p.rendered = next, time.Now()
	return next, nil
}

// memory returns the resident memory of the process in bytes; 0 if it is unknown.
func (p *Page) memory() int64 {
	families, err := p.gather.Gather()
	if err != nil {
		return 0
	}
	for _, f := range families {
		if f.GetName() == "process_resident_memory_bytes" && len(f.Metric) == 1 {
			return int64(f.Metric[0].GetGauge().GetValue())
		}
	}
	return 0
}
