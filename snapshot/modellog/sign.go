package modellog

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
)

// ErrSignature is the error for a record that is not signed with the trusted key.
var ErrSignature = errors.New("not signed by the trusted key")

// Signed is the last member of every record except a CHUNK. The signature of a
// MANIFEST covers the bytes of its CHUNKs.
type Signed struct {
	Signature []byte `json:"signature,omitempty"` // Ed25519; see Sign
}

func (s *Signed) signature() *[]byte { return &s.Signature }

type signable interface {
	Record
	signature() *[]byte
}

// Sign signs a finished record. The signature covers the value without the
// signature. A CHUNK is left unchanged. The errors are those of Encode.
func Sign(r Record, key ed25519.PrivateKey) error {
	s, ok := r.(signable)
	if !ok {
		return nil
	}
	*s.signature() = nil
	_, value, err := Encode(r)
	if err != nil {
		return err
	}
	*s.signature() = ed25519.Sign(key, toSign(r.Type(), logVersion, value))
	return nil
}

// Verify returns ErrSignature unless r was signed with the private half of key.
func Verify(r Record, key ed25519.PublicKey) error {
	s, ok := r.(signable)
	if !ok || len(*s.signature()) == 0 {
		return fmt.Errorf("%w: %s %v has no signature", ErrSignature, r.Type(), r)
	}
	_, value, err := Encode(r)
	if err != nil {
		return err
	}
	if !verify(r.Type(), logVersion, value, *s.signature(), key) {
		return fmt.Errorf("%w: %s %v", ErrSignature, r.Type(), r)
	}
	return nil
}

// toSign returns the bytes that a signature covers. They begin with the type of
// the record, so that a record cannot pass as one of another type.
func toSign(typ string, version int, bare []byte) []byte {
	return fmt.Appendf(nil, "accrete %s %d\x00%s", typ, version, bare)
}

// verify reports whether signature is the one in value and covers all other bytes
// of it. A reader can thus verify records with unknown members.
func verify(typ string, version int, value, signature []byte, key ed25519.PublicKey) bool {
	member := fmt.Appendf(nil, `,"signature":"%s"`, base64.StdEncoding.EncodeToString(signature))
	i := bytes.LastIndex(value, member)
	if i < 0 || len(signature) != ed25519.SignatureSize {
		return false
	}
	bare := slices.Concat(value[:i], value[i+len(member):])
	return ed25519.Verify(key, toSign(typ, version, bare), signature)
}

// Sign signs a finished manifest. Its errors are Encode's.
func (m *Manifest) Sign(key ed25519.PrivateKey) error { return Sign(m, key) }

// Sign signs a finished challenger. Its errors are Encode's.
func (c *Challenger) Sign(key ed25519.PrivateKey) error { return Sign(c, key) }

// Verify returns ErrSignature unless m was signed with the private half of key.
func (m *Manifest) Verify(key ed25519.PublicKey) error { return Verify(m, key) }

// Verify returns ErrSignature unless c was signed with the private half of key.
func (c *Challenger) Verify(key ed25519.PublicKey) error { return Verify(c, key) }

// ReadSigningKey reads an Ed25519 key in the format of openssl genpkey -algorithm
// ed25519.
func ReadSigningKey(path string) (ed25519.PrivateKey, error) {
	return readKey[ed25519.PrivateKey](path, "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
}

// ReadVerifyingKey reads the public half, in the format of openssl pkey -pubout.
func ReadVerifyingKey(path string) (ed25519.PublicKey, error) {
	return readKey[ed25519.PublicKey](path, "PUBLIC KEY", x509.ParsePKIXPublicKey)
}

func readKey[K any](path, kind string, parse func([]byte) (any, error)) (key K, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return key, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return key, fmt.Errorf("%s: no PEM block %q", path, kind)
	}
	any, err := parse(block.Bytes)
	if err != nil {
		return key, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := any.(K)
	if !ok {
		return key, fmt.Errorf("%s: not an Ed25519 key", path)
	}
	return key, nil
}
