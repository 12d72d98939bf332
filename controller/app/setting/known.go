package setting

// Flags returns the names of the controller's own flags, without dashes, in order. The
// command line needs them to tell misspelt settings from others, and does not link the
// controller. A test of controller/app compares them with what the controller binds.
func Flags() []string {
	return []string{
		"admission-policies", "allow-kube-system", "ami-refresh-interval", "announced-pods", "aws-endpoint", "aws-region", "batch-idle-duration", "batch-max-duration", "batch-rollout-duration", "breaker-percent",
		"cluster-ca-bundle", "cluster-endpoint", "cluster-name", "decision-log", "decision-log-inputs", "disable-cluster-state-observability",
		"disable-dry-run", "disable-leader-election", "drain-on-rebalance", "enable-prefix-delegation", "enable-profiling", "enable-zonal-shift",
		"feature-gates", "health-probe-port", "interruption-queue", "interval", "isolated-vpc", "journal-memory", "karpenter-lease-name", "karpenter-lease-namespace",
		"kube-client-burst", "kube-client-qps", "leader-election-name", "leader-election-namespace", "local-port", "log-level", "memory-limit",
		"metrics-cert-dir", "metrics-port", "metrics-secure", "min-values-policy", "mode", "move-cost", "namespace", "policies-required", "policy-cache-dir",
		"policy-plugin-namespaces", "policy-plugin-scopes", "preference-policy", "price-discounts", "record-labels", "rego-evaluator", "rego-memory", "reserved-enis",
		"subnet-refresh-interval", "vm-memory-overhead-percent", "wasm-memory", "web-address", "web-cert-dir", "webhook-cert-dir", "webhook-client-ca",
		"webhook-client-name", "webhook-port", "workers",
	}
}
