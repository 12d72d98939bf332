package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Limits of every server. A request is read within readTime and answered within
// writeTime, which is longer than the 30 s of a processor profile.
const (
	headerTime  = 5 * time.Second
	readTime    = 10 * time.Second
	writeTime   = time.Minute
	idleTime    = 90 * time.Second
	headerBytes = 16 << 10
	// answersAtOnce is how many requests are answered at the same time. Further ones are
	// answered with 503.
	answersAtOnce = 8
)

// Server serves a handler until its context ends. Every replica does, leader or not.
type Server struct {
	// Name says in errors what is served.
	Name string
	// Address is where it listens: host:port.
	Address string
	Handler http.Handler
	// TLS encrypts, with the certificate of CertDir (tls.crt and tls.key, read again when
	// they change), or without a CertDir with a self-signed one that is made at the start.
	TLS     bool
	CertDir string
	// ClientCA is a file with certificates in PEM; "" for none. With it only clients are
	// heard that show a certificate of one of them, with the common name ClientName
	// unless that is empty.
	ClientCA, ClientName string
}

// NeedLeaderElection returns false.
func (s *Server) NeedLeaderElection() bool { return false }

// Start serves until the context ends.
func (s *Server) Start(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Address)
	if err != nil {
		return fmt.Errorf("serve %s: %w", s.Name, err)
	}
	return s.serve(ctx, listener)
}

func (s *Server) serve(ctx context.Context, listener net.Listener) error {
	if s.TLS {
		cfg, err := s.encryption(ctx)
		if err != nil {
			return errors.Join(fmt.Errorf("serve %s: %w", s.Name, err), listener.Close())
		}
		listener = tls.NewListener(listener, cfg)
	}
	server := &http.Server{
		Handler:           atMost(answersAtOnce, s.Handler),
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: headerBytes,
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // requests need not be finished
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", s.Name, err)
	}
	return nil
}

// atMost answers so many requests at the same time, and refuses further ones with 503.
func atMost(n int, next http.Handler) http.Handler {
	slots := make(chan struct{}, n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests at the same time", http.StatusServiceUnavailable)
		}
	})
}
