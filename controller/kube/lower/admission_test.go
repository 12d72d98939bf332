package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"

	"spokeshave.dev/controller/core/model"
)

// TestAdmission: templates of DaemonSets, and pods in files, get what the API server
// adds to new pods; pods of a live cluster have it already.
func TestAdmission(t *testing.T) {
	type pair struct{ daemon, pod model.Resources }
	cases := map[string]struct {
		reason string
		live   bool
		ranges string
		spec   string
		want   pair
	}{
		"nothing": {
			"without a LimitRange nothing is added", false, `{}`, `{containers: [{name: a}]}`,
			pair{model.Resources{"pods": 1}, model.Resources{"pods": 1}},
		},
		"default request": {
			"a container without a request gets it, init containers included", false,
			`{limits: [{type: Container, defaultRequest: {cpu: 100m}}]}`, `{containers: [{name: a}, {name: b, resources: {requests: {cpu: 1}}}]}`,
			pair{model.Resources{"cpu": 1100, "pods": 1}, model.Resources{"cpu": 1100, "pods": 1}},
		},
		"live": {
			"pods of a cluster have been admitted", true,
			`{limits: [{type: Container, defaultRequest: {cpu: 100m}}]}`, `{containers: [{name: a}]}`,
			pair{model.Resources{"cpu": 100, "pods": 1}, model.Resources{"pods": 1}},
		},
		"default limit": {
			"a default limit is a request where there is no other", false,
			`{limits: [{type: Container, default: {cpu: 300m, memory: 1Mi}, defaultRequest: {cpu: 100m}}]}`, `{containers: [{name: a}]}`,
			pair{model.Resources{"cpu": 100, "memory": mi, "pods": 1}, model.Resources{"cpu": 100, "memory": mi, "pods": 1}},
		},
		"own limit": {
			"the container's own limit comes first", false,
			`{limits: [{type: Container, defaultRequest: {cpu: 100m}}]}`, `{containers: [{name: a, resources: {limits: {cpu: 2}}}]}`,
			pair{model.Resources{"cpu": 2000, "pods": 1}, model.Resources{"cpu": 2000, "pods": 1}},
		},
		"min and max": {
			"max stands in for the limit, and so for the request", false,
			`{limits: [{type: Container, min: {cpu: 50m, memory: 1Mi}, max: {cpu: 400m}}, {type: Pod, max: {cpu: 5}}]}`, `{containers: [{name: a}]}`,
			pair{model.Resources{"cpu": 400, "memory": mi, "pods": 1}, model.Resources{"cpu": 400, "memory": mi, "pods": 1}},
		},
		"runtime class": {
			"its overhead is on top", false, `{}`, `{runtimeClassName: vm, containers: [{name: a}]}`,
			pair{model.Resources{"cpu": 250, "pods": 1}, model.Resources{"cpu": 250, "pods": 1}},
		},
		"known overhead": {
			"once", false, `{}`, `{runtimeClassName: vm, overhead: {cpu: 200m}, containers: [{name: a}]}`,
			pair{model.Resources{"cpu": 200, "pods": 1}, model.Resources{"cpu": 200, "pods": 1}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			limits := parse[corev1.LimitRange](t, `{metadata: {name: l, namespace: shop}, spec: `+tc.ranges+`}`)
			ds := parse[appsv1.DaemonSet](t, `{metadata: {name: d, namespace: shop}, spec: {template: {spec: `+tc.spec+`}}}`)
			pod := parse[corev1.Pod](t, `{metadata: {name: p, namespace: shop}, spec: `+tc.spec+`,
				status: {conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}}`)
			before := pod.DeepCopy()
			s, _ := Build(Inputs{
				Live: tc.live, Pods: []*corev1.Pod{pod}, DaemonSets: []*appsv1.DaemonSet{ds}, LimitRanges: []*corev1.LimitRange{limits},
				RuntimeClasses: []*nodev1.RuntimeClass{parse[nodev1.RuntimeClass](t, `{metadata: {name: vm}, handler: vm, overhead: {podFixed: {cpu: 250m}},
					scheduling: {nodeSelector: {vm: "yes"}, tolerations: [{key: vm, operator: Exists}]}}`)},
			})
			if diff := cmp.Diff(tc.want, pair{s.Daemons[0].Spec.Requests, s.Specs[0].Requests}, cmp.AllowUnexported(pair{})); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
			if pod.Spec.RuntimeClassName != nil && (s.Specs[0].NodeSelector["vm"] != "yes" || len(s.Specs[0].Tolerations) != 1) {
				t.Errorf("the class's selector and tolerations are missing: %+v", s.Specs[0])
			}
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Errorf("the pod is changed:\n%s", diff)
			}
		})
	}
}

// TestNodesByName: a node selected by name is the one with its host name.
func TestNodesByName(t *testing.T) {
	s, _ := Build(Inputs{
		Nodes: []*corev1.Node{parse[corev1.Node](t, `{metadata: {name: i-1.internal, labels: {kubernetes.io/hostname: i-1}}}`)},
		Pods: []*corev1.Pod{parse[corev1.Pod](t, `{metadata: {name: p, namespace: shop}, spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:
			{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [i-1.internal]}]}, {matchFields: [{key: metadata.name, operator: In, values: [gone]}]}]}}}}}`)},
	})
	want := []model.Term{
		{{Key: "kubernetes.io/hostname", Operator: model.In, Values: []string{"i-1"}}},
		{{Key: "kubernetes.io/hostname", Operator: model.In, Values: []string{"gone"}}},
	}
	if diff := cmp.Diff(want, s.Specs[0].Affinity); diff != "" {
		t.Error(diff)
	}
}
