package config

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
)

func TestKeysAreReadAsOpenSSLWritesThem(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := write("a", "PRIVATE KEY", private), write("b", "PUBLIC KEY", public)
	if got, err := ReadSigningKey(a); err != nil || !got.Equal(key) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := ReadVerifyingKey(b); err != nil || !got.Equal(key.Public()) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := ReadSigningKey(b); err == nil {
		t.Error("a public key signs")
	}
	if _, err := ReadVerifyingKey(write("c", "PUBLIC KEY", private)); err == nil {
		t.Error("a broken key is read")
	}
}
