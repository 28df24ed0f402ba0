// Package auth configures the encryption and authentication of Kafka clients:
// TLS, and the SASL mechanisms of Mechanisms. Certificates, passwords and tokens in
// files are read again for every connection, so that they can be replaced while the
// program runs.
package auth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Security configures authentication and encryption. With TLS, certificates and
// host names are always verified and the minimum version is 1.2. There is no
// option to disable this.
type Security struct {
	Protocol string // security.protocol: PLAINTEXT (or empty), SSL, SASL_SSL, or SASL_PLAINTEXT, which sends passwords unprotected

	CAFile          string // ssl.ca.location: PEM certificates to trust; the system's if empty
	CertificateFile string // ssl.certificate.location: PEM certificate of the client (mutual TLS), followed by its intermediate certificates
	KeyFile         string // ssl.key.location: PEM key of CertificateFile; in CertificateFile if empty

	Mechanism    string // sasl.mechanism: one of Mechanisms
	Username     string // sasl.username, of PLAIN and SCRAM
	Password     string // sasl.password
	PasswordFile string // sasl.password_file: file with the password on its first line
	OAuth        OAuth  // of OAUTHBEARER

	// AWS returns the credentials for a new connection with the mechanism
	// AWS_MSK_IAM, which requires it.
	AWS func(context.Context) (AWSCredentials, error)
}

// AWSCredentials are temporary or permanent credentials of Amazon Web Services.
type AWSCredentials struct{ AccessKey, SecretKey, SessionToken string }

// Encrypted reports whether connections use TLS.
func (s Security) Encrypted() bool { return strings.HasSuffix(s.Protocol, "SSL") }

// authenticates reports whether connections use SASL.
func (s Security) authenticates() bool { return strings.HasPrefix(s.Protocol, "SASL_") }

// An OptionError describes what is wrong with one option, named as in the configuration.
type OptionError struct {
	Option string // "sasl.username"
	Text   string
}

func (e OptionError) Error() string { return e.Option + " " + e.Text }

func fault(option, format string, args ...any) error {
	return OptionError{option, fmt.Sprintf(format, args...)}
}

// Check reports options that are missing or contradict each other, as
// OptionErrors. It reads no files.
func (s Security) Check() error {
	var faults []error
	add := func(bad bool, option, format string, args ...any) {
		if bad {
			faults = append(faults, fault(option, format, args...))
		}
	}
	switch s.Protocol {
	case "", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL":
	default:
		return fault("security.protocol", "is %q: want PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL", s.Protocol)
	}
	protocol := s.Protocol
	if protocol == "" {
		protocol = "PLAINTEXT"
	}
	for _, file := range [][2]string{{"ssl.ca.location", s.CAFile}, {"ssl.certificate.location", s.CertificateFile}, {"ssl.key.location", s.KeyFile}} {
		add(file[1] != "" && !s.Encrypted(), file[0], "is set, but security.protocol is %s, which does not encrypt: want SSL or SASL_SSL", protocol)
	}
	add(s.KeyFile != "" && s.CertificateFile == "", "ssl.certificate.location", "is missing: ssl.key.location has the key of which certificate?")
	password := s.Password != "" || s.PasswordFile != ""
	if !s.authenticates() {
		add(s.Mechanism != "" || s.Username != "" || password || !s.OAuth.empty(), "security.protocol",
			"is %s, which does not authenticate: want SASL_SSL for a sasl.mechanism, username, password or token", protocol)
		return errors.Join(faults...)
	}
	m := methodOf(s.Mechanism)
	if m == nil {
		add(s.Mechanism == "", "sasl.mechanism", "is missing, but required by %s", protocol)
		add(s.Mechanism != "", "sasl.mechanism", "is %q: want one of %s", s.Mechanism, strings.Join(Mechanisms(), ", "))
		return errors.Join(faults...)
	}
	add(m.password && s.Username == "", "sasl.username", "is missing, but required by %s", s.Mechanism)
	add(m.password && !password, "sasl.password_file", "is missing, and so is sasl.password")
	add(m.password && s.Password != "" && s.PasswordFile != "", "sasl.password_file", "sasl.password is set too: want one of them")
	add(!m.password && (s.Username != "" || password), "sasl.mechanism", "is %s, which has no sasl.username and no password", s.Mechanism)
	add(!m.token && !s.OAuth.empty(), "sasl.mechanism", "is %s, but there are options of OAUTHBEARER", s.Mechanism)
	if m.token {
		faults = append(faults, s.OAuth.check()...)
	}
	return errors.Join(faults...)
}

// secret returns the value, or the first line of the file that holds it.
func secret(option, value, file string) (string, error) {
	if file == "" {
		return value, nil
	}
	line, err := FirstLine(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", option, err)
	}
	return line, nil
}

// FirstLine returns the first line of a file that holds a secret.
func FirstLine(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	line = strings.TrimSuffix(line, "\r")
	if line == "" {
		return "", errors.New(file + " has nothing on its first line")
	}
	return line, nil
}
