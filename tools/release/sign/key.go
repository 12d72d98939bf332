// Package sign signs a release and verifies its signatures, in the formats of cosign, so
// that others need no program of ours to verify them.
//
// Signatures are deterministic: the same key and content give the same bytes.
package sign

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

// Key signs. It implements dsse.Signer.
type Key struct {
	Verifier

	private crypto.Signer
}

// Verifier checks signatures of one key. It implements dsse.Verifier.
type Verifier struct{ public crypto.PublicKey }

// errKind is for keys of other kinds than those that are supported.
var errKind = errors.New("want an ECDSA key on P-256 or an Ed25519 key")

// ParseKey reads a private key in PEM: PKCS #8, SEC 1 ("EC PRIVATE KEY"), or what
// "cosign generate-key-pair" writes, which is opened with the password.
func ParseKey(text, password []byte) (*Key, error) {
	block, _ := pem.Decode(bytes.TrimSpace(text))
	if block == nil {
		return nil, errors.New("read the key: not PEM")
	}
	var parsed any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		parsed, err = x509.ParseECPrivateKey(block.Bytes)
	case "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY":
		var der []byte
		if der, err = encrypted.Decrypt(block.Bytes, password); err != nil {
			return nil, fmt.Errorf("decrypt the key: %w: is its password in COSIGN_PASSWORD?", err)
		}
		parsed, err = x509.ParsePKCS8PrivateKey(der)
	default:
		return nil, fmt.Errorf("read the key: a PEM block %q: %w in PKCS #8, or one of cosign's", block.Type, errKind)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	private, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("read the key: %w", errKind)
	}
	if err := supported(private.Public()); err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	return &Key{Verifier{private.Public()}, private}, nil
}

// ParseVerifier reads a public key in PEM.
func ParseVerifier(text []byte) (*Verifier, error) {
	block, _ := pem.Decode(bytes.TrimSpace(text))
	if block == nil || block.Type != "PUBLIC KEY" {
		return nil, errors.New("read the public key: want a PEM block PUBLIC KEY")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the public key: %w", err)
	}
	if err := supported(public); err != nil {
		return nil, fmt.Errorf("read the public key: %w", err)
	}
	return &Verifier{public}, nil
}

func supported(public crypto.PublicKey) error {
	switch k := public.(type) {
	case ed25519.PublicKey:
		return nil
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() {
			return nil
		}
	}
	return errKind
}

// Sign returns the signature of data: of its SHA-256 digest in ASN.1 for ECDSA.
func (k *Key) Sign(_ context.Context, data []byte) ([]byte, error) {
	message, hash := data, crypto.Hash(0)
	if _, ok := k.private.(*ecdsa.PrivateKey); ok {
		sum := sha256.Sum256(data)
		message, hash = sum[:], crypto.SHA256
	}
	// Without a source of randomness ECDSA signs as RFC 6979 says.
	signature, err := k.private.Sign(nil, message, hash)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return signature, nil
}

// ErrSignature says that a signature is not by the key or identity, or of something else.
var ErrSignature = errors.New("the signature is not of this signer and content")

// Verify returns ErrSignature unless signature is that of data by this key.
func (v *Verifier) Verify(_ context.Context, data, signature []byte) error {
	good := false
	switch k := v.public.(type) {
	case ed25519.PublicKey:
		good = ed25519.Verify(k, data, signature)
	case *ecdsa.PublicKey:
		sum := sha256.Sum256(data)
		good = ecdsa.VerifyASN1(k, sum[:], signature)
	}
	if !good {
		return ErrSignature
	}
	return nil
}

// KeyID returns the fingerprint of the key, as dsse computes it.
func (v *Verifier) KeyID() (string, error) { return dsse.SHA256KeyID(v.public) }

// Public returns the public key.
func (v *Verifier) Public() crypto.PublicKey { return v.public }
