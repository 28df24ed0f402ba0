package config

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
)

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
