package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/model"
)

// around is a builder over three namespaces, one of which has pods and no
// object.
func around(t *testing.T, pods ...*corev1.Pod) *builder {
	t.Helper()
	in := Inputs{
		Namespaces: []*corev1.Namespace{
			parse[corev1.Namespace](t, `{metadata: {name: shop, labels: {tier: front, kubernetes.io/metadata.name: shop}}}`),
			parse[corev1.Namespace](t, `{metadata: {name: bank, labels: {tier: back}}}`),
		},
		Pods: append(pods, parse[corev1.Pod](t, `{metadata: {name: x, namespace: lost}}`)),
	}
	return &builder{in: &in, lowerer: podLowerer{namespaces: newNamespaces(&in), droppedLabels: unselectedLabels(in.Pods, nil)}}
}

func in(key string, values ...string) model.Requirement {
	return model.Requirement{Key: key, Operator: model.In, Values: values}
}

func TestTopology(t *testing.T) {
	own := []string{"shop"}
	app := model.PodSelector{Namespaces: own, Labels: []model.Requirement{in("app", "web")}}
	cases := map[string]struct {
		reason string
		spec   string
		want   model.PodSpec
	}{
		"spread": {
			"what a manifest leaves out is defaulted as the API server does",
			`{topologySpreadConstraints: [{maxSkew: 2, topologyKey: failure-domain.beta.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]}`,
			model.PodSpec{Spread: []model.Spread{{Key: "topology.kubernetes.io/zone", MaxSkew: 2, MinDomains: 1, Selector: app}}},
		},
		"spread in full": {
			"every field counts",
			`{topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: ScheduleAnyway, minDomains: 3, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor,
			  labelSelector: {matchLabels: {b: "1", a: "2"}, matchExpressions: [{key: c, operator: NotIn, values: [x]}, {key: d, operator: Exists}]}}]}`,
			model.PodSpec{Spread: []model.Spread{{
				Key: "rack", MaxSkew: 1, MinDomains: 3, Soft: true, IgnoreAffinity: true, HonorTaints: true,
				Selector: model.PodSelector{Namespaces: own, Labels: []model.Requirement{
					in("a", "2"), in("b", "1"), {Key: "c", Operator: model.NotIn, Values: []string{"x"}}, {Key: "d", Operator: model.Exists},
				}},
			}}},
		},
		"spread over nothing": {
			"an absent selector counts no pod, whatever the keys to match",
			`{topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [app]}]}`,
			model.PodSpec{Spread: []model.Spread{{Key: "rack", MaxSkew: 1, MinDomains: 1, Selector: model.PodSelector{Namespaces: own, Nothing: true}}}},
		},
		"spread over everything": {
			"an empty selector counts all pods of the namespace",
			`{topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}`,
			model.PodSpec{Spread: []model.Spread{{Key: "rack", MaxSkew: 1, MinDomains: 1, Selector: model.PodSelector{Namespaces: own}}}},
		},
		"spread by revision": {
			"the pod's own value is matched; keys that it lacks are passed over",
			`{topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {}, matchLabelKeys: [app, none]}]}`,
			model.PodSpec{Spread: []model.Spread{{Key: "rack", MaxSkew: 1, MinDomains: 1, Selector: app}}},
		},
		"merged already": {
			"the API server has written the match into the selector",
			`{topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}, matchLabelKeys: [app]}]}`,
			model.PodSpec{Spread: []model.Spread{{Key: "rack", MaxSkew: 1, MinDomains: 1, Selector: app}}},
		},
		"volumes": {
			"where volumes are does not restrict where others are counted",
			`{volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}`,
			model.PodSpec{
				Affinity: []model.Term{{in("zone", "a")}}, Pinned: true,
				Spread: []model.Spread{{Key: "rack", MaxSkew: 1, MinDomains: 1, Selector: model.PodSelector{Namespaces: own}}},
			},
		},
		"volumes and affinity": {
			"what the pod requires itself does",
			`{volumes: [{name: v, persistentVolumeClaim: {claimName: c}}], affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: rack, operator: In, values: [r]}]}]}}},
			  topologySpreadConstraints: [{maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]}`,
			model.PodSpec{
				Affinity: []model.Term{{in("rack", "r"), in("zone", "a")}}, Pinned: true, OwnAffinity: []model.Term{{in("rack", "r")}},
				Spread: []model.Spread{{Key: "rack", MaxSkew: 1, MinDomains: 1, Selector: model.PodSelector{Namespaces: own}}},
			},
		},
		"affinity": {
			"required and preferred, for and against; the pod's own namespace unless it says more",
			`{affinity: {
			  podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, labelSelector: {matchLabels: {app: web}}}], preferredDuringSchedulingIgnoredDuringExecution: [{weight: 7, podAffinityTerm: {topologyKey: "y"}}]},
			  podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {}}], preferredDuringSchedulingIgnoredDuringExecution: [{weight: 9, podAffinityTerm: {topologyKey: x, labelSelector: {matchLabels: {app: web}}}}]}}}`,
			model.PodSpec{
				PodAffinity:     []model.PodTerm{{Key: "z", Selector: app}},
				PreferredPods:   []model.WeightedPodTerm{{Weight: 7, Term: model.PodTerm{Key: "y", Selector: model.PodSelector{Nothing: true, Namespaces: own}}}},
				PodAntiAffinity: []model.PodTerm{{Key: "kubernetes.io/hostname", Selector: model.PodSelector{Namespaces: own}}},
				PreferredApart:  []model.WeightedPodTerm{{Weight: 9, Term: model.PodTerm{Key: "x", Selector: app}}},
			},
		},
		"keys": {
			"match and mismatch become requirements",
			`{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, labelSelector: {}, matchLabelKeys: [app], mismatchLabelKeys: [tenant, none]}]}}}`,
			model.PodSpec{PodAntiAffinity: []model.PodTerm{{Key: "z", Selector: model.PodSelector{Namespaces: own, Labels: []model.Requirement{
				in("app", "web"), {Key: "tenant", Operator: model.NotIn, Values: []string{"t1"}},
			}}}}},
		},
		"namespaces": {
			"named ones, sorted, once",
			`{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, namespaces: [c, a, c]}]}}}`,
			model.PodSpec{PodAffinity: []model.PodTerm{{Key: "z", Selector: model.PodSelector{Nothing: true, Namespaces: []string{"a", "c"}}}}},
		},
		"every namespace": {
			"an empty namespace selector selects all, also those known from pods only",
			`{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, namespaceSelector: {}}]}}}`,
			model.PodSpec{PodAffinity: []model.PodTerm{{Key: "z", Selector: model.PodSelector{Nothing: true, Namespaces: []string{"bank", "lost", "shop"}}}}},
		},
		"selected namespaces": {
			"by label, besides named ones",
			`{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, namespaces: [shop, x], namespaceSelector: {matchLabels: {tier: front}}}]}}}`,
			model.PodSpec{PodAffinity: []model.PodTerm{{Key: "z", Selector: model.PodSelector{Nothing: true, Namespaces: []string{"shop", "x"}}}}},
		},
		"namespace by its name": {
			"every namespace has the label of its name, also in files",
			`{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [bank]}]}}]}}}`,
			model.PodSpec{PodAffinity: []model.PodTerm{{Key: "z", Selector: model.PodSelector{Nothing: true, Namespaces: []string{"bank"}}}}},
		},
		"no such namespace": {
			"a selector that selects none counts nothing, not the pod's own",
			`{affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, namespaceSelector: {matchLabels: {tier: none}}}]}}}`,
			model.PodSpec{PodAffinity: []model.PodTerm{{Key: "z", Selector: model.PodSelector{Nothing: true, Namespaces: []string{}}}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pod := parse[corev1.Pod](t, `{metadata: {name: web-1, namespace: shop, labels: {app: web, tenant: t1}}}`)
			pod.Spec = *parse[corev1.PodSpec](t, tc.spec)
			b := around(t, pod)
			b.in.VolumeClaims = []*corev1.PersistentVolumeClaim{parse[corev1.PersistentVolumeClaim](t, `{metadata: {name: c, namespace: shop}, spec: {volumeName: pv}}`)}
			b.in.Volumes = []*corev1.PersistentVolume{parse[corev1.PersistentVolume](t, `{metadata: {name: pv}, spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}}}`)}
			b.lowerer.volumes = newVolumes(b.in)
			tc.want.Namespace, tc.want.Labels, tc.want.Requests = "shop", pod.Labels, model.Resources{"pods": 1}
			if diff := cmp.Diff(tc.want, b.lowerer.podSpec(pod)); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDroppedLabels: labels that number pods are left out unless a constraint of
// any pod selects by them.
func TestDroppedLabels(t *testing.T) {
	pods := func(constraint string) Inputs {
		out := Inputs{Pods: []*corev1.Pod{parse[corev1.Pod](t, `{metadata: {name: z, namespace: shop}, spec: {`+constraint+`}}`)}}
		for _, n := range []string{"0", "1", "2"} {
			pod := parse[corev1.Pod](t, `{metadata: {namespace: shop}}`)
			pod.Name = "db-" + n
			pod.Labels = map[string]string{"app": "db", "statefulset.kubernetes.io/pod-name": "db-" + n, "apps.kubernetes.io/pod-index": n}
			out.Pods = append(out.Pods, pod)
		}
		return out
	}
	cases := map[string]struct {
		reason     string
		constraint string
		specs      int
		want       map[string]string
	}{
		"unselected": {
			"a selector by another label leaves them out",
			`topologySpreadConstraints: [{labelSelector: {matchLabels: {app: db}}}]`, 2,
			map[string]string{"app": "db"},
		},
		"selected": {
			"only the label that is selected by stays",
			`affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{podAffinityTerm: {labelSelector: {matchExpressions: [{key: apps.kubernetes.io/pod-index, operator: Exists}]}}}]}}`,
			4,
			map[string]string{"app": "db", "apps.kubernetes.io/pod-index": "0"},
		},
		"matched": {
			"keys to mismatch select, too",
			`affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{mismatchLabelKeys: [statefulset.kubernetes.io/pod-name]}]}}`,
			4,
			map[string]string{"app": "db", "statefulset.kubernetes.io/pod-name": "db-0"},
		},
	}
	cache := &SpecCache{}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := pods(tc.constraint)
			in.SpecCache = cache // what other circumstances left there must not matter
			s, _ := Build(in)
			if len(s.Specs) != tc.specs {
				t.Errorf("%s: %d specs, want %d", tc.reason, len(s.Specs), tc.specs)
			}
			if diff := cmp.Diff(tc.want, s.Specs[s.Pods[0].Spec].Labels); diff != "" {
				t.Errorf("%s:\n%s", tc.reason, diff)
			}
		})
	}
}
