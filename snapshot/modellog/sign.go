package modellog

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
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

// verify reports whether signature is the signature in value and covers all other bytes of value. A
// reader can thus verify records with unknown members.
func verify(typ string, version int, value, signature []byte, key ed25519.PublicKey) bool {
	member := fmt.Appendf(nil, `,"signature":"%s"`, base64.StdEncoding.EncodeToString(signature))
	i := bytes.LastIndex(value, member)
	if i < 0 || len(signature) != ed25519.SignatureSize {
		return false
	}
	bare := slices.Concat(value[:i], value[i+len(member):])
	return ed25519.Verify(key, toSign(typ, version, bare), signature)
}

// Sign signs a finished manifest. The errors are those of Encode.
func (m *Manifest) Sign(key ed25519.PrivateKey) error { return Sign(m, key) }

// Sign signs a finished challenger. The errors are those of Encode.
func (c *Challenger) Sign(key ed25519.PrivateKey) error { return Sign(c, key) }

// Verify returns ErrSignature unless m was signed with the private half of key.
func (m *Manifest) Verify(key ed25519.PublicKey) error { return Verify(m, key) }

// Verify returns ErrSignature unless c was signed with the private half of key.
func (c *Challenger) Verify(key ed25519.PublicKey) error { return Verify(c, key) }
