package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/record/journal"
)

//go:embed static
var static embed.FS

// place marks where the contents are inserted in static/page.html.
const place = "<!-- contents -->"

// Server serves the page.
type Server struct {
	// Address is where it listens, such as 127.0.0.1:8082.
	Address  string
	Board    *Board
	Journal  func() []journal.Entry
	Policies func() []policy.Status
}

// NeedLeaderElection returns false: every replica serves the page, and one that does
// not lead says so.
func (s *Server) NeedLeaderElection() bool { return false }

// Start serves until the context ends.
func (s *Server) Start(ctx context.Context) error {
	handler, err := s.Handler()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Address)
	if err != nil {
		return fmt.Errorf("serve the page: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // requests need not be finished
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the page: %w", err)
	}
	return nil
}

// Handler serves the page, its contents alone for the script, and the static files.
func (s *Server) Handler() (http.Handler, error) {
	frame, err := static.ReadFile("static/page.html")
	if err != nil {
		return nil, fmt.Errorf("read the page's frame: %w", err)
	}
	head, tail, found := strings.Cut(string(frame), place)
	if !found {
		return nil, fmt.Errorf("read the page's frame: it has no place for the contents, %q", place)
	}
	mux := http.NewServeMux()
	show := func(head, tail string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			p := s.page()
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			// A client that closes the connection needs no handling.
			_, _ = io.WriteString(w, head+contents(&p)+tail)
		}
	}
	mux.HandleFunc("GET /{$}", show(head, tail))
	mux.HandleFunc("GET /contents", show("", ""))
	for _, name := range []string{"page.css", "page.js"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, static, "static/"+name)
		})
	}
	return s.guarded(mux), nil
}

// guarded adds headers that allow only the page's own styles and scripts, and no
// frames. On a loopback address it also refuses requests for another host name, because
// a page of another site could point its name at the address.
func (s *Server) guarded(next http.Handler) http.Handler {
	host, _, err := net.SplitHostPort(s.Address)
	ip := net.ParseIP(host)
	local := err == nil && ip != nil && ip.IsLoopback()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if local && !loopback(r.Host) {
			http.Error(w, "ask for localhost or 127.0.0.1", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
