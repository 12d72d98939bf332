package app

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/app/setting"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/policy/isolate"
)

// Mode says whether the controller changes the cluster.
type Mode string

// The modes.
const (
	// Act launches and terminates nodes. It needs Karpenter's lease besides its own.
	Act Mode = "Act"
	// Observe makes and records decisions, but applies none.
	Observe Mode = "Observe"
)

// The values of RegoEvaluator.
const (
	// RegoCompiled compiles the rules that can be compiled, and evaluates the others
	// with OPA.
	RegoCompiled = "compiled"
	// RegoOPA evaluates every rule with OPA.
	RegoOPA = "opa"
)

// Options are the controller's settings. A setting comes from its flag, or else from
// the environment variable with the flag's name in upper case with underscores, as in
// Karpenter.
//
// Size: one field for each flag.
type Options struct {
	Mode      string
	Namespace string

	ClusterName     string
	ClusterEndpoint string
	ClusterCABundle string
	AWSEndpoint     string
	AWSRegion       string

	InterruptionQueue string
	DrainOnRebalance  bool
	IsolatedVPC       bool
	EnableZonalShift  bool
	ReservedENIs      int
	PrefixDelegation  bool
	// DisableDryRun leaves EC2NodeClasses without trial requests to EC2.
	DisableDryRun         bool
	MemoryOverheadPercent float64
	PriceDiscounts        string

	// AMIRefresh and SubnetRefresh are how old what an EC2NodeClass selects may become. All
	// of a class is resolved at once: the shorter one counts.
	AMIRefresh    time.Duration
	SubnetRefresh time.Duration

	BatchIdle time.Duration
	BatchMax  time.Duration
	// BatchRollout is for how long new workloads wait for others that have yet to begin, where that
	// saves nodes.
	BatchRollout time.Duration
	Interval     time.Duration
	// AnnouncedPods also plans the pods that workloads will create, once they have begun to.
	AnnouncedPods bool

	PreferencePolicy string
	MinValuesPolicy  string
	// MoveCost is in USD/hour for each pod.
	MoveCost float64
	Gates    FeatureGates

	// RecordLabels are set on the ConfigMaps that the controller writes.
	RecordLabels map[string]string

	// AdmissionPolicies are the digests of the specs of the chart's ValidatingAdmissionPolicies by name.
	AdmissionPolicies map[string]string

	// BreakerPercent is the largest share of nodes, 0 to 100, that garbage collection,
	// overdue expiry and drift that no change explains may end without being asked for.
	BreakerPercent int

	PluginNamespaces []string
	PluginScopes     PluginScopes
	AllowKubeSystem  bool
	RequiredPolicies []string
	PolicyCache      string
	RegoEvaluator    string
	// RegoMemory limits the memory of each process that runs Rego policies; 0 for the
	// default. MemoryLimit is that of the container; 0 for none.
	RegoMemory Quantity
	// WasmMemory limits the memory of all WebAssembly policies together; 0 for no limit.
	WasmMemory  Quantity
	MemoryLimit Quantity

	// JournalMemory limits the decisions that are kept in memory, by their size as JSON.
	JournalMemory     Quantity
	DecisionLog       string
	DecisionLogInputs bool

	WebhookPort       int
	WebhookCertDir    string
	WebhookClientCA   string
	WebhookClientName string

	// MetricsPort is served on the network, LocalPort on the loopback address only.
	MetricsPort     int
	MetricsSecure   bool
	MetricsCertDir  string
	LocalPort       int
	WebAddress      string
	WebCertDir      string
	HealthProbePort int
	LogLevel        string
	QPS             float32
	Burst           int
	Workers         int
	EnableProfiling bool
	// DisableClusterStateObservability leaves out the metrics of pods and of status
	// conditions.
	DisableClusterStateObservability bool

	DisableLeaderElection   bool
	LeaderElectionName      string
	LeaderElectionNamespace string
	KarpenterLeaseName      string
	KarpenterLeaseNamespace string

	// Identity names this replica in leases; the host's name when empty.
	Identity string

	// Findings are what there is to say about the settings; Parse sets them.
	Findings []setting.Finding
}

// Bind declares the flags.
func (o *Options) Bind(fs *pflag.FlagSet) {
	fs.StringVar(&o.Mode, "mode", string(Act), "Act, or Observe: decide and journal, change nothing")
	fs.StringVar(&o.Namespace, "namespace", "spokeshave", "the controller's own namespace, where guardrail policies live")
	fs.StringVar(&o.ClusterName, "cluster-name", "", "the EKS cluster's name (required)")
	fs.StringVar(&o.ClusterEndpoint, "cluster-endpoint", "", "the API server's address that nodes join; asked of EKS when empty")
	fs.StringVar(&o.ClusterCABundle, "cluster-ca-bundle", "", "the cluster's CA certificate, base64, for user data; asked of EKS when empty")
	fs.StringVar(&o.AWSEndpoint, "aws-endpoint", "", "an EC2-compatible endpoint to use in place of AWS (also AWS_ENDPOINT_URL)")
	fs.StringVar(&o.AWSRegion, "aws-region", "", "the region; from AWS_REGION or the instance's metadata when empty")
	fs.StringVar(&o.InterruptionQueue, "interruption-queue", "", "name of the SQS queue with the interruptions of instances; none when empty")
	fs.BoolVar(&o.DrainOnRebalance, "drain-on-rebalance", false, "replace spot instances as soon as EC2 recommends it, before they are interrupted")
	fs.BoolVar(&o.IsolatedVPC, "isolated-vpc", false, "do not ask for on-demand prices, which an isolated VPC cannot reach; the embedded ones serve")
	fs.BoolVar(&o.DisableDryRun, "disable-dry-run", false, "do not ask EC2 with dry runs whether launches from an EC2NodeClass are allowed")
	fs.BoolVar(&o.EnableZonalShift, "enable-zonal-shift", false, "launch nothing in zones that ARC zonal shift moves the cluster away from, and leave their nodes alone")
	fs.IntVar(&o.ReservedENIs, "reserved-enis", 0, "network interfaces of each instance that pods cannot use")
	fs.BoolVar(&o.PrefixDelegation, "enable-prefix-delegation", false, "the VPC CNI delegates prefixes: nodes take up to 110 pods, 250 from 30 vCPUs on")
	fs.Float64Var(&o.MemoryOverheadPercent, "vm-memory-overhead-percent", 0.075, "share of an instance's memory that hypervisor and firmware keep, 0 to 1")
	fs.StringVar(&o.PriceDiscounts, "price-discounts", "", "file with discounts on list prices, in YAML; none when empty")
	fs.DurationVar(&o.AMIRefresh, "ami-refresh-interval", nodeclass.DefaultInterval, "how often EC2NodeClasses are resolved again, images and subnets alike: the shorter of this and --subnet-refresh-interval; at least 1m")
	fs.DurationVar(&o.SubnetRefresh, "subnet-refresh-interval", nodeclass.DefaultInterval, "see --ami-refresh-interval")
	fs.DurationVar(&o.BatchIdle, "batch-idle-duration", time.Second, "longest wait for another pod before a batch ends; the wait follows the gaps between the pods that come, from 100ms for one that comes alone, and is this long while workloads have yet to create their first pod")
	fs.DurationVar(&o.BatchMax, "batch-max-duration", 10*time.Second, "end a batch of pods after this long in any case")
	fs.DurationVar(&o.BatchRollout, "batch-rollout-duration", time.Minute, "plan the pods of workloads that are new together with those of others that have yet to create their first pod, for this long at most, while a hundredth or more is still to come and one plan has fewer nodes than several; other pods do not wait for them; 0 for not")
	fs.BoolVar(&o.AnnouncedPods, "announced-pods", true, "plan the pods that a ReplicaSet, a StatefulSet with parallel pod management or a Job will create as soon as its first one waits for a node")
	fs.DurationVar(&o.Interval, "interval", 10*time.Second, "look at the whole cluster this often when nothing happens")
	fs.StringVar(&o.PreferencePolicy, "preference-policy", lower.PreferenceRespect, "Respect preferences until a pod cannot be placed with them, or Ignore them")
	fs.StringVar(&o.MinValuesPolicy, "min-values-policy", lower.MinValuesStrict, "Strict, or BestEffort: launch with fewer values than a NodePool's minValues where there are no more")
	fs.Float64Var(&o.MoveCost, "move-cost", model.DefaultMoveCost.USD(), "what consolidation has to save for each pod that it moves, in US dollars an hour: pods count more or less by their priority, their deletion cost and the time that they take to start; the annotation "+karpv1.AnnotationMoveCost+" of a NodePool takes its place; 0 moves pods for any saving")
	fs.Var(&o.Gates, "feature-gates", "Karpenter's feature gates, name=true or name=false, separated by commas: NodeRepair, ReservedCapacity, SpotToSpotConsolidation, StaticCapacity; NodeOverlay and CapacityBuffer have no effect")
	fs.IntVar(&o.BreakerPercent, "breaker-percent", 10, "largest share of nodes, in per cent, that may go at once because they have no NodeClaim, or have expired or drifted without a change that explains it; more stop and ask")
	fs.StringToStringVar(&o.AdmissionPolicies, "admission-policies", nil, "ValidatingAdmissionPolicies of the chart, name=digest and separated by commas, each with a binding of the same name; the digest is the SHA-256 of the policy's spec as JSON with sorted keys and without what the API server sets by default, in hexadecimal, or empty. An event, a metric and an alert tell when one is missing, does not deny, or has another digest")
	fs.StringToStringVar(&o.RecordLabels, "record-labels", nil, "labels, name=value and separated by commas, for the ConfigMaps that the controller writes, where admission demands them; those of "+karpv1.Domain+" are left out")
	fs.StringSliceVar(&o.PluginNamespaces, "policy-plugin-namespaces", nil, "namespaces whose rank and consolidate policies are loaded too")
	fs.Var(&o.PluginScopes, "policy-plugin-scopes", "what the policies of plugin namespaces may touch, as JSON: {\"<namespace>\": {\"nodePools\": [patterns], \"hooks\": [rank, consolidate], \"failClosed\": false}}; without an entry, the NodePools with the label "+policy.LabelPluginNamespace+": <namespace>")
	fs.BoolVar(&o.AllowKubeSystem, "allow-kube-system", false, "permit policies in kube-system, whose ConfigMaps belong to the cluster itself")
	fs.StringSliceVar(&o.RequiredPolicies, "policies-required", nil, "policies without which nothing is launched")
	fs.StringVar(&o.PolicyCache, "policy-cache-dir", "", "folder for compiled WebAssembly policies, so that a restart need not compile them again; none when empty")
	fs.StringVar(&o.RegoEvaluator, "rego-evaluator", RegoCompiled, "compiled: rules of Rego policies run as compiled programs where they can, as OPA would evaluate them; or opa: OPA evaluates all of them, which is slower")
	o.RegoMemory.Bytes = isolate.DefaultMemory
	fs.Var(&o.RegoMemory, "rego-memory", "most memory of each process that runs Rego policies or compiles a WebAssembly module: one answers, another compiles, a third one for the webhook")
	o.WasmMemory.Bytes = wasmMemory
	fs.Var(&o.WasmMemory, "wasm-memory", "most memory of the compiled code and the instances of all WebAssembly policies together; a policy beyond it is rejected; 0 for no limit")
	fs.Var(&o.MemoryLimit, "memory-limit", "memory limit of the container, which the chart passes: the controller collects garbage in time to stay within what its Rego processes leave of it; none when 0")
	o.JournalMemory.Bytes = journalMemory
	fs.Var(&o.JournalMemory, "journal-memory", "most memory of the decisions that are kept for spokeshave explain and the page, as JSON: the last 200, or fewer")
	fs.StringVar(&o.DecisionLog, "decision-log", "", "file to which decisions are written as JSON lines, or - for standard output; none when empty")
	fs.BoolVar(&o.DecisionLogInputs, "decision-log-inputs", false, "write with each decision what it was made of, for spokeshave replay and backtest")
	fs.IntVar(&o.WebhookPort, "webhook-port", 0, "port on which policies are refused at admission; 0 for none")
	fs.StringVar(&o.WebhookCertDir, "webhook-cert-dir", "", "folder with tls.crt and tls.key for it")
	fs.StringVar(&o.WebhookClientCA, "webhook-client-ca", "", "file with the CA of the client certificate that the API server shows webhooks; others are not heard then; everybody is when empty")
	fs.StringVar(&o.WebhookClientName, "webhook-client-name", "", "common name of that certificate; any when empty")
	fs.IntVar(&o.MetricsPort, "metrics-port", 8080, "port of /metrics on the network: HTTPS, for bearer tokens that the API server lets get the URL /metrics; 0 picks none")
	fs.BoolVar(&o.MetricsSecure, "metrics-secure", true, "false serves /metrics to everybody who reaches its port, by HTTP")
	fs.StringVar(&o.MetricsCertDir, "metrics-cert-dir", "", "folder with tls.crt and tls.key for the metrics port; a self-signed certificate when empty")
	fs.IntVar(&o.LocalPort, "local-port", 8083, "port on 127.0.0.1 of /metrics, /decisions, /failures and /observed, for kubectl port-forward; 0 picks none")
	fs.StringVar(&o.WebAddress, "web-address", "", "where a read-only page about spend, nodes, policies and decisions is served, such as 127.0.0.1:8082; on other addresses than loopback by HTTPS, for bearer tokens that the API server lets get the URL "+pagePath+"; none when empty")
	fs.StringVar(&o.WebCertDir, "web-cert-dir", "", "folder with tls.crt and tls.key for the page; a self-signed certificate when empty")
	fs.IntVar(&o.HealthProbePort, "health-probe-port", 8081, "port of /healthz and /readyz; 0 picks none")
	fs.StringVar(&o.LogLevel, "log-level", "info", "debug, info or error")
	fs.Float32Var(&o.QPS, "kube-client-qps", 200, "requests a second to the API server")
	fs.IntVar(&o.Burst, "kube-client-burst", 300, "burst of requests to the API server")
	fs.IntVar(&o.Workers, "workers", 200, "NodeClaims and nodes worked on at the same time; claims share requests to EC2 with those that are worked on with them")
	fs.BoolVar(&o.EnableProfiling, "enable-profiling", false, "serve /debug/pprof on the local port")
	fs.BoolVar(&o.DisableClusterStateObservability, "disable-cluster-state-observability", false, "leave out the metrics of pods' states (karpenter_pods_state and waiting times) and of status conditions (operator_*), of which large clusters have many")
	fs.BoolVar(&o.DisableLeaderElection, "disable-leader-election", false, "act without any lease; for development only")
	fs.StringVar(&o.LeaderElectionName, "leader-election-name", "spokeshave-leader-election", "name of the controller's own lease")
	fs.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "", "namespace of the lease; the controller's own when empty")
	fs.StringVar(&o.KarpenterLeaseName, "karpenter-lease-name", "karpenter-leader-election", "Karpenter's lease, held besides the own one so that the two never act at once")
	fs.StringVar(&o.KarpenterLeaseNamespace, "karpenter-lease-namespace", "kube-system", "namespace of Karpenter's lease")
	setting.Bind(fs)
}

// Validate returns an error that joins all problems of the settings, nil for none.
func (o *Options) Validate() error {
	var errs []error
	if o.ClusterName == "" {
		errs = append(errs, errors.New("--cluster-name is required"))
	}
	if Mode(o.Mode) != Act && Mode(o.Mode) != Observe {
		errs = append(errs, fmt.Errorf("--mode %q: use Act or Observe", o.Mode))
	}
	if o.BatchIdle <= 0 || o.BatchMax < o.BatchIdle {
		errs = append(errs, fmt.Errorf("--batch-idle-duration %s, --batch-max-duration %s: both must be positive, the maximum not the smaller", o.BatchIdle, o.BatchMax))
	}
	if o.BatchRollout < 0 {
		errs = append(errs, fmt.Errorf("--batch-rollout-duration %s: must not be negative; 0 lets nothing wait", o.BatchRollout))
	}
	if _, err := lower.Settings(o.PreferencePolicy, o.MinValuesPolicy, &o.MoveCost); err != nil {
		errs = append(errs, err)
	}
	if o.RegoEvaluator != RegoCompiled && o.RegoEvaluator != RegoOPA {
		errs = append(errs, fmt.Errorf("--rego-evaluator %q: use %s or %s", o.RegoEvaluator, RegoCompiled, RegoOPA))
	}
	errs = append(errs, o.PluginScopes.validate(o.PluginNamespaces), o.validateMemory())
	if o.ReservedENIs < 0 {
		errs = append(errs, fmt.Errorf("--reserved-enis %d: must not be negative", o.ReservedENIs))
	}
	if !(o.MemoryOverheadPercent >= 0 && o.MemoryOverheadPercent < 1) {
		errs = append(errs, fmt.Errorf("--vm-memory-overhead-percent %v: want 0 or more and less than 1", o.MemoryOverheadPercent))
	}
	if o.DecisionLogInputs && o.DecisionLog == "" {
		errs = append(errs, errors.New("--decision-log-inputs needs --decision-log"))
	}
	errs = append(errs, o.validateAccess())
	if min(o.AMIRefresh, o.SubnetRefresh) < time.Minute {
		errs = append(errs, fmt.Errorf("--ami-refresh-interval %s, --subnet-refresh-interval %s: at least 1m", o.AMIRefresh, o.SubnetRefresh))
	}
	if o.BreakerPercent < 0 || o.BreakerPercent > 100 {
		errs = append(errs, fmt.Errorf("--breaker-percent %d: 0 to 100", o.BreakerPercent))
	}
	if o.Workers < 1 {
		errs = append(errs, fmt.Errorf("--workers %d: at least 1", o.Workers))
	}
	return errors.Join(errs...)
}

// validateAccess checks where policies may come from, and how the webhook is protected.
func (o *Options) validateAccess() error {
	var errs []error
	if !o.AllowKubeSystem && (o.Namespace == metav1.NamespaceSystem || slices.Contains(o.PluginNamespaces, metav1.NamespaceSystem)) {
		errs = append(errs, errors.New("policies are not read from kube-system, whose ConfigMaps belong to the cluster itself: use another namespace, or --allow-kube-system"))
	}
	if o.WebhookPort != 0 && o.WebhookCertDir == "" {
		errs = append(errs, errors.New("--webhook-port needs --webhook-cert-dir"))
	}
	if o.WebhookClientName != "" && o.WebhookClientCA == "" {
		errs = append(errs, errors.New("--webhook-client-name needs --webhook-client-ca"))
	}
	return errors.Join(errs...)
}
