package auth

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// OAuth configures the source of OAUTHBEARER tokens: a file that another program
// refreshes, or an authorization server, with client credentials
// (RFC 6749, section 4.4).
type OAuth struct {
	Endpoint   string            // sasl.oauthbearer.token.endpoint.url: https://… or file:///…
	ClientID   string            // sasl.oauthbearer.client.id
	Secret     string            // sasl.oauthbearer.client.secret
	SecretFile string            // sasl.oauthbearer.client.secret_file: file with the secret on its first line
	Scope      string            // sasl.oauthbearer.scope: scopes to request, separated by spaces
	Extensions map[string]string // sasl.oauthbearer.extensions: sent with the token (RFC 7628), as {logicalCluster: lkc-1}
}

func (o OAuth) empty() bool {
	return o.Endpoint+o.ClientID+o.Secret+o.SecretFile+o.Scope == "" && len(o.Extensions) == 0
}

// file returns the path of the file that holds the token, or "".
func (o OAuth) file() string {
	path, _ := strings.CutPrefix(o.Endpoint, "file://")
	if path == o.Endpoint {
		return ""
	}
	return path
}

const endpointOption = "sasl.oauthbearer.token.endpoint.url"

func (o OAuth) check() (faults []error) {
	if o.Endpoint == "" {
		return []error{fault(endpointOption, "is missing: want the https URL of an authorization server, or file:///path of a token")}
	}
	if o.file() != "" {
		if o.ClientID+o.Secret+o.SecretFile+o.Scope != "" {
			faults = append(faults, fault(endpointOption, "is a file with a token, which needs no client.id, client.secret or scope"))
		}
		return faults
	}
	if u, err := url.Parse(o.Endpoint); err != nil || u.Host == "" || u.Scheme != "https" && u.Hostname() != "localhost" && u.Hostname() != "127.0.0.1" {
		faults = append(faults, fault(endpointOption, "is %q: want an https URL, or file:///path of a token", o.Endpoint))
	}
	if o.ClientID == "" {
		faults = append(faults, fault("sasl.oauthbearer.client.id", "is missing"))
	}
	if o.Secret == "" && o.SecretFile == "" {
		faults = append(faults, fault("sasl.oauthbearer.client.secret_file", "is missing, and so is sasl.oauthbearer.client.secret"))
	}
	if o.Secret != "" && o.SecretFile != "" {
		faults = append(faults, fault("sasl.oauthbearer.client.secret_file", "sasl.oauthbearer.client.secret is set too: want one of them"))
	}
	return faults
}

// tokenTimeout bounds a request for a token: half the time that a client has for a connection, so that
// the error names the server of tokens. The error is that of further connections for tokenPause,
// such as those to the other brokers.
const (
	tokenTimeout = 5 * time.Second
	tokenPause   = time.Second
)

// tokens returns a function that returns a valid token. It requests one from the
// server when the previous one is about to expire, and reads a file each time.
func (o OAuth) tokens(caFile string) func(context.Context) (string, error) {
	if file := o.file(); file != "" {
		return func(context.Context) (string, error) {
			token, err := FirstLine(file)
			if err != nil {
				return "", fmt.Errorf("%s: %w", endpointOption, err)
			}
			return strings.TrimSpace(token), nil
		}
	}
	var mu sync.Mutex
	var last *oauth2.Token
	var failure error
	var failed time.Time
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if last.Valid() {
			return last.AccessToken, nil
		}
		if time.Since(failed) < tokenPause {
			return "", failure
		}
		t, err := o.request(ctx, caFile)
		if err != nil {
			err = fmt.Errorf("no token from %s: %w", o.Endpoint, err)
			if ctx.Err() == nil {
				failure, failed = err, time.Now()
			}
			return "", err
		}
		last = t
		return t.AccessToken, nil
	}
}

func (o OAuth) request(ctx context.Context, caFile string) (*oauth2.Token, error) {
	secret, err := secret("sasl.oauthbearer.client.secret_file", o.Secret, o.SecretFile)
	if err != nil {
		return nil, err
	}
	pool, err := authorities(caFile)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, tokenTimeout)
	defer cancel()
	c := clientcredentials.Config{ClientID: o.ClientID, ClientSecret: secret, TokenURL: o.Endpoint, Scopes: strings.Fields(o.Scope)}
	return c.Token(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: transport}))
}
