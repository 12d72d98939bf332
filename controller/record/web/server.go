package web

import (
	"embed"
	"fmt"
	"io"
	"net/http"
	"strings"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/record/journal"
)

//go:embed static
var static embed.FS

// place marks where the contents are inserted in static/page.html.
const place = "<!-- contents -->"

// Server makes the page. Who may see it is its caller's to decide.
type Server struct {
	Board    *Board
	Journal  func() []journal.Entry
	Policies func() []policy.Status
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
	return guarded(mux), nil
}

// guarded adds headers that allow only the page's own styles and scripts, and no
// frames.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
