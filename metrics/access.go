package metrics

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
)

// Access configures authentication of the clients of an HTTP server, and its TLS
// certificate. The zero value admits every client, without TLS. All files are read again
// when they change. If a changed file cannot be used, the error is passed to Trouble, and
// the previous contents stay in use.
type Access struct {
	Cert, Key string // PEM files of the certificate and its private key; empty: no TLS
	ClientCA  string // PEM file of the authorities for client certificates; empty: no client certificates
	Token     string // file with a bearer token on its first line; empty: no token is required

	Hosts []string // additional host names for which the server answers requests: see named

	Trouble func(error)

	// Refused, if not nil, is called for each request that is refused because of its credentials
	// or its host, with the status of the response.
	Refused func(r *http.Request, code int)
}

// An AccessError is the error of Serve for a file of Access that cannot be used.
type AccessError struct{ error }

func (e AccessError) Unwrap() error { return e.error }

// refuse answers a request with an error, and reports it to Refused.
func (a Access) refuse(w http.ResponseWriter, r *http.Request, code int, text string) {
	Refuse(w, code, text)
	if a.Refused != nil {
		a.Refused(r, code)
	}
}

// byClients lists the beginnings of lines in the log of an HTTP server that any client can cause: failed
// handshakes, and connections that break the protocol HTTP/2.
var byClients = []string{
	"http: TLS handshake error", "http2: server connection error", "http2: server: error reading preface",
	"http2: server closing client connection", "timeout waiting for SETTINGS",
}

// Write passes a line of the HTTP server's log to Trouble, unless any client can cause it.
func (a Access) Write(line []byte) (int, error) {
	caused := func(beginning string) bool { return bytes.HasPrefix(line, []byte(beginning)) }
	if a.Trouble != nil && !slices.ContainsFunc(byClients, caused) {
		a.Trouble(errors.New(string(bytes.TrimSpace(line))))
	}
	return len(line), nil
}

// open lists the paths that can be read without credentials, for probes.
var open = []string{"/livez", "/readyz", "/v2/health/live", "/v2/health/ready"}

// config returns the TLS configuration, or nil without TLS.
func (a Access) config() (*tls.Config, error) {
	if a.Cert == "" {
		return nil, nil
	}
	paths := []string{a.Cert, a.Key}
	if a.ClientCA != "" {
		paths = append(paths, a.ClientCA)
	}
	files, err := newReread(a.Trouble, a.load, paths...)
	if err != nil {
		return nil, fmt.Errorf("TLS files (http.tls): %w", err)
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return files.get(), nil },
	}, nil
}

// load reads the TLS files.
func (a Access) load() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(a.Cert, a.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", a.Cert, a.Key, err)
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	if a.ClientCA != "" {
		pem, err := os.ReadFile(a.ClientCA)
		if err != nil {
			return nil, err
		}
		if c.ClientCAs = x509.NewCertPool(); !c.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s has no certificate", a.ClientCA)
		}
		c.ClientAuth = tls.VerifyClientCertIfGiven // guard requires it, except for probes
	}
	return c, nil
}

// guard returns a handler that passes requests with valid credentials to h.
func (a Access) guard(h http.Handler) (http.Handler, error) {
	if a.Token == "" && a.ClientCA == "" {
		return h, nil
	}
	var token *reread[[32]byte]
	if a.Token != "" {
		var err error
		if token, err = newReread(a.Trouble, a.readToken, a.Token); err != nil {
			return nil, fmt.Errorf("token file (http.token_file): %w", err)
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		certified := a.ClientCA != "" && r.TLS != nil && len(r.TLS.VerifiedChains) > 0
		if certified || slices.Contains(open, r.URL.Path) || token != nil && knows(r, token.get()) {
			h.ServeHTTP(w, r)
			return
		}
		text := "a client certificate is required"
		if token != nil {
			w.Header().Add("WWW-Authenticate", "Bearer")
			w.Header().Add("WWW-Authenticate", `Basic realm="accrete"`)
			text = "a valid token is required"
		}
		a.refuse(w, r, http.StatusUnauthorized, text)
	}), nil
}

// readToken returns the SHA-256 of the token.
func (a Access) readToken() (sum [32]byte, err error) {
	text, err := os.ReadFile(a.Token)
	if err != nil {
		return sum, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return sum, errors.New(a.Token + " has no token on its first line")
	}
	return sha256.Sum256([]byte(line)), nil
}

// knows reports whether a request has the token with the given SHA-256, as a bearer
// token or as a password. The comparison takes constant time.
func knows(r *http.Request, want [32]byte) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		_, given, _ = r.BasicAuth()
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return subtle.ConstantTimeCompare(sum[:], want[:]) == 1
}
