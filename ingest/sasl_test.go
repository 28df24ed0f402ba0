package ingest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/accrete-ml/accrete/ingest/auth"
)

// onNewConnection requests the metadata of a topic on a new connection.
func onNewConnection(t *testing.T, c *Client, topic string) error {
	t.Helper()
	c.transport.CloseIdleConnections()
	_, err := c.Topic(within(t, time.Minute), topic)
	return err
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A client shows its certificate to brokers that require one. The files are read
// for every connection.
func TestMutualTLS(t *testing.T) {
	server, ca := certificate(t)
	own, file := keyPair(t)
	strange, _ := keyPair(t)
	server.ClientAuth = tls.RequireAndVerifyClientCert
	server.ClientCAs = x509.NewCertPool()
	server.ClientCAs.AppendCertsFromPEM([]byte(own))
	// On sockets: with TLS 1.3 the client has to have sent a request before it reads the refusal.
	k := newCluster(t, kfake.TLS(server), kfake.SeedTopics(1, "t"), kfake.ListenFn(net.Listen))
	as := func(s auth.Security) *Client {
		s.Protocol, s.CAFile = "SSL", ca
		return k.client(t, func(cfg *Config) { cfg.Security, cfg.DialContext = s, nil })
	}
	if err := onNewConnection(t, as(auth.Security{}), "t"); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "ssl.certificate.location") {
		t.Errorf("without a certificate: %v", err)
	}
	write(t, file, strange)
	c := as(auth.Security{CertificateFile: file})
	if err := onNewConnection(t, c, "t"); !errors.Is(err, ErrDenied) {
		t.Errorf("with a certificate of another authority: %v", err)
	}
	write(t, file, own)
	if err := onNewConnection(t, c, "t"); err != nil {
		t.Errorf("after the file was replaced: %v", err)
	}
	// Whoever was accepted before may be so again: the files may just be being replaced.
	for what, text := range map[string]string{"another certificate": strange, "half a file": own[:100]} {
		write(t, file, text)
		if err := onNewConnection(t, c, "t"); !errors.Is(err, ErrUnreachable) || !Temporary(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	write(t, file, own)
	if err := onNewConnection(t, c, "t"); err != nil {
		t.Errorf("with the right one again: %v", err)
	}
}

func TestThePasswordFileIsReadForEveryConnection(t *testing.T) {
	k := newCluster(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "right"), kfake.SeedTopics(1, "t"))
	file := filepath.Join(t.TempDir(), "password")
	write(t, file, "right\n")
	c := k.client(t, func(cfg *Config) {
		cfg.Security = auth.Security{Protocol: "SASL_PLAINTEXT", Mechanism: "PLAIN", Username: "u", PasswordFile: file}
	})
	for _, password := range []string{"right", "wrong", "right"} {
		write(t, file, password)
		if err := onNewConnection(t, c, "t"); (err == nil) != (password == "right") || err != nil && !Temporary(err) {
			t.Errorf("%s: %v", password, err)
		}
	}
}

// A broker ends connections that outlive their session (KIP-368). They are
// replaced before that, without an error.
func TestSessionsAreRenewed(t *testing.T) {
	k := newCluster(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "u", "p"), kfake.SeedTopics(1, "t"),
		kfake.BrokerConfigs(map[string]string{"connections.max.reauth.ms": "200"}))
	c := k.client(t, func(cfg *Config) {
		cfg.Security = auth.Security{Protocol: "SASL_PLAINTEXT", Mechanism: "SCRAM-SHA-256", Username: "u", Password: "p"}
	})
	ctx, p := within(t, time.Minute), c.Producer()
	for written := 0; c.opened.Load() < 8; written++ { // at least four for each of two connections
		if base, err := p.Append(ctx, "t", 0, values("a")); err != nil || base != int64(written) {
			t.Fatalf("record %d: at %d, %v", written, base, err)
		}
	}
}

// bearer makes the cluster authenticate whoever sends a first message that accept
// accepts, and respond to it with answer.
func bearer(k cluster, mechanism string, answer []byte, accept func(message string) error) {
	k.ControlKey(17, func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		resp := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
		if req.(*kmsg.SASLHandshakeRequest).Mechanism != mechanism {
			resp.ErrorCode = 33
		}
		return resp, nil, true
	})
	k.ControlKey(36, func(req kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		resp.SASLAuthBytes = answer
		if err := accept(string(req.(*kmsg.SASLAuthenticateRequest).SASLAuthBytes)); err != nil {
			resp.ErrorCode, resp.ErrorMessage = 58, kmsg.StringPtr(err.Error())
		}
		return resp, nil, true
	})
}

func TestOAuth(t *testing.T) {
	k := newCluster(t, kfake.SeedTopics(1, "t"))
	var want atomic.Pointer[string]
	bearer(k, "OAUTHBEARER", nil, func(message string) error {
		if full := "n,,\x01auth=Bearer " + *want.Load() + "\x01logicalCluster=lkc-1\x01\x01"; message != full {
			return fmt.Errorf("message %q, want %q", message, full)
		}
		return nil
	})
	as := func(o auth.OAuth) *Client {
		o.Extensions = map[string]string{"logicalCluster": "lkc-1"}
		return k.client(t, func(cfg *Config) {
			cfg.Security = auth.Security{Protocol: "SASL_PLAINTEXT", Mechanism: "OAUTHBEARER", OAuth: o}
		})
	}

	file := filepath.Join(t.TempDir(), "token")
	c := as(auth.OAuth{Endpoint: "file://" + file})
	if err := onNewConnection(t, c, "t"); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "sasl.oauthbearer.token.endpoint.url") {
		t.Errorf("without the file: %v", err)
	}
	for _, token := range []string{"one", "two"} {
		want.Store(&token)
		write(t, file, token+"\n")
		if err := onNewConnection(t, c, "t"); err != nil {
			t.Errorf("token %s: %v", token, err)
		}
	}

	var issued, denied atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); id != "me" || secret != "hunter2" || r.FormValue("grant_type") != "client_credentials" || r.FormValue("scope") != "a b" {
			denied.Add(1)
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		token, seconds := fmt.Sprint("token-", issued.Add(1)), 3600
		if issued.Load() == 1 {
			seconds = 1 // about to expire: not used again
		}
		want.Store(&token)
		json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "bearer", "expires_in": seconds})
	}))
	defer server.Close()
	c = as(auth.OAuth{Endpoint: server.URL, ClientID: "me", Secret: "hunter2", Scope: "a b"})
	for i := range 3 {
		if err := onNewConnection(t, c, "t"); err != nil {
			t.Errorf("connection %d: %v", i, err)
		}
	}
	if n := issued.Load(); n != 2 {
		t.Errorf("%d tokens were issued for three connections, want 2: the first expires at once", n)
	}
	if err := onNewConnection(t, as(auth.OAuth{Endpoint: server.URL, ClientID: "me", Secret: "wrong", Scope: "a b"}), "t"); err == nil || !strings.Contains(err.Error(), server.URL) || strings.Contains(err.Error(), "wrong") {
		t.Errorf("with a wrong secret: %v", err)
	}
	denied.Store(0)
	of := k
	of.addrs = slices.Repeat(k.addrs, 20)
	c = of.client(t, func(cfg *Config) {
		cfg.Security = auth.Security{Protocol: "SASL_PLAINTEXT", Mechanism: "OAUTHBEARER", OAuth: auth.OAuth{Endpoint: server.URL, ClientID: "me", Secret: "wrong", Scope: "a b"}}
	})
	if err := onNewConnection(t, c, "t"); !errors.Is(err, ErrUnreachable) || denied.Load() >= 20 {
		t.Errorf("with a wrong secret and 20 brokers: %d requests for tokens, %v", denied.Load(), err)
	}
	other := "other"
	want.Store(&other)
	if err := onNewConnection(t, as(auth.OAuth{Endpoint: "file://" + file}), "t"); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "the token") {
		t.Errorf("with a token that the broker rejects: %v", err)
	}
}

func TestIAM(t *testing.T) {
	k := newCluster(t, kfake.SeedTopics(1, "t"))
	var got atomic.Pointer[string]
	bearer(k, "AWS_MSK_IAM", []byte("{}"), func(message string) error { got.Store(&message); return nil })
	t.Setenv("AWS_REGION", "eu-central-1")
	c := k.client(t, func(cfg *Config) {
		cfg.Security = auth.Security{Protocol: "SASL_PLAINTEXT", Mechanism: "AWS_MSK_IAM", AWS: func(context.Context) (auth.AWSCredentials, error) {
			return auth.AWSCredentials{AccessKey: "AKID", SecretKey: "hunter2", SessionToken: "session"}, nil
		}}
	})
	if err := onNewConnection(t, c, "t"); err != nil {
		t.Fatal(err)
	}
	var signed map[string]string
	if err := json.Unmarshal([]byte(*got.Load()), &signed); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(signed["x-amz-credential"], "AKID/") || !strings.Contains(signed["x-amz-credential"], "/eu-central-1/kafka-cluster/") ||
		signed["x-amz-security-token"] != "session" || len(signed["x-amz-signature"]) != 64 || strings.Contains(*got.Load(), "hunter2") {
		t.Errorf("%v", signed)
	}
}

func TestALongSessionDoesNotExpireAtOnce(t *testing.T) {
	for _, ms := range []int64{0, 60_000, 100 * 365 * 24 * 3600 * 1000, math.MaxInt64} {
		var c trackedConn
		c.expire(sessionLifetime(ms))
		if c.expired() || c.expires.IsZero() != (ms == 0) {
			t.Errorf("%d ms: it expires at %v", ms, c.expires)
		}
	}
}
