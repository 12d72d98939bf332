package sign

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"
)

func pkcs8(t *testing.T, k any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func private(t *testing.T) (p256 *ecdsa.PrivateKey, ed ed25519.PrivateKey) {
	t.Helper()
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, ed, err = ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return p256, ed
}

// TestKeys: each form of a key signs the same each time, and its public half alone accepts
// what it has signed.
func TestKeys(t *testing.T) {
	p256, ed := private(t)
	sec1, err := x509.MarshalECPrivateKey(p256)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := encrypted.Encrypt(pkcs8(t, p256), []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		text []byte
		of   crypto.Signer
	}{
		"ECDSA, PKCS #8": {block("PRIVATE KEY", pkcs8(t, p256)), p256},
		"ECDSA, SEC 1":   {block("EC PRIVATE KEY", sec1), p256},
		"ECDSA, cosign":  {block("ENCRYPTED SIGSTORE PRIVATE KEY", sealed), p256},
		"Ed25519":        {block("PRIVATE KEY", pkcs8(t, ed)), ed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			k, err := ParseKey(tc.text, []byte("secret"))
			if err != nil {
				t.Fatal(err)
			}
			der, err := x509.MarshalPKIXPublicKey(tc.of.Public())
			if err != nil {
				t.Fatal(err)
			}
			v, err := ParseVerifier(block("PUBLIC KEY", der))
			if err != nil {
				t.Fatal(err)
			}
			first, second := signs(t, k, "content"), signs(t, k, "content")
			if !bytes.Equal(first, second) {
				t.Error("two signatures of the same differ")
			}
			if err := v.Verify(t.Context(), []byte("content"), first); err != nil {
				t.Error(err)
			}
			if err := v.Verify(t.Context(), []byte("other"), first); !errors.Is(err, ErrSignature) {
				t.Errorf("of other content: %v", err)
			}
			sealed, err := k.Envelope(t.Context(), []byte(`{"a":1}`))
			if err != nil {
				t.Fatal(err)
			}
			if body, err := v.Open(t.Context(), sealed); err != nil || string(body) != `{"a":1}` {
				t.Errorf("the envelope holds %s, %v", body, err)
			}
			if _, err := v.Open(t.Context(), bytes.Replace(sealed, []byte("eyJhIjoxfQ=="), []byte("eyJhIjoyfQ=="), 1)); !errors.Is(err, ErrSignature) {
				t.Errorf("a changed envelope: %v", err)
			}
		})
	}
}

func signs(t *testing.T, k *Key, content string) []byte {
	t.Helper()
	s, err := k.Sign(t.Context(), []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRefusedKeys(t *testing.T) {
	p256, _ := private(t)
	sealed, err := encrypted.Encrypt(pkcs8(t, p256), []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		text []byte
		want string
	}{
		"no PEM":         {[]byte("x"), "not PEM"},
		"a certificate":  {block("CERTIFICATE", nil), `a PEM block "CERTIFICATE"`},
		"broken":         {block("PRIVATE KEY", []byte("x")), "read the key"},
		"RSA":            {block("PRIVATE KEY", pkcs8(t, long)), errKind.Error()},
		"P-384":          {block("PRIVATE KEY", pkcs8(t, p384)), errKind.Error()},
		"wrong password": {block("ENCRYPTED COSIGN PRIVATE KEY", sealed), "COSIGN_PASSWORD"},
	} {
		if _, err := ParseKey(tc.text, []byte("guess")); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

// TestOpenSSL: what the page about installing says with openssl is so.
func TestOpenSSL(t *testing.T) {
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	p256, _ := private(t)
	k, err := ParseKey(block("PRIVATE KEY", pkcs8(t, p256)), nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(p256.Public())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, body := range map[string][]byte{"key.pub": block("PUBLIC KEY", der), "sums": []byte("content"), "good": signs(t, k, "content"), "bad": signs(t, k, "other")} {
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	verify := func(ctx context.Context, signature string) error {
		cmd := exec.CommandContext(ctx, program, "dgst", "-sha256", "-verify", "key.pub", "-signature", signature, "sums")
		cmd.Dir = dir
		return cmd.Run()
	}
	if err := verify(t.Context(), "good"); err != nil {
		t.Errorf("openssl refuses a signature: %v", err)
	}
	if err := verify(t.Context(), "bad"); err == nil {
		t.Error("openssl accepts a signature of something else")
	}
}
