package app

import (
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/isolate"
)

// validator registers the policy webhook when it is enabled. Referring to the webhook server
// also starts it.
func (p *components) validator(isolated isolate.Config) {
	if p.options.WebhookPort == 0 {
		return
	}
	isolated.JudgeOnly = true
	p.mgr.GetWebhookServer().Register(policies.ValidatorPath, &webhook.Admission{Handler: policies.NewValidator(policies.Validator{
		Namespace: p.options.Namespace, Plugins: p.options.PluginNamespaces, Engines: p.options.engines(engine.Config{Isolate: &isolated}), Now: p.clock.Now,
	})})
}
