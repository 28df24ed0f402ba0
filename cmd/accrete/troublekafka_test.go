package main

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/accrete-ml/accrete/test/kafkatest"
)

// The failures that Apache Kafka can be made to have show on it, too, and end: those of
// everyTrouble but a full disk, which ends the broker. Killing it and the expiry of its
// certificate happen to a Kafka of their own.
func TestEveryTroubleShowsOnKafka(t *testing.T) {
	addr, sasl := os.Getenv("ACCRETE_TEST_BROKERS"), os.Getenv("ACCRETE_TEST_SASL")
	if !*troubles || addr == "" || sasl == "" {
		t.Skip("-troubles, ACCRETE_TEST_BROKERS and ACCRETE_TEST_SASL: waits for about a minute")
	}
	same := map[string]bool{"input topic deleted": true, "schema flipped": true, "labels missing": true, "learner hung": true, "transaction hanging": true, "partition added": true}
	for _, c := range everyTrouble {
		if same[c.name] {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				s := onKafka(t, addr)
				s.run(addr)
				s.await("ready before", time.Minute, func(state string) bool { return state == "" })
				c.happens(s)
			})
		}
	}
	t.Run("permission to read revoked", func(t *testing.T) {
		t.Parallel()
		s := onKafka(t, addr)
		password := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(password, []byte("pw\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.run(sasl, "--set", "kafka.security.protocol=SASL_PLAINTEXT", "--set", "kafka.sasl.mechanism=PLAIN", "--set", "kafka.sasl.username=u", "--set", "kafka.sasl.password_file="+password)
		s.await("ready before", time.Minute, func(state string) bool { return state == "" })
		defer kafkatest.Deny(t, addr, "u", s.in)()
		s.await("red", redWithin+loaded, regexp.MustCompile(`exit 78: .*no permission for topic \\?"`+s.in).MatchString)
	})
	t.Run("output topic deleted", func(t *testing.T) {
		t.Parallel()
		s := onKafka(t, addr)
		s.run(addr)
		s.await("ready before", time.Minute, func(state string) bool { return state == "" })
		predictions := s.model + ".predictions"
		kafkatest.Delete(t, addr, predictions)
		s.await("red", redWithin+loaded, regexp.MustCompile(`output: for \d+s: .*`+predictions).MatchString)
		if err := s.client.Create(t.Context(), predictions, 1, nil); err != nil {
			t.Fatal(err)
		}
		s.await("after it", redWithin+loaded, func(state string) bool { return state == "" })
	})
	t.Run("broker gone and certificate expired", func(t *testing.T) {
		t.Parallel()
		k := kafkatest.NewOwnReal(t)
		secure, dir := k.TLS()
		if secure == "" {
			t.Skip("no openssl to make certificates with")
		}
		plain, encrypted := onKafka(t, k.Addr), onKafka(t, k.Addr)
		plain.run(k.Addr)
		encrypted.run(secure, "--set", "kafka.security.protocol=SSL", "--set", "kafka.ssl.ca.location="+dir+"/ca.pem", "--set", "kafka.ssl.certificate.location="+dir+"/client.pem")
		both := func(what string, p, e *regexp.Regexp) {
			t.Helper()
			plain.await("plain "+what, redWithin+loaded, p.MatchString)
			encrypted.await("encrypted "+what, redWithin+loaded, e.MatchString)
		}
		ready, gone := regexp.MustCompile("^$"), regexp.MustCompile(`kafka: for \d+s: .*(EOF|closed|reset|refused)`)
		both("ready before", ready, ready)
		k.Kill()
		both("without a broker", gone, gone)
		good := expire(t, dir)
		k.Start()
		both("with an expired certificate", ready, regexp.MustCompile(`kafka: for \d+s: .*expired`))
		if err := os.WriteFile(filepath.Join(dir, "server.pem"), good, 0o600); err != nil {
			t.Fatal(err)
		}
		k.Kill()
		k.Start()
		both("after it", ready, ready)
	})
}

// loaded is what a machine takes longer on which two Kafkas, nine learners and other tests run.
const loaded = 20 * time.Second

// onKafka returns a site on the Apache Kafka at addr, where nothing runs yet.
func onKafka(t *testing.T, addr string) *troubledSite {
	name := kafkatest.Name("trouble")
	return &troubledSite{T: t, in: name + ".in", model: name, addr: addr, client: kafkatest.ClientOf(t, addr, nil), ended: make(chan struct{}), undo: func() {}, slack: loaded}
}

// expire replaces the certificate of the broker by one that has expired, and returns the
// former one with its key.
func expire(t *testing.T, dir string) []byte {
	file := filepath.Join(dir, "server.pem")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	part := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(b)
		return block.Bytes
	}
	root, err := x509.ParseCertificate(part("ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := x509.ParsePKCS8PrivateKey(part("ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.ParsePKCS8PrivateKey(part("server.key"))
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(9), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, leaf, root, key.(crypto.Signer).Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	old := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: part("server.key")}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	if err := os.WriteFile(file, old, 0o600); err != nil {
		t.Fatal(err)
	}
	return good
}
