package app

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"

	"spokeshave.dev/controller/app/setting"
)

// karpenterEnvironment sets every environment variable that Karpenter 1.14 reads, as its
// chart does or to something else than its default.
var karpenterEnvironment = []string{
	"KUBERNETES_MIN_VERSION=1.19.0-0", "KARPENTER_SERVICE=karpenter", "LOG_LEVEL=debug", "LOG_OUTPUT_PATHS=stdout,/tmp/log", "LOG_ERROR_OUTPUT_PATHS=stdout",
	"METRICS_PORT=8000", "HEALTH_PROBE_PORT=8082", "SYSTEM_NAMESPACE=kube-system", "CPU_REQUESTS=2000", "MEMORY_LIMIT=-1",
	"FEATURE_GATES=ReservedCapacity=false,SpotToSpotConsolidation=true,NodeRepair=true,NodeOverlay=true,StaticCapacity=true,CapacityBuffer=true",
	"BATCH_MAX_DURATION=20s", "BATCH_IDLE_DURATION=2s", "PREFERENCE_POLICY=Ignore", "MIN_VALUES_POLICY=BestEffort", "CLUSTER_CA_BUNDLE=Yw==", "CLUSTER_NAME=c",
	"CLUSTER_ENDPOINT=https://x", "ISOLATED_VPC=true", "EKS_CONTROL_PLANE=true", "VM_MEMORY_OVERHEAD_PERCENT=0.08", "INTERRUPTION_QUEUE=q", "ENABLE_ZONAL_SHIFT=true",
	"RESERVED_ENIS=1", "IGNORE_DRA_REQUESTS=false", "DISABLE_CLUSTER_STATE_OBSERVABILITY=true", "DISABLE_DRY_RUN=true", "AMI_REFRESH_INTERVAL=5m", "SUBNET_REFRESH_INTERVAL=3m",
	"KUBE_CLIENT_QPS=100", "KUBE_CLIENT_BURST=150", "ENABLE_PROFILING=true", "DISABLE_CONTROLLER_WARMUP=false", "DISABLE_LEADER_ELECTION=true",
	"LEADER_ELECTION_NAME=l", "LEADER_ELECTION_NAMESPACE=n", "AWS_FEATURE_GATES=NodeClassCEL=true",
	"KUBERNETES_SERVICE_HOST=10.0.0.1", "KARPENTER_SERVICE_HOST=10.0.0.2", "PATH=/bin",
}

func parse(t *testing.T, args, environment []string) (*Options, error) {
	t.Helper()
	o, fs := &Options{}, pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Bind(fs)
	if err := o.Parse(fs, args, environment); err != nil {
		return o, err
	}
	return o, o.Validate()
}

// TestEnvironmentOfKarpenter: a whole environment of Karpenter is accepted, what applies
// is carried out, and of the rest each has one line in the log.
func TestEnvironmentOfKarpenter(t *testing.T) {
	o, err := parse(t, nil, karpenterEnvironment)
	if err != nil {
		t.Fatal(err)
	}
	gates := FeatureGates{NodeRepair: true, SpotToSpotConsolidation: true, StaticCapacity: true, NoReservedCapacity: true, Absent: "NodeOverlay=true,CapacityBuffer=true"}
	if o.ClusterName != "c" || o.ReservedENIs != 1 || o.MetricsPort != 8000 || o.AMIRefresh.Minutes() != 5 || o.SubnetRefresh.Minutes() != 3 || o.Gates != gates || o.QPS != 100 || !o.IsolatedVPC || !o.DisableClusterStateObservability || !o.DisableDryRun {
		t.Errorf("settings do not arrive: %+v", o)
	}
	var text bytes.Buffer
	o.logFindings(logr.FromSlogHandler(slog.NewJSONHandler(&text, nil)))
	for _, name := range []string{
		"KUBERNETES_MIN_VERSION", "KARPENTER_SERVICE", "LOG_OUTPUT_PATHS", "LOG_ERROR_OUTPUT_PATHS", "SYSTEM_NAMESPACE", "CPU_REQUESTS", "NodeOverlay", "CapacityBuffer",
		"EKS_CONTROL_PLANE", "IGNORE_DRA_REQUESTS", "DISABLE_CONTROLLER_WARMUP", "AWS_FEATURE_GATES",
	} {
		if strings.Count(text.String(), `"name":"`+name+`"`) != 1 {
			t.Errorf("the log says not once that %s has no effect", name)
		}
	}
	if got := strings.Count(text.String(), "\n"); got != 12 {
		t.Errorf("%d lines, want 12:\n%s", got, text.String())
	}
}

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		reason      string
		args        []string
		environment []string
		err         string
	}{
		"nothing of note": {reason: "no finding, no error", args: []string{"--cluster-name=c"}},
		"one dash":        {reason: "Karpenter takes one dash", args: []string{"-cluster-name=c", "-mode", "Observe"}},
		"switch":          {reason: "a switch of Karpenter's needs no value", args: []string{"--cluster-name=c", "--eks-control-plane"}},
		"unknown flag":    {reason: "the nearest is named", args: []string{"--cluster-nam=c"}, err: "unknown flag --cluster-nam: did you mean --cluster-name?"},
		"beginning":       {reason: "the nearest may be longer", args: []string{"--batch-idle=1s"}, err: "did you mean --batch-idle-duration?"},
		"unknown gate":    {reason: "the nearest is named", args: []string{"--cluster-name=c"}, environment: []string{"FEATURE_GATES=NodeOverlays=true"}, err: "did you mean NodeOverlay?"},
		"interval":        {reason: "Karpenter's least interval", args: []string{"--cluster-name=c", "--ami-refresh-interval=10s"}, err: "at least 1m"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(t, tc.args, tc.environment)
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.err)
			}
		})
	}
}

// TestFlagsAreKnown: what the command line takes for the controller's flags is what the
// controller binds.
func TestFlagsAreKnown(t *testing.T) {
	o, bound, karpenters := &Options{}, pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	o.Bind(bound)
	setting.Bind(karpenters)
	var got []string
	bound.VisitAll(func(f *pflag.Flag) {
		if karpenters.Lookup(f.Name) == nil {
			got = append(got, f.Name)
		}
	})
	if want := setting.Flags(); !slices.Equal(got, want) {
		t.Errorf("bound are %v, setting.Flags has %v", got, want)
	}
}
