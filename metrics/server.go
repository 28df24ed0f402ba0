package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
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
}

// Serve listens on addr, for example 127.0.0.1:8080 or :0, and serves h until Close. a
// determines which requests are admitted. ctx bounds the time until the server listens.
func Serve(ctx context.Context, addr string, h http.Handler, a Access) (*Server, error) {
	h, err := a.guard(h)
	if err != nil {
		return nil, err
	}
	secure, err := a.config()
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	if InUse(err) {
		return nil, fmt.Errorf("%s %w: choose another address, or port 0 to pick a free one", addr, errInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("%v: choose another address", err) // not a net.OpError, which would be taken for an error of Kafka
	}
	s := &Server{
		server: &http.Server{
			Handler:           a.named(addr, listener.Addr(), h),
			ReadHeaderTimeout: 5 * time.Second,
			ReadTimeout:       10 * time.Second,
			WriteTimeout:      30 * time.Second,
			IdleTimeout:       2 * time.Minute,
			MaxHeaderBytes:    16 << 10,
			TLSConfig:         secure,
			ErrorLog:          log.New(a, "", 0),
		},
		listener: listener,
		served:   make(chan struct{}),
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

// Close stops listening and waits up to 2 s for requests in progress. A second Close
// does nothing.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if err != nil {
		err = s.server.Close()
	}
	if <-s.served; !errors.Is(s.err, http.ErrServerClosed) {
		err = errors.Join(err, s.err)
	}
	return err
}
