package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/spf13/pflag"
)

// TestWithin: a request that nobody ends any more ends by itself.
func TestWithin(t *testing.T) {
	var ended error
	h := within(time.Millisecond, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		ended = r.Context().Err()
	}))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", http.NoBody))
	if !errors.Is(ended, context.DeadlineExceeded) {
		t.Errorf("ended by %v", ended)
	}
}

// TestLocalHandlers: profiles are served only when they are enabled.
func TestLocalHandlers(t *testing.T) {
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, profiling := range []bool{false, true} {
		h := localHandlers(&Options{EnableProfiling: profiling}, ok, map[string]http.Handler{"/decisions": ok, "/failures": ok, "/observed": ok})
		for path, want := range map[string]bool{"/metrics": true, "/decisions": true, "/failures": true, "/observed": true, "/": false, "/debug/pprof/heap": profiling} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
			if (w.Code == http.StatusOK) != want {
				t.Errorf("profiling %v, %s: %d", profiling, path, w.Code)
			}
		}
	}
}

// TestKubeSystemIsRefused: policies are read from the cluster's own namespace only where
// somebody insists.
func TestKubeSystemIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		change  func(*Options)
		refused bool
	}{
		"elsewhere": {"the usual case", func(*Options) {}, false},
		"installed": {"its ConfigMaps are the cluster's", func(o *Options) { o.Namespace = "kube-system" }, true},
		"a plugin":  {"the same for plugins", func(o *Options) { o.PluginNamespaces = []string{"team", "kube-system"} }, true},
		"forced":    {"with the flag", func(o *Options) { o.Namespace, o.AllowKubeSystem = "kube-system", true }, false},
	} {
		o := defaults(t)
		tc.change(o)
		err := o.Validate()
		if (err != nil) != tc.refused || err != nil && !strings.Contains(err.Error(), "--allow-kube-system") {
			t.Errorf("%s, %s: %v", name, tc.reason, err)
		}
	}
}

// defaults returns the options of a controller that is told its cluster's name only.
func defaults(t *testing.T) *Options {
	t.Helper()
	o := &Options{}
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Bind(fs)
	if err := fs.Parse([]string{"--cluster-name=test"}); err != nil {
		t.Fatal(err)
	}
	return o
}

// waiting is a registry that gathers until it is told to end.
type waiting struct{ enter, leave chan struct{} }

func (w waiting) Gather() ([]*dto.MetricFamily, error) {
	w.enter <- struct{}{}
	<-w.leave
	return nil, nil
}

// TestScrapesAtOnce: many readers of the metrics cost the memory of a few.
func TestScrapesAtOnce(t *testing.T) {
	from := waiting{make(chan struct{}), make(chan struct{})}
	h, r := scrape(from), httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	for range scrapesAtOnce {
		go h.ServeHTTP(httptest.NewRecorder(), r)
		<-from.enter
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("one more: %d", w.Code)
	}
	close(from.leave)
}
