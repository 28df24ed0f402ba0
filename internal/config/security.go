package config

import (
	"fmt"
	"strings"

	"github.com/accrete-ml/accrete/ingest/auth"
)

// Security returns how the client authenticates and encrypts its connections.
func (k *Kafka) Security() (auth.Security, error) {
	extensions, err := pairs(k.OAuthExtensions)
	return auth.Security{
		Protocol:        k.Protocol,
		CAFile:          k.CA,
		CertificateFile: k.Certificate,
		KeyFile:         k.CertificateKey,
		Mechanism:       k.Mechanism,
		Username:        k.Username,
		Password:        k.Secret.Reveal(),
		PasswordFile:    k.SecretFile,
		OAuth: auth.OAuth{
			Endpoint:   k.TokenEndpoint,
			ClientID:   k.OAuthClient,
			Secret:     k.OAuthSecret.Reveal(),
			SecretFile: k.OAuthSecretFile,
			Scope:      k.OAuthScope,
			Extensions: extensions,
		},
	}, err
}

// pairs splits entries of the form name=value.
func pairs(entries []string) (map[string]string, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	values := map[string]string{}
	for _, entry := range entries {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s is not name=value", quote(entry))
		}
		values[name] = value
	}
	return values, nil
}

// ReadPassword reads the file with the SASL password, if there is one. Its error
// says where the option was set.
func (c *Config) ReadPassword() error {
	if c.Kafka.SecretFile == "" {
		return nil
	}
	if _, err := auth.FirstLine(c.Kafka.SecretFile); err != nil {
		return c.At("kafka.sasl.password_file", err)
	}
	return nil
}

// CommitGroup returns the consumer group to commit to; empty for none.
func (i *Input) CommitGroup() string {
	if i.Group == "none" {
		return ""
	}
	return i.Group
}
