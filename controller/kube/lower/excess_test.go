package lower

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

func podWith(name string, change func(*corev1.PodSpec)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": name}}}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{}}
	change(&pod.Spec)
	return pod
}

// TestExcess: the API server lets a pod have any number of terms and volumes. One with more than anybody
// needs waits with a reason, and costs the decision nothing; the most that it may have is planned.
func TestExcess(t *testing.T) {
	volumes := func(n int) func(*corev1.PodSpec) {
		return func(spec *corev1.PodSpec) {
			for i := range n {
				spec.Volumes = append(spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", i), VolumeSource: corev1.VolumeSource{
					Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}},
				}})
			}
		}
	}
	apart := func(n int) func(*corev1.PodSpec) {
		return func(spec *corev1.PodSpec) {
			spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = make([]corev1.PodAffinityTerm, n)
		}
	}
	spread := func(n int) func(*corev1.PodSpec) {
		return func(spec *corev1.PodSpec) {
			spec.TopologySpreadConstraints = make([]corev1.TopologySpreadConstraint, n)
		}
	}
	nodes := func(n int) func(*corev1.PodSpec) {
		return func(spec *corev1.PodSpec) {
			spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = make([]corev1.PreferredSchedulingTerm, n)
		}
	}
	for name, tc := range map[string]struct {
		change func(*corev1.PodSpec)
		want   string // "" for a pod that is planned
	}{
		"as many terms as it may have":         {apart(mostPodTerms), ""},
		"terms":                                {apart(20_000), "20000 terms of affinity to pods"},
		"as many constraints as it may have":   {spread(mostPodTerms), ""},
		"constraints":                          {spread(mostPodTerms + 1), "251 terms of affinity to pods and topology spread constraints, of which a pod may have 250"},
		"as many preferences as it may have":   {nodes(mostTerms), ""},
		"preferences":                          {nodes(mostTerms + 1), "1001 terms of node affinity"},
		"volumes":                              {volumes(50_000), "50000 volumes"},
		"many volumes, of which none is known": {volumes(mostVolumes), ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := PodSpec(podWith("a", tc.change))
			got := strings.Join(spec.Unsupported, ", ")
			if tc.want == "" && strings.Contains(got, "may have") || !strings.Contains(got, tc.want) {
				t.Errorf("unsupported are %.200q, want %q", got, tc.want)
			}
			if tc.want != "" && len(spec.PodAntiAffinity)+len(spec.Spread)+len(spec.Preferred) > 0 {
				t.Error("its terms are looked at")
			}
			bound := podWith("b", tc.change)
			bound.Spec.NodeName = "n"
			eachClaim(bound, func(claim string) { t.Errorf("claim %s of an ephemeral volume is shared", claim) })
		})
	}
}

// TestSelectedNamespaces: terms with equal selectors share one list of namespaces. The pods of one namespace
// may have so many different ones that others are not kept waiting; beyond that they wait, alone.
func TestSelectedNamespaces(t *testing.T) {
	const all = 2000
	in := Inputs{Time: noon, NodePools: []*karpv1.NodePool{parse[karpv1.NodePool](t, poolYAML)}, Catalogs: map[string]model.Catalog{"default": testCatalog()}}
	for i := range all {
		in.Namespaces = append(in.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("ns-", i)}})
	}
	without := func(i int) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: []string{fmt.Sprint("ns-", i)}},
		}}
	}
	pod := func(namespace, name string, terms int, selector func(int) *metav1.LabelSelector) {
		p := podWith(name, func(spec *corev1.PodSpec) {
			for i := range terms {
				spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
					corev1.PodAffinityTerm{TopologyKey: "z", Namespaces: []string{"x"}, NamespaceSelector: selector(i)})
			}
		})
		p.Namespace, p.Status.Conditions = namespace, []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		in.Pods = append(in.Pods, p)
	}
	pod("ns-0", "same", 200, func(int) *metav1.LabelSelector { return without(0) })
	pod("ns-0", "first", 100, without)
	pod("ns-0", "second", 100, func(i int) *metav1.LabelSelector { return without(100 + i) })
	pod("ns-1", "other", 100, func(i int) *metav1.LabelSelector { return without(200 + i) })
	s, _ := Build(in)
	got := map[string]string{}
	listed := map[*string]int{}
	for i := range s.Pods {
		spec := &s.Specs[s.Pods[i].Spec]
		got[s.Pods[i].Name] = strings.Join(spec.Unsupported, ", ")
		for _, term := range spec.PodAntiAffinity {
			listed[&term.Selector.Namespaces[0]] = len(term.Selector.Namespaces)
		}
	}
	if len(got) != 4 || got["same"] != "" || got["first"] != "" || got["other"] != "" {
		t.Errorf("of those that may be planned, unsupported are %v", got)
	}
	if !strings.Contains(got["second"], "namespaces that are selected in too many ways") {
		t.Errorf("beyond what a namespace may list: %q", got["second"])
	}
	sum := 0
	for _, n := range listed {
		sum += n
	}
	if sum > 2*(mostListed+all) {
		t.Errorf("%d names are listed for two namespaces, of which each may list %d", sum, mostListed)
	}
}

// TestManyReplicas: a static pool may ask for any number of nodes. One decision is about as many as it can launch.
func TestManyReplicas(t *testing.T) {
	pool := parse[karpv1.NodePool](t, poolYAML)
	pool.Spec.Replicas = new(int64(1) << 40)
	s, _ := Build(Inputs{
		Time: noon, NodePools: []*karpv1.NodePool{pool}, Catalogs: map[string]model.Catalog{"default": testCatalog()}, Settings: model.Settings{StaticCapacity: true},
	})
	if len(s.Pods) != mostNewReplicas {
		t.Errorf("%d placeholders, want %d", len(s.Pods), mostNewReplicas)
	}
}
