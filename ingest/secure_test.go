package ingest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/ingest/auth"
)

// Every mechanism is accepted by an Apache Kafka, at ACCRETE_TEST_SASL and
// ACCRETE_TEST_TLS as .ci/kafka.sh prints them, and wrong credentials are refused
// with the option to correct.
func TestSecurityOfKafka(t *testing.T) {
	sasl, tls := os.Getenv("ACCRETE_TEST_SASL"), strings.Fields(os.Getenv("ACCRETE_TEST_TLS"))
	if sasl == "" || len(tls) != 2 {
		t.Skip("no Kafka with SASL and TLS")
	}
	token := filepath.Join(t.TempDir(), "token")
	encode := base64.RawURLEncoding.EncodeToString
	now := time.Now().Unix()
	write(t, token, encode([]byte(`{"alg":"none"}`))+"."+encode(fmt.Appendf(nil, `{"sub":"u","iat":%d,"exp":%d}`, now, now+600))+".")
	password := func(mechanism, password string) auth.Security {
		return auth.Security{Protocol: "SASL_PLAINTEXT", Mechanism: mechanism, Username: "u", Password: password}
	}
	bearer := func(file string) auth.Security {
		return auth.Security{Protocol: "SASL_PLAINTEXT", Mechanism: "OAUTHBEARER", OAuth: auth.OAuth{Endpoint: "file://" + file}}
	}
	ca, client := filepath.Join(tls[1], "ca.pem"), filepath.Join(tls[1], "client.pem")
	for _, c := range []struct {
		name, address string
		security      auth.Security
		refused       string // option that the error names; empty: accepted
	}{
		{"PLAIN", sasl, password("PLAIN", "pw"), ""},
		{"PLAIN, wrong password", sasl, password("PLAIN", "no"), "sasl.password"},
		{"SCRAM-SHA-256", sasl, password("SCRAM-SHA-256", "pw"), ""},
		{"SCRAM-SHA-512", sasl, password("SCRAM-SHA-512", "pw"), ""},
		{"SCRAM-SHA-512, wrong password", sasl, password("SCRAM-SHA-512", "no"), "sasl.password"},
		{"OAUTHBEARER", sasl, bearer(token), ""},
		{"OAUTHBEARER, no token", sasl, bearer(ca), "sasl.oauthbearer.token.endpoint.url"},
		{"mutual TLS", tls[0], auth.Security{Protocol: "SSL", CAFile: ca, CertificateFile: client}, ""},
		{"mutual TLS, key apart", tls[0], auth.Security{Protocol: "SSL", CAFile: ca, CertificateFile: filepath.Join(tls[1], "client.crt"), KeyFile: filepath.Join(tls[1], "client.key")}, ""},
		{"no certificate", tls[0], auth.Security{Protocol: "SSL", CAFile: ca}, "ssl.certificate.location"},
		{"no authority", tls[0], auth.Security{Protocol: "SSL", CertificateFile: client}, "ssl.ca.location"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := New(Config{Brokers: []string{c.address}, Security: c.security})
			if err != nil {
				t.Fatal(err)
			}
			defer k.Close()
			_, err = k.Topic(within(t, time.Minute), "none")
			if c.refused == "" && !errors.Is(err, ErrUnknownTopic) {
				t.Errorf("%v, want to hear that there is no such topic", err)
			}
			if c.refused != "" && (!errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("%v, want to be refused for %s", err, c.refused)
			}
		})
	}
	t.Run("sessions are renewed", func(t *testing.T) {
		k, err := New(Config{Brokers: []string{sasl}, Security: password("SCRAM-SHA-256", "pw")})
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		for ctx := within(t, time.Minute); k.opened.Load() < 8; {
			if _, err := k.Topic(ctx, "none"); !errors.Is(err, ErrUnknownTopic) {
				t.Fatal(err)
			}
		}
	})
}
