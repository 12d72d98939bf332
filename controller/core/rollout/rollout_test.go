package rollout_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/rollout"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/test/kit/burst"
)

// pool allows every amd64 type of the categories c, m and r.
const pool = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec: {amiSelectorTerms: [{alias: al2023@latest}]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`

// begun are the first n Deployments of a mix of a thousand pods.
func begun(t *testing.T, kind string, seed uint64, n int) []*appsv1.Deployment {
	t.Helper()
	all, err := burst.Deployments(kind, 1000, seed)
	if err != nil {
		t.Fatal(err)
	}
	return all[:n]
}

// snapshot returns a cluster in which all pods of the Deployments wait for a rollout.
func snapshot(t *testing.T, all []*appsv1.Deployment) *model.Snapshot {
	t.Helper()
	manifests := bytes.NewBufferString(pool)
	for _, d := range all {
		raw, err := yaml.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(manifests, "---\n%s", raw)
	}
	file := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(file, manifests.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := scenario.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := objects.Snapshot(scenario.Options{Time: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Pods {
		s.Pods[i].Held = &model.Reason{Code: model.WaitsForRollout}
	}
	return &s
}

func TestAsk(t *testing.T) {
	apart := func(all []*appsv1.Deployment) []*appsv1.Deployment {
		for _, d := range all {
			d.Spec.Template.Labels["apart"] = "true"
			d.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"apart": "true"}}},
			}}}
		}
		return all
	}
	cases := map[string]struct {
		reason string
		all    []*appsv1.Deployment
		want   rollout.Answer
	}{
		"one workload":     {"which says nothing about others", begun(t, "web", 1, 1), rollout.Answer{Gains: true}},
		"services":         {"pods of several share nodes", begun(t, "web", 1, 8), rollout.Answer{Gains: true, Compared: 8}},
		"spread":           {"both are spread over the same four zones", slices.DeleteFunc(begun(t, "web", 1, 6), func(d *appsv1.Deployment) bool { return d.Spec.Template.Spec.TopologySpreadConstraints == nil }), rollout.Answer{Gains: true, Compared: 2}},
		"apart":            {"each pod takes a node of its own, whoever waits", apart(begun(t, "web", 1, 8)), rollout.Answer{Compared: 8}},
		"mostly apart":     {"nodes are as many as those pods that keep each other away", begun(t, "diverse", 1, 160), rollout.Answer{Compared: 160}},
		"nobody":           {"nothing waits", nil, rollout.Answer{}},
		"all of the burst": {"whole nodes are full, and the last ones still shared", begun(t, "web", 2, 40), rollout.Answer{Gains: true, Compared: 40}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := rollout.Ask(snapshot(t, tc.all)); got != tc.want {
				t.Errorf("%s: %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

// zones are those of the first catalogue, sorted.
func zones(s *model.Snapshot) []string {
	known := map[string]bool{}
	for i := range s.Catalogs[0].Types {
		for _, o := range s.Catalogs[0].Types[i].Offerings {
			known[o.Zone] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// TestRoom: room on nodes that exist, which each part of the pods could take for itself, hides no
// gain, and pods that all have room wait for nobody.
func TestRoom(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		percent int64 // of what all pods request
		want    rollout.Answer
	}{
		"some": {"each part has room, and the whole has not", 70, rollout.Answer{Gains: true, Compared: 8}},
		"all":  {"no node is needed, and nothing is compared", 200, rollout.Answer{}},
	} {
		s, wanted := snapshot(t, begun(t, "web", 1, 8)), int64(0)
		for i := range s.Pods {
			wanted += s.Specs[s.Pods[i].Spec].Requests["cpu"]
		}
		in := zones(s)
		for _, zone := range in {
			s.Nodes = append(s.Nodes, model.Node{
				Name: "node-" + zone, Pool: 0, State: model.Initialized, InstanceType: "m7i.48xlarge", Zone: zone, CapacityType: model.OnDemand,
				Labels:      map[string]string{"topology.kubernetes.io/zone": zone},
				Allocatable: model.Resources{"cpu": wanted * tc.percent / 100 / int64(len(in)), "memory": 700 << 30, "pods": 700},
			})
		}
		if got := rollout.Ask(s); got != tc.want {
			t.Errorf("%s: %s: %+v", name, tc.reason, got)
		}
	}
}

// TestOthers: pods that do not wait, or wait for something else, are no part of the question.
func TestOthers(t *testing.T) {
	for name, held := range map[string]*model.Reason{"do not wait": nil, "are held back": {Code: model.HeldBack}} {
		s := snapshot(t, begun(t, "web", 1, 8))
		for i := range s.Pods {
			s.Pods[i].Held = held
		}
		if got := rollout.Ask(s); got != (rollout.Answer{}) {
			t.Errorf("%+v although all pods %s", got, name)
		}
	}
}
