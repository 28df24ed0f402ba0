package ingest

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Security configures authentication and encryption. With TLS, certificates and
// host names are always verified and the minimum version is 1.2. There is no
// option to disable this.
type Security struct {
	Protocol  string // security.protocol: PLAINTEXT (or empty), SSL, SASL_SSL, or SASL_PLAINTEXT, which sends the password unprotected
	Mechanism string // sasl.mechanism: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
	Username  string // sasl.username
	Password  string // sasl.password
	CAFile    string // ssl.ca.location: file of PEM certificates to trust; the system's if empty
}

func (s Security) build() (*tls.Config, sasl.Mechanism, error) {
	var secure, login bool
	switch s.Protocol {
	case "", "PLAINTEXT":
	case "SSL":
		secure = true
	case "SASL_PLAINTEXT":
		login = true
	case "SASL_SSL":
		secure, login = true, true
	default:
		return nil, nil, fmt.Errorf("security.protocol is %q: want PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL", s.Protocol)
	}
	if !secure && s.CAFile != "" {
		return nil, nil, fmt.Errorf("ssl.ca.location is set, but security.protocol is not SSL or SASL_SSL")
	}
	if !login && (s.Mechanism != "" || s.Username != "" || s.Password != "") {
		return nil, nil, fmt.Errorf("sasl.mechanism, sasl.username or sasl.password is set, but security.protocol is not SASL_SSL (or SASL_PLAINTEXT, which sends the password unprotected)")
	}
	var t *tls.Config
	if secure {
		t = &tls.Config{MinVersion: tls.VersionTLS12}
		if s.CAFile != "" {
			pem, err := os.ReadFile(s.CAFile)
			if err != nil {
				return nil, nil, fmt.Errorf("ssl.ca.location: %w", err)
			}
			t.RootCAs = x509.NewCertPool()
			if !t.RootCAs.AppendCertsFromPEM(pem) {
				return nil, nil, fmt.Errorf("ssl.ca.location: %s has no PEM certificate", s.CAFile)
			}
		}
	}
	if !login {
		return t, nil, nil
	}
	if s.Username == "" || s.Password == "" {
		return nil, nil, fmt.Errorf("security.protocol is %s: set sasl.username and sasl.password", s.Protocol)
	}
	var m sasl.Mechanism
	var err error
	switch s.Mechanism {
	case "PLAIN":
		m = plain.Mechanism{Username: s.Username, Password: s.Password}
	case "SCRAM-SHA-256":
		m, err = scram.Mechanism(scram.SHA256, s.Username, s.Password)
	case "SCRAM-SHA-512":
		m, err = scram.Mechanism(scram.SHA512, s.Username, s.Password)
	default:
		err = fmt.Errorf("sasl.mechanism is %q: want PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512", s.Mechanism)
	}
	return t, m, err
}
