package chart

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestLint(t *testing.T) {
	h := newHelm(t)
	h.must(t, "lint", "--strict", chartDir)
	h.must(t, "lint", "--strict", chartDir, "--set", "settings.clusterName=test")
	h.must(t, "lint", "--strict", crdsDir)
}

// TestObjects says which objects there are under which values.
func TestObjects(t *testing.T) {
	h := newHelm(t)
	always := []string{
		"ClusterRole/spokeshave", "ClusterRole/spokeshave-admin", "ClusterRoleBinding/spokeshave", "ClusterRole/spokeshave-metrics-reader",
		"ValidatingAdmissionPolicy/spokeshave-system-configmaps", "ValidatingAdmissionPolicyBinding/spokeshave-system-configmaps",
		"Role/spokeshave", "RoleBinding/spokeshave",
		"Deployment/spokeshave", "PodDisruptionBudget/spokeshave", "Service/spokeshave",
	}
	lease := []string{"Role/kube-system/spokeshave-karpenter-lease", "RoleBinding/kube-system/spokeshave-karpenter-lease"}
	fence := []string{
		"ValidatingAdmissionPolicy/spokeshave-system-pods", "ValidatingAdmissionPolicyBinding/spokeshave-system-pods",
		"ValidatingAdmissionPolicy/spokeshave-system-nodeclaims", "ValidatingAdmissionPolicyBinding/spokeshave-system-nodeclaims",
		"ValidatingAdmissionPolicy/spokeshave-system-nodepools", "ValidatingAdmissionPolicyBinding/spokeshave-system-nodepools",
		"Role/kube-system/spokeshave-dns", "RoleBinding/kube-system/spokeshave-dns", // of a controller that launches
	}
	account := []string{"ServiceAccount/spokeshave"}
	closed := []string{"NetworkPolicy/spokeshave", "FlowSchema/spokeshave", "FlowSchema/spokeshave-leader-election"}
	crds := []string{
		"CustomResourceDefinition/ec2nodeclasses.karpenter.k8s.aws",
		"CustomResourceDefinition/nodeclaims.karpenter.sh", "CustomResourceDefinition/nodepools.karpenter.sh",
	}
	policies := []string{"ConfigMap/cheapest", "ConfigMap/keep-protected"}
	tests := map[string]struct {
		reason, values string
		want           [][]string
	}{
		"defaults": {"everything that a working controller needs", ``, [][]string{fence, account, lease, crds, policies}},
		"crds":     {"somebody else may own the definitions", `crds: {install: false}`, [][]string{fence, account, lease, policies}},
		"observe":  {"an observer does not hold Karpenter's lease", `controller: {mode: Observe}`, [][]string{account, crds, policies}},
		"account":  {"somebody else may own the account", `serviceAccount: {create: false, name: mine}`, [][]string{fence, lease, crds, policies}},
		"monitor":  {"ServiceMonitor on request", `serviceMonitor: {enabled: true}`, [][]string{fence, account, lease, crds, policies, {"ServiceMonitor/spokeshave"}}},
		"page":     {"a page in the cluster has readers", `web: {enabled: true, service: true}`, [][]string{fence, account, lease, crds, policies, {"Service/spokeshave-web", "ClusterRole/spokeshave-page-reader"}}},
		"policies": {
			"each policy has its switch", `policies: {defaults: {cheapest: {enabled: false}, keep-protected: {enabled: false}, budget: {enabled: true, config: {caps: {cluster: {hourly_usd: 2}}}}}}`,
			[][]string{fence, account, lease, crds, {"ConfigMap/budget"}},
		},
		"plugins": {
			"plugin namespaces may be read", `policies: {pluginNamespaces: [team-a]}`,
			[][]string{fence, account, lease, crds, policies, {"Role/team-a/spokeshave-policies", "RoleBinding/team-a/spokeshave-policies"}},
		},
		"lease elsewhere": {
			"Karpenter lives where it lives", `settings: {karpenterLease: {namespace: karpenter}}`,
			[][]string{fence, account, {"Role/karpenter/spokeshave-karpenter-lease", "RoleBinding/karpenter/spokeshave-karpenter-lease"}, crds, policies},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := slices.Sorted(slices.Values(slices.Concat(append(tc.want, always, closed)...)))
			var got []string
			for key := range h.render(t, tc.values) {
				got = append(got, key)
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCRDsAreKept: uninstalling or downgrading the chart must never delete a NodePool.
func TestCRDsAreKept(t *testing.T) {
	found := 0
	for key, obj := range newHelm(t).render(t, ``) {
		if !strings.HasPrefix(key, "CustomResourceDefinition/") {
			continue
		}
		if found++; obj.GetAnnotations()["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s would be deleted with the release", key)
		}
	}
	if found != 3 {
		t.Errorf("%d definitions in the chart, want NodePool, NodeClaim and EC2NodeClass", found)
	}
}

// TestCRDsAlone: the chart of the definitions has those of the chart, and nothing else.
func TestCRDsAlone(t *testing.T) {
	h := newHelm(t)
	want := h.render(t, ``)
	maps.DeleteFunc(want, func(key string, _ *unstructured.Unstructured) bool {
		return !strings.HasPrefix(key, "CustomResourceDefinition/")
	})
	got := parse(t, h.must(t, "template", "definitions", crdsDir))
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 3 {
		t.Errorf("%d definitions, -spokeshave +spokeshave-crds\n%s", len(got), diff)
	}
	for key := range h.render(t, "crds: {install: false}") {
		if strings.HasPrefix(key, "CustomResourceDefinition/") {
			t.Errorf("%s is in both", key)
		}
	}
}

func TestDeployment(t *testing.T) {
	h := newHelm(t)
	d := get[appsv1.Deployment](t, h.render(t, ``), "Deployment/spokeshave")
	pod := d.Spec.Template.Spec
	if *d.Spec.Replicas != 2 || pod.PriorityClassName != "system-cluster-critical" || pod.ServiceAccountName != "spokeshave" {
		t.Errorf("got %d replicas, priority class %q, account %q", *d.Spec.Replicas, pod.PriorityClassName, pod.ServiceAccountName)
	}
	c := pod.Containers[0]
	want := &corev1.SecurityContext{
		RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), RunAsGroup: new(int64(65532)),
		ReadOnlyRootFilesystem: new(true), AllowPrivilegeEscalation: new(false),
		Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if diff := cmp.Diff(want, c.SecurityContext); diff != "" {
		t.Errorf("security context (-want +got):\n%s", diff)
	}
	if c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Errorf("probes: %v, %v", c.LivenessProbe.HTTPGet, c.ReadinessProbe.HTTPGet)
	}
	if c.Image != "registry.example/controller:0.1.0" {
		t.Errorf("image %s", c.Image)
	}
	term := pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0]
	if term.Key != "karpenter.sh/nodepool" || term.Operator != corev1.NodeSelectorOpDoesNotExist {
		t.Errorf("the controller may run on nodes that it manages: %v", term)
	}
	if len(pod.TopologySpreadConstraints) == 0 {
		t.Error("the replicas are not spread")
	}
	for _, s := range pod.TopologySpreadConstraints {
		if diff := cmp.Diff(d.Spec.Selector, s.LabelSelector); diff != "" {
			t.Errorf("spread over %s does not select the chart's pods (-pods +constraint):\n%s", s.TopologyKey, diff)
		}
	}
}

func TestDeploymentValues(t *testing.T) {
	h := newHelm(t)
	d := get[appsv1.Deployment](t, h.render(t, `
replicas: 1
podLabels: {a: b}
additionalLabels: {team: platform}
terminationGracePeriodSeconds: 0
controller:
  image: {repository: example.com/x, tag: v2, digest: "sha256:0000000000000000000000000000000000000000000000000000000000000000"}
  env: [{name: AWS_ACCESS_KEY_ID, value: x}]
  extraVolumeMounts: [{name: v, mountPath: /v}]
extraVolumes: [{name: v, emptyDir: {}}]
tolerations: [{key: system, operator: Exists}]
topologySpreadConstraints: [{maxSkew: 1, topologyKey: x, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {own: selector}}}]
`), "Deployment/spokeshave")
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	if len(c.Env) != 2 || len(c.VolumeMounts) != 1 || len(pod.Volumes) != 1 || len(pod.Tolerations) != 1 || len(pod.TopologySpreadConstraints) != 1 {
		t.Fatalf("lists do not arrive: %v", pod)
	}
	if c.Image != "example.com/x:v2@sha256:0000000000000000000000000000000000000000000000000000000000000000" {
		t.Errorf("image %s", c.Image)
	}
	if *d.Spec.Replicas != 1 || c.Env[1].Name != "AWS_ACCESS_KEY_ID" || c.VolumeMounts[0].Name != "v" || pod.Volumes[0].Name != "v" {
		t.Errorf("values do not arrive: %v", d.Spec)
	}
	if pod.Tolerations[0].Key != "system" || pod.TopologySpreadConstraints[0].LabelSelector.MatchLabels["own"] != "selector" {
		t.Errorf("scheduling values do not arrive: %v", pod)
	}
	labels := d.Spec.Template.Labels
	if labels["a"] != "b" || labels["team"] != "platform" || d.Spec.Selector.MatchLabels["team"] != "" {
		t.Errorf("pod labels %v, selector %v", labels, d.Spec.Selector.MatchLabels)
	}
}

// TestArgs: the settings reach the command line; what is not set is not passed.
func TestArgs(t *testing.T) {
	h := newHelm(t)
	digest := regexp.MustCompile("=[0-9a-f]{64}")
	always := []string{
		"--admission-policies=spokeshave-system-configmaps=DIGEST,spokeshave-system-nodeclaims=DIGEST,spokeshave-system-nodepools=DIGEST,spokeshave-system-pods=DIGEST", "--ami-refresh-interval=1m", "--batch-idle-duration=1s", "--batch-max-duration=10s", "--batch-rollout-duration=60s", "--breaker-percent=10", "--cluster-name=test", "--feature-gates=NodeRepair=false,ReservedCapacity=true,SpotToSpotConsolidation=false,StaticCapacity=false", "--health-probe-port=8081", "--interval=10s", "--journal-memory=32Mi",
		"--karpenter-lease-name=karpenter-leader-election", "--karpenter-lease-namespace=kube-system",
		"--kube-client-burst=300", "--kube-client-qps=200", "--leader-election-name=spokeshave-leader-election",
		"--local-port=8083", "--log-level=info", "--metrics-port=8080", "--min-values-policy=Strict", "--mode=Act", "--move-cost=0.0007", "--namespace=system",
		"--preference-policy=Respect", "--rego-memory=192Mi", "--reserved-enis=0", "--subnet-refresh-interval=1m", "--vm-memory-overhead-percent=0.075", "--wasm-memory=256Mi", "--workers=200",
	}
	tests := map[string]struct {
		values string
		want   []string
	}{
		"defaults": {``, always},
		"all": {`
controller: {mode: Observe, journalMemory: 64Mi, metrics: {port: 9090, secure: false}, healthProbe: {port: 9091}, local: {port: 9092}}
logLevel: debug
settings:
  clusterEndpoint: https://api.example.com
  batchIdleDuration: 2s
  batchMaxDuration: 1m30s
  batchRolloutDuration: 1m
  breakerPercent: 20
  interval: 30s
  workers: 50
  announcedPods: false
  preferencePolicy: Ignore
  minValuesPolicy: BestEffort
  moveCost: 0.00001
  awsRegion: us-gov-west-1
  awsEndpoint: http://ec2.example.com:4566
  kubeClientQPS: 20
  kubeClientBurst: 30
  karpenterLease: {namespace: karpenter, name: other}
policies: {required: [budget, quota], pluginNamespaces: [team-a, team-b], pluginScopes: {team-a: {nodePools: [team-a-*], hooks: [rank]}}, regoEvaluator: opa, regoMemory: 1Gi, wasmMemory: 512Mi}
`, []string{
			"--ami-refresh-interval=1m", "--announced-pods=false", "--aws-endpoint=http://ec2.example.com:4566", "--aws-region=us-gov-west-1", "--batch-idle-duration=2s", "--batch-max-duration=1m30s", "--batch-rollout-duration=1m", "--breaker-percent=20",
			"--cluster-endpoint=https://api.example.com", "--cluster-name=test", "--feature-gates=NodeRepair=false,ReservedCapacity=true,SpotToSpotConsolidation=false,StaticCapacity=false", "--health-probe-port=9091", "--interval=30s", "--journal-memory=64Mi",
			"--karpenter-lease-name=other", "--karpenter-lease-namespace=karpenter", "--kube-client-burst=30", "--kube-client-qps=20",
			"--leader-election-name=spokeshave-leader-election", "--local-port=9092", "--log-level=debug", "--metrics-port=9090", "--metrics-secure=false", "--min-values-policy=BestEffort", "--mode=Observe", "--move-cost=1e-05",
			"--namespace=system", "--policies-required=budget,quota", "--policy-plugin-namespaces=team-a,team-b", `--policy-plugin-scopes={"team-a":{"hooks":["rank"],"nodePools":["team-a-*"]}}`,
			"--preference-policy=Ignore", "--rego-evaluator=opa", "--rego-memory=1Gi", "--reserved-enis=0", "--subnet-refresh-interval=1m", "--vm-memory-overhead-percent=0.075", "--wasm-memory=512Mi", "--workers=50",
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := get[appsv1.Deployment](t, h.render(t, tc.values), "Deployment/spokeshave")
			got := slices.Sorted(slices.Values(d.Spec.Template.Spec.Containers[0].Args))
			for i := range got {
				got[i] = digest.ReplaceAllString(got[i], "=DIGEST") // checkDigests compares them
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	h := newHelm(t)
	objs := h.render(t, `
policies:
  defaults:
    cheapest: {mode: Shadow}
    keep-protected: {config: {protected: {tier: gold}}}
    budget: {enabled: true, config: {caps: {cluster: {hourly_usd: 0.5, soft: true}, "label/team=ml": {monthly_usd: 1000000}}}}
`)
	type manifest struct {
		APIVersion, Engine, Mode string
		Hooks                    []string
		Config                   map[string]any
	}
	const version = "policy.spokeshave.dev/v1alpha1"
	want := map[string]manifest{
		"cheapest":       {APIVersion: version, Engine: "rego", Mode: "Shadow", Hooks: []string{"rank"}},
		"keep-protected": {APIVersion: version, Engine: "rego", Mode: "Enforce", Hooks: []string{"consolidate"}, Config: map[string]any{"protected": map[string]any{"spokeshave.dev/protected": "true", "tier": "gold"}}},
		"budget": {APIVersion: version, Engine: "rego", Mode: "Enforce", Hooks: []string{"ceiling"}, Config: map[string]any{"caps": map[string]any{
			"cluster": map[string]any{"hourly_usd": 0.5, "soft": true}, "label/team=ml": map[string]any{"monthly_usd": 1e6},
		}, "teamLabel": "team", "teams": map[string]any{}}},
	}
	for name, w := range want {
		cm := get[corev1.ConfigMap](t, objs, "ConfigMap/"+name)
		if cm.Labels["spokeshave.dev/policy"] != "true" || cm.Namespace != "system" {
			t.Errorf("%s: the controller would not find it: labels %v, namespace %s", name, cm.Labels, cm.Namespace)
		}
		var got manifest
		if err := yaml.UnmarshalStrict([]byte(cm.Data["policy.yaml"]), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("%s: policy.yaml (-want +got):\n%s", name, diff)
		}
		sources, err := filepath.Glob("../../../policies/" + name + "/*.rego")
		if err != nil || len(sources) < 2 {
			t.Fatalf("%s: found sources %v: %v", name, sources, err)
		}
		for _, file := range sources {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(source), cm.Data[filepath.Base(file)]); diff != "" {
				t.Errorf("%s is not what is in policies/; run make generate (-source +chart):\n%s", filepath.Base(file), diff)
			}
		}
		if len(cm.Data) != len(sources)+1 {
			t.Errorf("%s: the ConfigMap has %d files, want %d", name, len(cm.Data), len(sources)+1)
		}
	}
}

func TestPackageSize(t *testing.T) {
	h := newHelm(t)
	dir := t.TempDir()
	h.must(t, "package", chartDir, "--destination", dir)
	files, err := filepath.Glob(filepath.Join(dir, "spokeshave-*.tgz"))
	if err != nil || len(files) != 1 {
		t.Fatalf("packaged %v: %v", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("packaged chart: %d bytes", info.Size())
	// Helm keeps a release in a Secret of at most 1 MiB.
	if info.Size() >= 500_000 {
		t.Errorf("the packaged chart has %d bytes, want fewer than 500,000", info.Size())
	}
}
