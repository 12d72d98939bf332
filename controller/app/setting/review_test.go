package setting

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
)

func TestReview(t *testing.T) {
	known := []string{"cluster-name", "batch-idle-duration", "feature-gates", "log-level", "memory-limit", "ignore-dra-requests"}
	for name, tc := range map[string]struct {
		reason string
		in     Input
		want   []Finding
	}{
		"nothing": {reason: "no settings, no findings"},
		"defaults of Karpenter": {
			reason: "a setting at which both do the same is not worth a line",
			in: Input{
				Flags:       map[string]string{"ignore-dra-requests": "true"},
				Environment: map[string]string{"LOG_OUTPUT_PATHS": "stdout", "DISABLE_DRY_RUN": "false", "FEATURE_GATES": "NodeOverlay=false,ReservedCapacity=true"},
				Values:      map[string]any{"logErrorOutputPaths": []any{"stderr"}, "settings": map[string]any{"featureGates": map[string]any{"capacityBuffer": false}}},
			},
		},
		"flag": {
			reason: "a flag goes before its variable",
			in:     Input{Flags: map[string]string{"ignore-dra-requests": "false"}, Environment: map[string]string{"IGNORE_DRA_REQUESTS": "false"}},
			want:   []Finding{{Kind: NotApplicable, Source: Flag, Name: "ignore-dra-requests", Value: "false"}},
		},
		"variables": {
			reason: "those of 1.14, and of other versions",
			in:     Input{Environment: map[string]string{"CPU_REQUESTS": "1000", "ASSUME_ROLE_ARN": "arn:x", "HOME": "/"}},
			want: []Finding{
				{Kind: NotApplicable, Source: Variable, Name: "ASSUME_ROLE_ARN", Value: "arn:x"},
				{Kind: NotApplicable, Source: Variable, Name: "CPU_REQUESTS", Value: "1000"},
			},
		},
		"unknown variables": {
			reason: "what looks like a setting is named, what Kubernetes sets for Services is not",
			in: Input{Known: known, Environment: map[string]string{
				"BATCH_IDLE_DURATIONS": "1s", "BATCH_IDLE": "1s", "KARPENTER_THINGS": "x", "LOG_LEVEL": "info", "PATH": "/bin", "HOSTNAME": "x",
				"KARPENTER_SERVICE_HOST": "10.0.0.1", "KARPENTER_PORT_8080_TCP_ADDR": "10.0.0.1", "KARPENTER_SERVICE_PORT_HTTP_METRICS": "1",
			}},
			want: []Finding{
				{Kind: Unknown, Source: Variable, Name: "BATCH_IDLE", Nearest: "BATCH_IDLE_DURATION"},
				{Kind: Unknown, Source: Variable, Name: "BATCH_IDLE_DURATIONS", Nearest: "BATCH_IDLE_DURATION"},
				{Kind: Unknown, Source: Variable, Name: "KARPENTER_THINGS"},
			},
		},
		"gates": {
			reason: "gates that are on and have no effect",
			in:     Input{Flags: map[string]string{"feature-gates": "NodeRepair=true, NodeOverlay = true"}, Environment: map[string]string{"FEATURE_GATES": "CapacityBuffer=true"}},
			want:   []Finding{{Kind: NotApplicable, Source: FeatureGate, Name: "NodeOverlay", Value: "true"}},
		},
		"values": {
			reason: "values of Karpenter's chart, gates and lists among them",
			in: Input{Values: map[string]any{
				"logOutputPaths": []any{"stdout", "/var/log/x"},
				"settings": map[string]any{
					"ignoreDRARequests": false, "eksControlPlane": nil,
					"featureGates":    map[string]any{"nodeOverlay": true},
					"awsFeatureGates": map[string]any{"nodeClassCEL": true, "other": false},
				},
			}},
			want: []Finding{
				{Kind: NotApplicable, Source: ChartValue, Name: "logOutputPaths", Value: "stdout,/var/log/x"},
				{Kind: NotApplicable, Source: ChartValue, Name: "settings.awsFeatureGates", Value: "nodeClassCEL=true"},
				{Kind: NotApplicable, Source: ChartValue, Name: "settings.featureGates.nodeOverlay", Value: "true"},
				{Kind: NotApplicable, Source: ChartValue, Name: "settings.ignoreDRARequests", Value: "false"},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Review(&tc.in)
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Finding{}, "Message")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			for _, f := range got {
				if len(f.Message) < 10 {
					t.Errorf("%s: message %q", f.Name, f.Message)
				}
			}
		})
	}
}

// TestFindingsAreStructured: other programs read findings.
func TestFindingsAreStructured(t *testing.T) {
	got, err := json.Marshal(Review(&Input{Environment: map[string]string{"CPU_REQUESTS": "1"}}))
	if err != nil || !strings.HasPrefix(string(got), `[{"kind":"NotApplicable","source":"environment variable","name":"CPU_REQUESTS","value":"1","message":`) {
		t.Errorf("%s, %v", got, err)
	}
}

// TestUnknown: errors about unknown names carry the nearest known one.
func TestUnknown(t *testing.T) {
	if got := UnknownFlag("cluster-nam", []string{"cluster-name", "mode"}).Error(); got != "unknown flag --cluster-nam: did you mean --cluster-name?" {
		t.Error(got)
	}
	if got := UnknownFlag("xyz", []string{"cluster-name", "mode"}).Error(); got != "unknown flag --xyz" {
		t.Error(got)
	}
	if got := UnknownGate("NodeRepairs").Error(); !strings.HasPrefix(got, "feature gate NodeRepairs: unknown: did you mean NodeRepair?") {
		t.Error(got)
	}
}

// TestBind: Karpenter's flags are accepted and not shown; a switch may stand alone.
func TestBind(t *testing.T) {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	Bind(fs)
	if err := fs.Parse([]string{"--disable-controller-warmup", "--cpu-requests=500", "--log-output-paths", "stdout"}); err != nil {
		t.Fatal(err)
	}
	if got := fs.Lookup("disable-controller-warmup").Value.String(); got != "true" {
		t.Errorf("a switch alone is %q", got)
	}
	if fs.FlagUsages() != "" {
		t.Errorf("help shows flags without effect: %s", fs.FlagUsages())
	}
}
