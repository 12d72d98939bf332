package app

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"spokeshave.dev/controller/kube/endpoint"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/record/web"
)

// metricsPath is the URL path of the metrics, and what a reader of them must be allowed
// to get. pagePath is what a reader of the page must be allowed to get, whatever part of
// the page is asked for.
const (
	metricsPath = "/metrics"
	pagePath    = "/spokeshave/page"
)

// scrapesAtOnce is how many scrapes of a port are answered at the same time.
const scrapesAtOnce = 3

// serve adds the endpoints: the metrics on the network, and on the loopback address
// everything. local are the handlers that only the latter has, by path.
func serve(o *Options, mgr manager.Manager, local map[string]http.Handler) error {
	if o.LocalPort != 0 {
		port := &endpoint.Server{
			Name: "the local port", Address: net.JoinHostPort("127.0.0.1", strconv.Itoa(o.LocalPort)),
			Handler: endpoint.Local(localHandlers(o, scrape(metrics.Registry), local)),
		}
		if err := mgr.Add(port); err != nil {
			return fmt.Errorf("add the local port: %w", err)
		}
	}
	if o.MetricsPort == 0 {
		return nil
	}
	guarded := scrape(metrics.Registry)
	if o.MetricsSecure {
		guard, err := endpoint.NewGuard(mgr.GetConfig(), clock.RealClock{}.Now)
		if err != nil {
			return err
		}
		guarded = guard.Path(metricsPath, guarded)
	}
	mux := http.NewServeMux()
	mux.Handle(metricsPath, guarded)
	network := &endpoint.Server{
		Name: "metrics", Address: address(o.MetricsPort), Handler: mux, TLS: o.MetricsSecure, CertDir: o.MetricsCertDir,
	}
	if err := mgr.Add(network); err != nil {
		return fmt.Errorf("add the metrics port: %w", err)
	}
	return nil
}

// scrape serves metrics. A large cluster has tens of megabytes of them, so that few
// requests are answered at the same time; further ones get 503.
func scrape(from prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(from, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError, MaxRequestsInFlight: scrapesAtOnce})
}

// localHandlers returns what the local port serves.
func localHandlers(o *Options, scrape http.Handler, local map[string]http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(metricsPath, scrape)
	for path, handler := range local {
		mux.Handle(path, handler)
	}
	if o.EnableProfiling {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	}
	return mux
}

// webPage adds the read-only web page, if it is enabled.
func (p *components) webPage(loaded *load.Loader, spent *ledger.Tracker) error {
	if p.options.WebAddress == "" {
		return nil
	}
	p.board = &web.Board{Observe: Mode(p.options.Mode) == Observe}
	page, err := (&web.Server{Board: p.board, Journal: p.journal.Entries, Policies: loaded.Status, Ledger: spent.Latest, Days: spent.Periods}).Handler()
	if err != nil {
		return err
	}
	server := &endpoint.Server{Name: "the page", Address: p.options.WebAddress, Handler: endpoint.Local(page)}
	if !endpoint.IsLoopback(p.options.WebAddress) {
		guard, err := endpoint.NewGuard(p.mgr.GetConfig(), p.clock.Now)
		if err != nil {
			return err
		}
		server.Handler, server.TLS, server.CertDir = guard.Path(pagePath, page), true, p.options.WebCertDir
	}
	if err := p.mgr.Add(server); err != nil {
		return fmt.Errorf("add the page: %w", err)
	}
	return nil
}
