package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"spokeshave.dev/controller/kube/endpoint"
	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/isolate"
)

// judgeTime is the longest that the API server waits for a webhook.
const judgeTime = 30 * time.Second

// validator adds the policy webhook when it is enabled. The server bounds the number of
// requests that are read at the same time and the time of each, controller-runtime their
// size (7 MB); Rego is compiled in a process of its own.
func (p *components) validator(isolated isolate.Config) error {
	if p.options.WebhookPort == 0 {
		return nil
	}
	isolated.JudgeOnly = true
	judge := &webhook.Admission{Handler: policies.NewValidator(policies.Validator{
		Namespace: p.options.Namespace, Plugins: p.options.PluginNamespaces, Scopes: p.options.PluginScopes, Engines: p.options.engines(engine.Config{Isolate: &isolated}), Now: p.clock.Now,
	})}
	mux := http.NewServeMux()
	mux.Handle("POST "+policies.ValidatorPath, within(judgeTime, judge))
	server := &endpoint.Server{
		Name: "the policy webhook", Address: address(p.options.WebhookPort), Handler: mux,
		TLS: true, CertDir: p.options.WebhookCertDir, ClientCA: p.options.WebhookClientCA, ClientName: p.options.WebhookClientName,
	}
	if err := p.mgr.Add(server); err != nil {
		return fmt.Errorf("add the policy webhook: %w", err)
	}
	return nil
}

// within ends a request's context after a time.
func within(d time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), d)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
