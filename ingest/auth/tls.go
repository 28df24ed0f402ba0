package auth

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// TLS returns the configuration of a new connection, or nil if connections are
// not encrypted. It reads the files at each call, to use the current certificates.
func (s Security) TLS() (*tls.Config, error) {
	if err := s.Check(); err != nil || !s.Encrypted() {
		return nil, err
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	var err error
	if c.RootCAs, err = authorities(s.CAFile); err != nil {
		return nil, err
	}
	if s.CertificateFile == "" {
		return c, nil
	}
	option, key := "ssl.key.location", s.KeyFile
	if key == "" {
		option, key = "ssl.certificate.location", s.CertificateFile
	}
	pair, err := tls.LoadX509KeyPair(s.CertificateFile, key)
	if err != nil {
		return nil, fmt.Errorf("ssl.certificate.location %s with the key in %s (%s): %w", s.CertificateFile, key, option, err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// authorities reads the certificates to trust; nil for those of the system.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("ssl.ca.location: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ssl.ca.location: %s has no PEM certificate", file)
	}
	return pool, nil
}
