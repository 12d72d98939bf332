package endpoint

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority is a CA that signs certificates of clients.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key, cert: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}}
	raw, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(raw); err != nil {
		t.Fatal(err)
	}
	return a
}

// client returns a certificate of a client.
func (a *authority) client(t *testing.T, name string) []tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}
}

// TestClientCertificate: with a CA of clients only the one is heard that it names.
func TestClientCertificate(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	file := filepath.Join(t.TempDir(), "client-ca.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ours.cert.Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	at := start(t, &Server{Name: "test", Handler: http.HandlerFunc(hello), TLS: true, ClientCA: file, ClientName: "kube-apiserver"})
	for name, tc := range map[string]struct {
		reason string
		shows  []tls.Certificate
		heard  bool
	}{
		"the API server": {"its certificate", ours.client(t, "kube-apiserver"), true},
		"a pod":          {"has none", nil, false},
		"a kubelet":      {"has one of the same CA, with its own name", ours.client(t, "system:node:n1"), false},
		"a forger":       {"signs one itself", others.client(t, "kube-apiserver"), false},
	} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: tc.shows}}} //nolint:gosec // about the client
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+at, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if (err == nil) != tc.heard {
			t.Errorf("%s %s: heard %v, want %v: %v", name, tc.reason, err == nil, tc.heard, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
		client.CloseIdleConnections()
	}
}

// TestUnreadableCertificates: a server that cannot encrypt or check as it was told does
// not start.
func TestUnreadableCertificates(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.crt")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Server{
		"no certificate": {TLS: true, CertDir: t.TempDir()},
		"no CA":          {TLS: true, ClientCA: filepath.Join(t.TempDir(), "none")},
		"an empty CA":    {TLS: true, ClientCA: empty},
	} {
		s.Name, s.Address, s.Handler = "test", "127.0.0.1:0", http.HandlerFunc(hello)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		if err := s.Start(ctx); err == nil || ctx.Err() != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}
