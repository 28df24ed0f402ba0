// Package registry reads and registers schemas in a schema registry with the HTTP interface of
// Confluent Schema Registry. Karapace, Apicurio, Redpanda and others have this interface as well.
package registry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/sr"

	"github.com/accrete-ml/accrete/ingest/auth"
	"github.com/accrete-ml/accrete/ingest/decode"
)

// Config configures the connection to a registry, and authentication.
type Config struct {
	URLs []string // a path in a URL is kept

	Username     string // for basic authentication
	Password     string
	PasswordFile string // file with the password on its first line
	TokenFile    string // file with a bearer token on its first line

	CAFile, CertificateFile, KeyFile string // as in auth.Security
}

// Empty reports whether no registry is configured.
func (c Config) Empty() bool { return len(c.URLs) == 0 }

// Check returns an error if the options are invalid. It reads no files.
func (c Config) Check() error {
	for _, text := range c.URLs {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("is %q: want a URL such as https://registry.example.com:8081", text)
		}
		if u.User != nil {
			return errors.New("has a password: set username and password_file beside it")
		}
	}
	secrets := c.Username + c.Password + c.PasswordFile + c.TokenFile + c.CAFile + c.CertificateFile + c.KeyFile
	switch {
	case c.Empty() && secrets != "":
		return errors.New("is missing, and other options of the registry are set")
	case c.TokenFile != "" && c.Username+c.Password+c.PasswordFile != "":
		return errors.New("has both a token_file and a password: want one of them")
	case c.Username == "" && c.Password+c.PasswordFile != "", c.Username != "" && c.Password+c.PasswordFile == "":
		return errors.New("has a username or a password, but not both")
	}
	return nil
}

// ErrUnknown reports a schema or a subject that the registry does not have.
var ErrUnknown = errors.New("unknown to the registry")

// Timeouts and bounds of a Client.
const (
	timeout   = 10 * time.Second // of a request
	attempts  = 4                // for a schema that the registry does not have, because a replica of it may lag
	firstWait = 250 * time.Millisecond
	forget    = 30 * time.Second // time after which an unknown schema is requested again
	cached    = decode.MaxWriters
	bodyBytes = 4 << 20 // maximum size of a response
)

// Client is a client of one registry. It is safe for concurrent use.
type Client struct {
	sr *sr.Client

	mu      sync.Mutex
	schemas map[string]decode.Writer
	unknown map[string]time.Time // when they were last requested
}

// New returns a Client. It reads the files of certificates and secrets, but sends no request.
func New(c Config) (*Client, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("registry.url %w", err)
	}
	if _, err := c.secret(); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	security := auth.Security{Protocol: "SSL", CAFile: c.CAFile, CertificateFile: c.CertificateFile, KeyFile: c.KeyFile}
	var err error
	if transport.TLSClientConfig, err = security.TLS(); err != nil {
		return nil, fmt.Errorf("registry: %w", err)
	}
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	client, err := sr.NewClient(sr.URLs(c.URLs...), sr.UserAgent("accrete"),
		sr.HTTPClient(&http.Client{Transport: bounded{transport}, Timeout: timeout}), sr.PreReq(c.authenticate))
	if err != nil {
		return nil, fmt.Errorf("registry.url: %w", err)
	}
	return &Client{sr: client, schemas: map[string]decode.Writer{}, unknown: map[string]time.Time{}}, nil
}

// authenticate adds the credentials to a request. It reads their files for each request.
func (c Config) authenticate(r *http.Request) error {
	secret, err := c.secret()
	switch {
	case err != nil:
		return err
	case c.TokenFile != "":
		r.Header.Set("Authorization", "Bearer "+secret)
	case c.Username != "":
		r.SetBasicAuth(c.Username, secret)
	}
	return nil
}

// secret returns the token or the password; empty if there is none.
func (c Config) secret() (text string, err error) {
	switch {
	case c.TokenFile != "":
		if text, err = auth.FirstLine(c.TokenFile); err != nil {
			err = fmt.Errorf("registry.token_file: %w", err)
		}
	case c.PasswordFile != "":
		if text, err = auth.FirstLine(c.PasswordFile); err != nil {
			err = fmt.Errorf("registry.password_file: %w", err)
		}
	default:
		text = c.Password
	}
	return text, err
}

// Check returns an error if the registry cannot be reached, or rejects the credentials.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.sr.SupportedTypes(ctx)
	if code, ok := status(err); ok && code == http.StatusNotFound { // older registries do not list their schema types
		_, err = c.sr.Subjects(ctx)
	}
	return c.explained(err)
}

func status(err error) (code int, ok bool) {
	var answer *sr.ResponseError
	if errors.As(err, &answer) {
		return answer.StatusCode, true
	}
	return 0, false
}

// ErrRefused reports a request that the registry rejects, and would reject again: the schema is
// invalid or incompatible with earlier versions, or a permission is missing.
var ErrRefused = errors.New("the schema registry refuses the request")

// explained wraps an error with the information that it comes from the registry.
func (c *Client) explained(err error) error {
	if err == nil {
		return nil
	}
	switch code, _ := status(err); {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return fmt.Errorf("%w: wrong credentials (options of the registry): %w", ErrRefused, err)
	case code == 0:
		return fmt.Errorf("the schema registry cannot be reached (option registry.url): %w", err)
	case code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests:
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return fmt.Errorf("the schema registry answers with an error: %w", err)
}

// Writer returns the schema with an id or a GUID, including the schemas that it references.
// The error is ErrUnknown if the registry does not have the schema after several attempts.
// Any other error may be temporary.
func (c *Client) Writer(ctx context.Context, id string) (w decode.Writer, err error) {
	c.mu.Lock()
	w, ok := c.schemas[id]
	asked, missed := c.unknown[id]
	c.mu.Unlock()
	if ok {
		return w, nil
	}
	if missed && time.Since(asked) < forget {
		return w, fmt.Errorf("schema %s is %w", id, ErrUnknown)
	}
	wait := firstWait
	for attempt := 1; ; attempt++ {
		if w, err = c.fetch(ctx, id); !errors.Is(err, ErrUnknown) || attempt == attempts {
			break
		}
		select {
		case <-ctx.Done():
			return w, ctx.Err()
		case <-time.After(wait):
			wait *= 2
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.unknown) >= cached {
		clear(c.unknown)
	}
	switch {
	case errors.Is(err, ErrUnknown):
		c.unknown[id] = time.Now()
	case err == nil:
		if len(c.schemas) >= cached {
			clear(c.schemas)
		}
		c.schemas[id] = w
	}
	return w, err
}

func (c *Client) fetch(ctx context.Context, id string) (w decode.Writer, err error) {
	var s sr.Schema
	if strings.Contains(id, "-") {
		var found sr.SubjectSchema
		found, err = c.sr.SchemaByGUID(ctx, id)
		s = found.Schema
	} else {
		var n int
		if n, err = strconv.Atoi(id); err != nil {
			return w, err
		}
		s, err = c.sr.SchemaByID(ctx, n)
	}
	if err != nil {
		return w, c.missing("schema "+id, err)
	}
	return c.whole(ctx, id, s)
}

// missing returns ErrUnknown if err is a response with status 404.
func (c *Client) missing(what string, err error) error {
	if code, _ := status(err); code == http.StatusNotFound {
		return fmt.Errorf("%s is %w", what, ErrUnknown)
	}
	return c.explained(err)
}

// Latest returns the newest schema of a subject, and its id.
func (c *Client) Latest(ctx context.Context, subject string) (decode.Writer, error) {
	s, err := c.sr.SchemaByVersion(ctx, subject, -1)
	if err != nil {
		return decode.Writer{}, c.missing("subject "+subject, err)
	}
	return c.whole(ctx, strconv.Itoa(s.ID), s.Schema)
}

// Register registers a schema under a subject and returns its id. It sets the compatibility of
// the subject to BACKWARD: later versions have to read data of earlier ones. If the schema is
// registered already, Register only returns its id.
func (c *Client) Register(ctx context.Context, subject, typ, text string) (id uint32, err error) {
	s := sr.Schema{Schema: text}
	if err := s.Type.UnmarshalText([]byte(typ)); err != nil {
		return 0, err
	}
	if known, err := c.sr.LookupSchema(ctx, subject, s); err == nil {
		return uint32(known.ID), nil
	}
	made, err := c.sr.CreateSchema(ctx, subject, s)
	if err != nil {
		return 0, c.explained(err)
	}
	for _, r := range c.sr.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatBackward}, subject) {
		if r.Err != nil {
			return 0, c.explained(r.Err)
		}
	}
	return uint32(made.ID), nil
}
