package auth

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/aws"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// A method is a SASL mechanism: what it needs and how it is created.
type method struct {
	name     string
	password bool // needs a user name and a password
	token    bool // needs a token
	build    func(Security) (sasl.Mechanism, error)
}

// methods lists the SASL mechanisms. Each of them reads its credentials when a
// connection authenticates.
var methods = []method{
	{name: "PLAIN", password: true, build: func(s Security) (sasl.Mechanism, error) {
		return plain.Plain(func(context.Context) (a plain.Auth, err error) {
			a.User = s.Username
			a.Pass, err = s.password()
			return a, err
		}), nil
	}},
	{name: "SCRAM-SHA-256", password: true, build: func(s Security) (sasl.Mechanism, error) { return scram.Sha256(s.scram), nil }},
	{name: "SCRAM-SHA-512", password: true, build: func(s Security) (sasl.Mechanism, error) { return scram.Sha512(s.scram), nil }},
	{name: "OAUTHBEARER", token: true, build: func(s Security) (sasl.Mechanism, error) {
		token := s.OAuth.tokens(s.CAFile)
		return oauth.Oauth(func(ctx context.Context) (a oauth.Auth, err error) {
			a.Extensions = s.OAuth.Extensions
			a.Token, err = token(ctx)
			return a, err
		}), nil
	}},
	{name: "AWS_MSK_IAM", build: func(s Security) (sasl.Mechanism, error) {
		if s.AWS == nil {
			return nil, errors.New("sasl.mechanism is AWS_MSK_IAM, but this program provides no credentials for it")
		}
		return aws.ManagedStreamingIAM(func(ctx context.Context) (aws.Auth, error) {
			c, err := s.AWS(ctx)
			return aws.Auth{AccessKey: c.AccessKey, SecretKey: c.SecretKey, SessionToken: c.SessionToken, UserAgent: "accrete"}, err
		}), nil
	}},
}

// Mechanisms returns the names of the SASL mechanisms.
func Mechanisms() (names []string) {
	for _, m := range methods {
		names = append(names, m.name)
	}
	return names
}

func methodOf(name string) *method {
	for i := range methods {
		if methods[i].name == name {
			return &methods[i]
		}
	}
	return nil
}

func (s Security) password() (string, error) {
	return secret("sasl.password_file", s.Password, s.PasswordFile)
}

func (s Security) scram(context.Context) (a scram.Auth, err error) {
	a.User = s.Username
	a.Pass, err = s.password()
	return a, err
}

// SASL returns the mechanism, or nil if connections do not authenticate. The
// error describes invalid options and unreadable files.
func (s Security) SASL() (sasl.Mechanism, error) {
	if err := s.Check(); err != nil || !s.authenticates() {
		return nil, err
	}
	if _, err := s.password(); err != nil {
		return nil, err
	}
	return methodOf(s.Mechanism).build(s)
}
