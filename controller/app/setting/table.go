package setting

// setting is one of Karpenter's that has no effect here.
type setting struct {
	// Flag is the name of the flag, without dashes; empty for a setting that has only an
	// environment variable.
	Flag string
	// Variable is the environment variable.
	Variable string
	// Value is the path in the values of Karpenter's chart, empty for none.
	Value string
	// Default is the value at which there is nothing to say: that of Karpenter, where the
	// controller does the same. Empty: any value is worth a finding.
	Default string
	// Switch says that the flag may stand without a value, which means true.
	Switch bool
	// Why says what holds in place of it.
	Why string
}

// inapplicable are the settings of Karpenter 1.14 that have no effect here, in the
// order of their names.
func inapplicable() []setting {
	return []setting{
		{
			Variable: "AWS_FEATURE_GATES", Value: "settings.awsFeatureGates",
			Why: "no gate of the AWS provider exists here",
		},
		{
			Flag: "cpu-requests", Variable: "CPU_REQUESTS",
			Why: "how much is done at the same time is set by --workers, and does not follow from CPU requests",
		},
		{
			Flag: "disable-controller-warmup", Variable: "DISABLE_CONTROLLER_WARMUP", Default: "true", Switch: true,
			Why: "a replica that waits for its leases keeps its caches filled in any case",
		},
		{
			Flag: "eks-control-plane", Variable: "EKS_CONTROL_PLANE", Value: "settings.eksControlPlane", Default: "false", Switch: true,
			Why: "EKS is asked for whatever of the cluster is not set, whether or not it knows the cluster",
		},
		{
			Flag: "ignore-dra-requests", Variable: "IGNORE_DRA_REQUESTS", Value: "settings.ignoreDRARequests", Default: "true", Switch: true,
			Why: "pods with resource claims (dynamic resource allocation) get no nodes; an event at the pod says so",
		},
		{
			Flag: "karpenter-service", Variable: "KARPENTER_SERVICE",
			Why: "no certificate is made for a Service of this name",
		},
		{
			Variable: "KUBERNETES_MIN_VERSION",
			Why:      "the API server's version is not compared with it",
		},
		{
			Flag: "log-error-output-paths", Variable: "LOG_ERROR_OUTPUT_PATHS", Value: "logErrorOutputPaths", Default: "stderr",
			Why: "the log goes to standard error",
		},
		{
			Flag: "log-output-paths", Variable: "LOG_OUTPUT_PATHS", Value: "logOutputPaths", Default: "stdout",
			Why: "the log goes to standard error; decisions can be written elsewhere by --decision-log",
		},
		{
			Variable: "SYSTEM_NAMESPACE",
			Why:      "the controller's namespace is set by --namespace",
		},
	}
}

// otherVersions are environment variables of Karpenter before or after 1.14, with what
// holds in place of each.
func otherVersions() map[string]string {
	return map[string]string{
		"ASSUME_ROLE_ARN":      "the AWS SDK assumes the role that the service account or the environment names",
		"ASSUME_ROLE_DURATION": "the AWS SDK says for how long a role is assumed",
		"DISABLE_WEBHOOK":      "the webhook for policies is on where --webhook-port is set",
		"SCHEDULER_CONFIG":     "a setting of later versions of Karpenter",
	}
}

// gateValues are the feature gates of Karpenter's chart by their names in its values.
func gateValues() map[string]string {
	return map[string]string{
		"nodeRepair": "NodeRepair", "reservedCapacity": "ReservedCapacity", "spotToSpotConsolidation": "SpotToSpotConsolidation",
		"nodeOverlay": "NodeOverlay", "staticCapacity": "StaticCapacity", "capacityBuffer": "CapacityBuffer",
	}
}

// absentGates are Karpenter's feature gates that have no effect here, with what holds in
// place of each.
func absentGates() map[string]string {
	return map[string]string{
		"CapacityBuffer": "CapacityBuffers are not read, and no capacity is kept for them; pods of low priority that others preempt keep room free",
		"NodeOverlay":    "NodeOverlays are not read: prices and capacities stay as they are; a rank policy changes what types cost in the choice",
	}
}
