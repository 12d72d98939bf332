package doctor

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestInstallation: version, flags and variables are read of a Deployment; values that
// stand elsewhere are named and not read.
func TestInstallation(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, image, more string
		want                *Installation
	}{
		"of the chart": {
			reason: "flags in each form, variables, what is hidden", image: "public.ecr.aws/karpenter/controller:1.14.1@sha256:ab",
			more: `, command: [/ko-app], args: [--cluster-name=prod, -log-level, debug, --isolated-vpc], env: [{name: CLUSTER_NAME, value: other}, {name: AWS_SECRET_ACCESS_KEY, value: hunter2}, {name: TOKEN, valueFrom: {fieldRef: {fieldPath: a}}}], envFrom: [{secretRef: {name: s}}, {configMapRef: {name: m}}]`,
			want: &Installation{
				Version: "1.14.1", Flags: map[string]string{"cluster-name": "prod", "log-level": "debug", "isolated-vpc": "true"},
				Environment: map[string]string{"CLUSTER_NAME": "other"}, Hidden: []string{"variable AWS_SECRET_ACCESS_KEY", "variable TOKEN", "Secret s", "ConfigMap m"},
			},
		},
		"mirrored": {
			reason: "a registry with a port, and a version with a v", image: "mirror:5000/karpenter:v1.14.0",
			want: &Installation{Version: "1.14.0", Flags: map[string]string{}, Environment: map[string]string{}},
		},
		"a tag that is no version": {reason: "labels do not tell either", image: "karpenter:latest", want: &Installation{Flags: map[string]string{}, Environment: map[string]string{}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := FindKarpenter(read(t, karpenter(tc.image, tc.more)).Deployments)
			tc.want.Namespace, tc.want.Name, tc.want.Image, tc.want.Replicas, tc.want.Ready = "kube-system", "karpenter", tc.image, 2, 2
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	both := read(t, karpenter("karpenter/controller:1.14.1", "")+spokeshave(2, "--mode=Observe")).Deployments
	if k, s := FindKarpenter(both), FindSpokeshave(both); k.Name != "karpenter" || s.Name != "spokeshave" || s.Version != "0.9.0" || s.Setting("mode") != "Observe" {
		t.Errorf("found %+v and %+v", k, s)
	}
	if k := FindKarpenter(read(t, spokeshave(2, "")).Deployments); k != nil {
		t.Errorf("Spokeshave was taken for Karpenter: %+v", k)
	}
	if got := (&Installation{Environment: map[string]string{"CLUSTER_NAME": "a"}}).Setting("cluster-name"); got != "a" {
		t.Errorf("the variable was not read: %q", got)
	}
}
