package modellog

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// ErrSignature: a snapshot is not signed by the key that is trusted.
var ErrSignature = errors.New("not signed by the trusted key")

// signed is what a signature covers: the record as it is encoded without one,
// and with it the hash of the file.
func (m *Manifest) signed() ([]byte, error) {
	bare := *m
	bare.Signature = nil
	return toSign(&bare)
}

func (c *Challenger) signed() ([]byte, error) {
	bare := *c
	bare.Signature = nil
	return toSign(&bare)
}

func toSign(bare Record) ([]byte, error) {
	_, value, err := Encode(bare)
	return append([]byte("accrete "+bare.Type()+" 1\x00"), value...), err
}

// Sign signs a finished manifest. Its errors are Encode's.
func (m *Manifest) Sign(key ed25519.PrivateKey) error {
	b, err := m.signed()
	if err == nil {
		m.Signature = ed25519.Sign(key, b)
	}
	return err
}

// Sign signs a finished challenger. Its errors are Encode's.
func (c *Challenger) Sign(key ed25519.PrivateKey) error {
	b, err := c.signed()
	if err == nil {
		c.Signature = ed25519.Sign(key, b)
	}
	return err
}

// Verify is ErrSignature unless m was signed with the private half of key.
func (m *Manifest) Verify(key ed25519.PublicKey) error {
	b, err := m.signed()
	if err != nil {
		return err
	}
	return m.verify(key, b)
}

// Verify is ErrSignature unless c was signed with the private half of key.
func (c *Challenger) Verify(key ed25519.PublicKey) error {
	b, err := c.signed()
	if err != nil {
		return err
	}
	return c.verify(key, b)
}

func (m *Manifest) verify(key ed25519.PublicKey, b []byte) error {
	if len(m.Signature) == 0 {
		return fmt.Errorf("%w: snapshot %v has no signature", ErrSignature, m.Snapshot)
	}
	if !ed25519.Verify(key, b, m.Signature) {
		return fmt.Errorf("%w: snapshot %v", ErrSignature, m.Snapshot)
	}
	return nil
}

// ReadSigningKey reads an Ed25519 key as openssl genpkey -algorithm ed25519
// writes it.
func ReadSigningKey(path string) (ed25519.PrivateKey, error) {
	return readKey[ed25519.PrivateKey](path, "PRIVATE KEY", x509.ParsePKCS8PrivateKey)
}

// ReadVerifyingKey reads the public half, as openssl pkey -pubout writes it.
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
		return key, fmt.Errorf("%s: a key of another kind than Ed25519", path)
	}
	return key, nil
}
