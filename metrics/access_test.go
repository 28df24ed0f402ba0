package metrics

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// authority issues certificates.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{t, cert, key}
}

func (a authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// issue writes a certificate with a serial number and its key.
func (a authority) issue(serial int64, certFile, keyFile string) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	file(a.t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	file(a.t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

func file(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Requests need the token or a certificate, and probes need neither. Changed files are
// read again, and one that cannot be used changes nothing.
func TestAccess(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ours, other := newAuthority(t), newAuthority(t)
	ours.issue(2, at("crt"), at("key"))
	ours.issue(3, at("client.crt"), at("client.key"))
	other.issue(4, at("stranger.crt"), at("stranger.key"))
	file(t, at("ca"), ours.pem())
	file(t, at("token"), []byte("secret\n"))
	var mu sync.Mutex
	var troubles []string
	a := Access{Cert: at("crt"), Key: at("key"), ClientCA: at("ca"), Token: at("token"), Trouble: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		troubles = append(troubles, err.Error())
	}}
	mux := http.NewServeMux()
	for _, path := range []string{"/livez", "/metrics", "/v2/health/ready"} {
		mux.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
	}
	s, err := Serve(t.Context(), "127.0.0.1:0", mux, a)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var serial int64
	ask := func(path, certificate string, set func(*http.Request)) (int, error) {
		c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
		c.RootCAs.AddCert(ours.cert)
		if certificate != "" {
			pair, err := tls.LoadX509KeyPair(at(certificate+".crt"), at(certificate+".key"))
			if err != nil {
				t.Fatal(err)
			}
			c.Certificates = []tls.Certificate{pair}
		}
		r, err := http.NewRequest("GET", "https://"+s.Addr()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		set(r)
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: c, ForceAttemptHTTP2: true}}).Do(r)
		if err != nil {
			return 0, err
		}
		response.Body.Close()
		serial = response.TLS.PeerCertificates[0].SerialNumber.Int64()
		return response.StatusCode, nil
	}
	none := func(*http.Request) {}
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	for _, x := range []struct {
		path, certificate string
		set               func(*http.Request)
		want              int
	}{
		{"/metrics", "", none, 401}, {"/livez", "", none, 200}, {"/v2/health/ready", "", none, 200}, {"/livez/", "", none, 401},
		{"/metrics", "", bearer("secret"), 200}, {"/metrics", "", bearer("Secret"), 401}, {"/metrics", "", bearer(""), 401},
		{"/metrics", "", func(r *http.Request) { r.SetBasicAuth("any", "secret") }, 200},
		{"/metrics", "", func(r *http.Request) { r.SetBasicAuth("secret", "") }, 401},
		{"/metrics", "client", none, 200}, {"/metrics", "stranger", none, 0},
	} {
		if got, _ := ask(x.path, x.certificate, x.set); got != x.want {
			t.Errorf("%s with certificate %q: status %d, want %d", x.path, x.certificate, got, x.want)
		}
	}
	if code, _ := get(t, "http://"+s.Addr()+"/livez"); code != 400 {
		t.Errorf("without TLS: status %d", code)
	}
	until := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !done(); {
			if time.Now().After(end) {
				t.Fatal(what)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	ours.issue(50, at("crt"), at("key"))
	file(t, at("token"), []byte("another secret"))
	until("the new token and certificate are not in use", func() bool {
		code, _ := ask("/metrics", "", bearer("another secret"))
		return code == 200 && serial == 50
	})
	if code, _ := ask("/metrics", "", bearer("secret")); code != 401 {
		t.Errorf("with the old token: status %d", code)
	}
	file(t, at("token"), []byte("\n"))
	file(t, at("key"), []byte("no key"))
	until("bad files are not reported", func() bool {
		code, _ := ask("/metrics", "", bearer("another secret"))
		mu.Lock()
		defer mu.Unlock()
		return code == 200 && len(troubles) > 1 || t.Failed()
	})
	mu.Lock()
	defer mu.Unlock()
	if text := strings.Join(troubles, "\n"); !strings.Contains(text, "no token on its first line: the previous contents remain in use") || !strings.Contains(text, "with key") {
		t.Error(text)
	}
}

func TestAccessNeedsItsFiles(t *testing.T) {
	dir := t.TempDir()
	file(t, filepath.Join(dir, "empty"), nil)
	for _, test := range []struct {
		access Access
		option string
	}{
		{Access{Token: filepath.Join(dir, "none")}, "http.token_file"},
		{Access{Token: filepath.Join(dir, "empty")}, "http.token_file"},
		{Access{Cert: filepath.Join(dir, "none"), Key: filepath.Join(dir, "none")}, "http.tls"},
		{Access{Cert: filepath.Join(dir, "empty"), Key: filepath.Join(dir, "empty")}, "http.tls"},
	} {
		_, err := Serve(t.Context(), "127.0.0.1:0", http.NotFoundHandler(), test.access)
		if err == nil || errors.Is(err, errInUse) || !strings.Contains(err.Error(), test.option) {
			t.Errorf("%+v: %v, want an error that names %s", test.access, err, test.option)
		}
	}
}

// What any client can cause is not logged: a failed handshake, or what is not HTTP/2.
func TestClientsCannotFillTheLog(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ca := newAuthority(t)
	ca.issue(2, at("crt"), at("key"))
	var logged []string
	a := Access{Cert: at("crt"), Key: at("key"), Trouble: func(err error) { logged = append(logged, err.Error()) }}
	s, err := Serve(t.Context(), "127.0.0.1:0", http.NotFoundHandler(), a)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.pem())
	const (
		preface  = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
		settings = "\x00\x00\x00\x04\x00\x00\x00\x00\x00"
		headers  = "\x00\x00\x01\x01\x05\x00\x00\x00\x01\x80" // the header with the index 0, which does not exist
	)
	for _, says := range []string{"GET / HTTP/1.1\r\n\r\n" + preface, preface + settings + headers} {
		c, err := tls.Dial("tcp", s.Addr(), &tls.Config{RootCAs: roots, NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(says)); err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, c) // until the server closes the connection
		c.Close()
	}
	plain, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	plain.Write([]byte("no handshake"))
	io.Copy(io.Discard, plain)
	plain.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if logged != nil {
		t.Errorf("logged %q", logged)
	}
	if a.Write([]byte("http: panic serving 127.0.0.1:1: fault\n")); len(logged) != 1 {
		t.Error("a panic is not logged")
	}
}
