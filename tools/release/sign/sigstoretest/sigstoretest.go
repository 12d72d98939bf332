// Package sigstoretest runs the services that sign without a key in a test: a certificate
// authority (Fulcio) with its log of certificates, a log of signatures (Rekor) and a time
// stamp authority. They check what they are asked as the real ones do, and know one identity.
package sigstoretest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	prototrustroot "github.com/sigstore/protobuf-specs/gen/pb-go/trustroot/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/testing/ca"
)

// Who the token is of, and who vouches for it.
const (
	Identity = "https://forge.example/acme/spokeshave/.github/workflows/release.yml@refs/tags/v1.2.3"
	Issuer   = "https://token.forge.example"
)

// Sigstore is the services, and the files that say where they are and what they sign with.
type Sigstore struct {
	SigningConfig, TrustedRoot string
	// Certificates counts those issued, Entries those logged.
	Certificates, Entries int
	// Stolen, if it is set, is put into certificates in place of the identity of the token.
	Stolen string

	log                *ca.VirtualSigstore
	authority, stamper authority
	transparency       *ecdsa.PrivateKey
	transparencyID     [sha256.Size]byte
	stamperLeaf        *x509.Certificate
	stamperKey         *ecdsa.PrivateKey
}

// authority is what issues certificates.
type authority struct {
	root, cert *x509.Certificate
	key        *ecdsa.PrivateKey
}

// Start starts the services until the test ends.
func Start(t *testing.T) *Sigstore {
	t.Helper()
	s := &Sigstore{transparency: key(t)}
	var err error
	if s.log, err = ca.NewVirtualSigstore(); err != nil {
		t.Fatal(err)
	}
	s.authority, s.stamper = newAuthority(t, ca.GenerateFulcioIntermediate), newAuthority(t, ca.GenerateTSAIntermediate)
	s.stamperKey = key(t)
	if s.stamperLeaf, err = ca.GenerateTSALeafCert(time.Now().Add(-time.Minute), s.stamperKey, s.stamper.cert, s.stamper.key); err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(s.transparency.Public())
	if err != nil {
		t.Fatal(err)
	}
	s.transparencyID = sha256.Sum256(public)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v2/signingCert", answer(t, s.certify))
	mux.HandleFunc("POST /api/v1/log/entries", answer(t, s.enter))
	mux.HandleFunc("POST /api/v1/timestamp", answer(t, s.stamp))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.writeFiles(t, server.URL)
	return s
}

func key(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func newAuthority(t *testing.T, below func(*x509.Certificate, crypto.Signer) (*x509.Certificate, *ecdsa.PrivateKey, error)) authority {
	t.Helper()
	top, topKey, err := ca.GenerateRootCa()
	if err != nil {
		t.Fatal(err)
	}
	cert, signing, err := below(top, topKey)
	if err != nil {
		t.Fatal(err)
	}
	return authority{top, cert, signing}
}

// refusal is an answer that is none of the server's fault.
type refusal string

func (r refusal) Error() string { return string(r) }

// answer makes a handler of a function; a refusal becomes status 400.
func answer(t *testing.T, do func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch err := do(w, r).(type) { //nolint:errorlint // nothing wraps a refusal
		case nil:
		case refusal:
			http.Error(w, err.Error(), http.StatusBadRequest)
		default:
			t.Errorf("%s: %v", r.URL, err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
}

// writeFiles writes what cosign calls the signing config and the trusted root.
func (s *Sigstore) writeFiles(t *testing.T, url string) {
	t.Helper()
	since := time.Now().Add(-time.Hour)
	service := func(path string) []root.Service {
		return []root.Service{{URL: url + path, MajorAPIVersion: 1, ValidityPeriodStart: since, Operator: "test"}}
	}
	selected := root.ServiceConfiguration{Selector: prototrustroot.ServiceSelector_ANY}
	config, err := root.NewSigningConfig(root.SigningConfigMediaType02, service(""), nil, service(""), selected, service("/api/v1/timestamp"), selected)
	if err != nil {
		t.Fatal(err)
	}
	logs := s.log.RekorLogs()
	for id, l := range logs {
		raw, err := hex.DecodeString(id)
		if err != nil {
			t.Fatal(err)
		}
		l.ID = raw
	}
	trusted, err := root.NewTrustedRoot(root.TrustedRootMediaType01,
		[]root.CertificateAuthority{&root.FulcioCertificateAuthority{Root: s.authority.root, Intermediates: []*x509.Certificate{s.authority.cert}, ValidityPeriodStart: since, URI: url}},
		map[string]*root.TransparencyLog{hex.EncodeToString(s.transparencyID[:]): {
			BaseURL: "https://certificates.example", ID: s.transparencyID[:], ValidityPeriodStart: since, HashFunc: crypto.SHA256, SignatureHashFunc: crypto.SHA256, PublicKey: s.transparency.Public(),
		}},
		[]root.TimestampingAuthority{&root.SigstoreTimestampingAuthority{Root: s.stamper.root, Intermediates: []*x509.Certificate{s.stamper.cert}, Leaf: s.stamperLeaf, ValidityPeriodStart: since, URI: url}},
		logs)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s.SigningConfig, s.TrustedRoot = filepath.Join(dir, "signing-config.json"), filepath.Join(dir, "trusted-root.json")
	for path, what := range map[string]json.Marshaler{s.SigningConfig: config, s.TrustedRoot: trusted} {
		text, err := what.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Token is a token as an issuer gives it out for the identity. Its signature is a constant:
// the test's authority compares the whole token.
func Token() string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"none"}`) + "." + part(`{"iss":"`+Issuer+`","sub":"repo:acme/spokeshave","aud":"sigstore"}`) + "." + part("signature")
}
