package endpoint

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	certutil "k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

// encryption returns how the server encrypts, and whom it hears.
func (s *Server) encryption(ctx context.Context) (*tls.Config, error) {
	certificate, err := certificates(ctx, s.CertDir)
	if err != nil {
		return nil, err
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate, NextProtos: []string{"http/1.1"}}
	if s.ClientCA == "" {
		return cfg, nil
	}
	text, err := os.ReadFile(s.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("read the CA of clients: %w", err)
	}
	cfg.ClientCAs, cfg.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
	if !cfg.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read the CA of clients: no certificate in %s", s.ClientCA)
	}
	cfg.VerifyConnection = func(state tls.ConnectionState) error {
		if name := state.PeerCertificates[0].Subject.CommonName; s.ClientName != "" && name != s.ClientName {
			return errors.New("this server does not hear " + name)
		}
		return nil
	}
	return cfg, nil
}

// certificates returns what a server shows: the certificate of a folder, or without a
// folder a self-signed one for localhost that is valid for a year.
func certificates(ctx context.Context, dir string) (func(*tls.ClientHelloInfo) (*tls.Certificate, error), error) {
	if dir == "" {
		text, key, err := certutil.GenerateSelfSignedCertKeyWithFixtures("localhost", []net.IP{{127, 0, 0, 1}}, nil, "")
		if err != nil {
			return nil, fmt.Errorf("make a certificate: %w", err)
		}
		pair, err := tls.X509KeyPair(text, key)
		if err != nil {
			return nil, fmt.Errorf("make a certificate: %w", err)
		}
		return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }, nil
	}
	watcher, err := certwatcher.New(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("read the certificate in %s: %w", dir, err)
	}
	go func() {
		if err := watcher.Start(ctx); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "a changed certificate is not noticed", "folder", dir)
		}
	}()
	return watcher.GetCertificate, nil
}
