package web

import (
	"context"
	"embed"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/record/journal"
)

//go:embed static
var static embed.FS

// renders is how many requests are rendered at the same time. Further ones wait, so that
// many readers do not need much memory.
const renders = 2

// Server makes the page. Who may see it is its caller's to decide.
type Server struct {
	Board    *Board
	Journal  func() []journal.Entry
	Policies func() []policy.Status
	// Ledger returns what the month has cost, nil when that is not known yet. Without
	// the function the page estimates the month from the instances that run.
	Ledger func() *spend.Ledger
	// Days returns what the last days have cost, the oldest first. Nil leaves the days
	// out.
	Days func(context.Context) ([]spend.Period, error)

	// summarizing is held while a snapshot is summarized, so that it happens once.
	summarizing sync.Mutex
}

// frame is static/page.html, cut at the places that depend on the request.
type frame struct{ head, title, nav, tail string }

func readFrame() (frame, error) {
	raw, err := static.ReadFile("static/page.html")
	if err != nil {
		return frame{}, fmt.Errorf("read the page's frame: %w", err)
	}
	var parts []string
	rest := string(raw)
	for _, place := range []string{"<!-- title -->", "<!-- nav -->", "<!-- contents -->"} {
		before, after, found := strings.Cut(rest, place)
		if !found {
			return frame{}, fmt.Errorf("read the page's frame: it has no place %q", place)
		}
		parts, rest = append(parts, before), after
	}
	return frame{parts[0], parts[1], parts[2], rest}, nil
}

// Handler serves the page, its contents alone for the script, and the static files.
func (s *Server) Handler() (http.Handler, error) {
	f, err := readFrame()
	if err != nil {
		return nil, err
	}
	busy := make(chan struct{}, renders)
	render := func(w http.ResponseWriter, r *http.Request, write func(a *address, contents string)) {
		a, ok := parse(r.URL.Query())
		if !ok {
			http.Error(w, "there is no such view", http.StatusNotFound)
			return
		}
		select {
		case busy <- struct{}{}:
		case <-r.Context().Done():
			return
		}
		text := func(ctx context.Context) string { // a slow reader holds up no other
			defer func() { <-busy }()
			return s.contents(ctx, &a)
		}(r.Context())
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		write(&a, text)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		render(w, r, func(a *address, contents string) {
			var title, nav markup
			title.put("%s", a.title())
			nav.navigation(a)
			for _, part := range []string{f.head, title.String(), f.title, nav.String(), f.nav, contents, f.tail} {
				_, _ = io.WriteString(w, part) // a client that closes the connection needs no handling
			}
		})
	})
	mux.HandleFunc("GET /contents", func(w http.ResponseWriter, r *http.Request) {
		render(w, r, func(_ *address, contents string) { _, _ = io.WriteString(w, contents) })
	})
	for _, name := range []string{"page.css", "page.js", "theme.js"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeFileFS(w, r, static, "static/"+name)
		})
	}
	return guarded(mux), nil
}

// navigation writes the links to the lists. The one that is shown is marked.
func (m *markup) navigation(a *address) {
	for _, l := range lists() {
		current := ""
		if l[0] == a.list() {
			current = " aria-current=\"page\""
		}
		m.put("<li><a href=\"%s\""+current+">%s</a></li>", address{View: l[0]}.String(), l[1])
	}
}

// guarded adds headers that allow only the page's own styles and scripts, and no
// frames.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// summary returns the summary of a snapshot. It is computed when a page is asked for,
// and kept until the next decision.
func (s *Server) summary(of *model.Snapshot) *summary {
	s.summarizing.Lock()
	defer s.summarizing.Unlock()
	out := s.Board.summary.Load()
	if out == nil || out.snapshot != of {
		out = summarize(of)
		s.Board.summary.Store(out)
	}
	return out
}

// ledger returns what the month has cost, estimated from the instances that run when it is
// not known.
func (s *Server) ledger(of *model.Snapshot) *spend.Ledger {
	if s.Ledger != nil {
		if l := s.Ledger(); l != nil {
			return l
		}
	}
	l := spend.New(of)
	return &l
}
