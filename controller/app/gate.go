package app

import (
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/isolate"
)

// gate registers the policy webhook when it is enabled. Referring to the webhook server
// also starts it.
func (p *parts) gate(isolated isolate.Config) {
	if p.o.WebhookPort == 0 {
		return
	}
	isolated.JudgeOnly = true
	p.mgr.GetWebhookServer().Register(policies.GatePath, &webhook.Admission{Handler: policies.NewGate(policies.Gate{
		Namespace: p.o.Namespace, Plugins: p.o.PluginNamespaces, Engines: p.o.engines(engine.Config{Isolate: &isolated}), Now: p.clock.Now,
	})})
}
