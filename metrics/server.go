package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Mux returns a handler for /metrics, /livez and /readyz, to which other paths can
// be added. /livez always answers 200. /readyz lists the conditions, with status
// 503 while any of them is red. Other paths are 404, and other methods 405.
func Mux(g prometheus.Gatherer, h *Health) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(g, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]bool{"live": true})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		states, ready := h.States()
		code := http.StatusOK
		if !ready {
			code = http.StatusServiceUnavailable
		}
		reply(w, code, struct {
			Ready      bool    `json:"ready"`
			Conditions []State `json:"conditions"`
		}{ready, states})
	})
	mux.HandleFunc("/", missing(mux))
	return mux
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(v) // an error means that the client has gone
}

// Server is an HTTP server that is listening.
type Server struct {
	server   *http.Server
	listener net.Listener
	served   chan struct{} // closed when it has stopped serving, for the reason in err
	err      error

	underWay atomic.Int64 // requests that handlers have begun to answer

	mu    sync.Mutex
	busy  map[net.Conn]http.ConnState // connections that have no request yet, or whose request is under way
	fresh time.Duration               // freshLimit, except in tests
}

const (
	// DrainLimit is how long a server that stops waits for requests under way. It is shorter than the
	// grace period of supervisors, which is 30 s in deploy/.
	DrainLimit = 25 * time.Second

	// freshLimit is how long it waits for the first request on a new connection.
	freshLimit = time.Second

	// settleEvery is how often it looks whether all requests are answered.
	settleEvery = 5 * time.Millisecond
)

// Serve listens on addr, for example 127.0.0.1:8080 or :0, and serves h until Close. a
// determines which requests are admitted. ctx bounds the time until the server listens.
func Serve(ctx context.Context, addr string, h http.Handler, a Access) (*Server, error) {
	h, err := a.guard(h)
	if err != nil {
		return nil, AccessError{err}
	}
	secure, err := a.config()
	if err != nil {
		return nil, AccessError{err}
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	if InUse(err) {
		return nil, fmt.Errorf("%s %w: choose another address, or port 0 to pick a free one", addr, errInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("%v: choose another address", err) // not a net.OpError, which would be taken for an error of Kafka
	}
	s := &Server{listener: listener, served: make(chan struct{}), busy: map[net.Conn]http.ConnState{}, fresh: freshLimit}
	s.server = &http.Server{
		Handler:           s.count(a.named(addr, listener.Addr(), h)),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		TLSConfig:         secure,
		ErrorLog:          log.New(a, "", 0),
		ConnState:         s.track,
	}
	go func() {
		defer close(s.served)
		if secure != nil {
			s.err = s.server.ServeTLS(listener, "", "")
		} else {
			s.err = s.server.Serve(listener)
		}
	}()
	return s, nil
}

var errInUse = errors.New("is in use by another program")

// winsockInUse is the error of Windows that corresponds to EADDRINUSE.
const winsockInUse = syscall.Errno(10048)

// InUse reports whether err, from Serve or any other listener, means that another
// program listens on the address.
func InUse(err error) bool {
	return errors.Is(err, errInUse) || errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, winsockInUse)
}

// Addr returns the address on which the server listens, as host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// count returns h, and counts its requests while they are under way.
func (s *Server) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.underWay.Add(1)
		defer s.underWay.Add(-1)
		h.ServeHTTP(w, r)
	})
}

func (s *Server) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == http.StateNew || state == http.StateActive {
		s.busy[c] = state
	} else {
		delete(s.busy, c)
	}
}

// settle waits until no connection is busy, or ctx is done.
func (s *Server) settle(ctx context.Context) {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		s.mu.Lock()
		n := len(s.busy)
		s.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Close is Drain with DrainLimit.
func (s *Server) Close() error {
	_, err := s.Drain(DrainLimit)
	return err
}

// Drain stops listening, closes idle connections and waits up to limit for requests under way. It
// then cuts off those that are left, and returns their number. A second Drain does nothing.
func (s *Server) Drain(limit time.Duration) (cut int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	timer := time.AfterFunc(s.fresh, func() { // net/http takes them for busy for 5 s
		s.mu.Lock()
		defer s.mu.Unlock()
		for c, state := range s.busy {
			if state == http.StateNew {
				c.Close()
			}
		}
	})
	defer timer.Stop()
	s.server.SetKeepAlivesEnabled(false) // closes idle connections, and the others once they are answered
	s.listener.Close()
	<-s.served    // every connection that was accepted is known
	s.settle(ctx) // once Shutdown is called, net/http drops requests that it has read and not passed on
	if err = s.server.Shutdown(ctx); err != nil {
		cut = int(s.underWay.Load())
		err = s.server.Close()
	}
	if !errors.Is(s.err, http.ErrServerClosed) && !errors.Is(s.err, net.ErrClosed) {
		err = errors.Join(err, s.err)
	}
	return cut, err
}
