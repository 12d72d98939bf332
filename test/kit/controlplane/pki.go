package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// pki holds what the API server needs to be trusted and to trust: files in
// dir, and the tokens of the components.
type pki struct {
	dir    string
	caPEM  []byte
	tokens map[string]string // component -> bearer token
}

// The identities that talk to the API server. The scheduler and the controller
// manager get the users that Kubernetes' own bootstrap roles are bound to.
const (
	adminUser      = "admin"
	controllerUser = "system:kube-controller-manager"
	schedulerUser  = "system:kube-scheduler"
	kwokUser       = "kwok"
)

func (p pki) caFile() string     { return filepath.Join(p.dir, "ca.crt") }
func (p pki) certFile() string   { return filepath.Join(p.dir, "apiserver.crt") }
func (p pki) keyFile() string    { return filepath.Join(p.dir, "apiserver.key") }
func (p pki) saKeyFile() string  { return filepath.Join(p.dir, "service-account.key") }
func (p pki) tokensFile() string { return filepath.Join(p.dir, "tokens.csv") }

// newPKI writes a fresh certificate authority, a serving certificate for
// loopback, the key that signs ServiceAccount tokens and a token per component
// into dir.
func newPKI(dir string) (pki, error) {
	p := pki{dir: dir, tokens: map[string]string{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return p, fmt.Errorf("write cluster keys: %w", err)
	}
	for _, write := range []func() error{p.writeCertificates, p.writeServiceAccountKey, p.writeTokens} {
		if err := write(); err != nil {
			return p, fmt.Errorf("write cluster keys: %w", err)
		}
	}
	var err error
	p.caPEM, err = os.ReadFile(p.caFile())
	return p, err
}

func (p pki) writeCertificates() error {
	from := now().Add(-time.Hour)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "spokeshave local control plane"},
		NotBefore: from, NotAfter: from.AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	serving := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube-apiserver"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, serving, ca, key.Public(), caKey)
	if err != nil {
		return err
	}
	if err := writePEM(p.caFile(), "CERTIFICATE", caDER); err != nil {
		return err
	}
	if err := writePEM(p.certFile(), "CERTIFICATE", der); err != nil {
		return err
	}
	return writeKey(p.keyFile(), key)
}

func (p pki) writeServiceAccountKey() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return writeKey(p.saKeyFile(), key)
}

// writeTokens writes the API server's static token file: token, user, uid and
// groups.
func (p pki) writeTokens() error {
	var csv strings.Builder
	for _, user := range []string{adminUser, controllerUser, schedulerUser, kwokUser} {
		raw := make([]byte, 16)
		if _, err := rand.Read(raw); err != nil {
			return err
		}
		p.tokens[user] = hex.EncodeToString(raw)
		csv.WriteString(p.tokens[user] + "," + user + "," + user)
		if user == adminUser || user == kwokUser {
			csv.WriteString(",system:masters")
		}
		csv.WriteString("\n")
	}
	return os.WriteFile(p.tokensFile(), []byte(csv.String()), 0o600)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
