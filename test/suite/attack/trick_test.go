package attack

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/user"
)

// trickAttacks are pods that pretend to be what they are not, or that nobody can use.
func trickAttacks() map[string]attack {
	const cap20 = "the cap of 0.20 $/h, at every moment"
	const served, others = "they wait with a reason, and pods of others get their nodes", "launches of others, and the loop"
	over := func(trick func(*pod)) func(*testing.T) {
		return func(t *testing.T) { overrun(t, 12, greedyCap, both(apart, trick)) }
	}
	beside := func(trick func(*pod)) func(*testing.T) {
		return func(t *testing.T) {
			greed(t, 3, trick)
			serve(t)
		}
	}
	return map[string]attack{
		"tenant/forged-owner": {
			story: "pods name a DaemonSet as their owner, which no namespace would pay for", want: "their namespace pays", keeps: cap20, launches: true, run: forgedOwner,
		},
		"tenant/labels": {
			story: "pods have the labels and annotations of Spokeshave and Karpenter, with prices of nothing", want: "they count like any others", keeps: cap20, launches: true,
			run: over(func(p *pod) {
				p.Labels[karpv1.LabelNodePool], p.Labels[karpv1.LabelPolicy] = "shop", "true"
				p.Annotations = map[string]string{
					karpv1.AnnotationReservedUSD: "0", karpv1.AnnotationLaunch: "[]", karpv1.AnnotationSuspendedUntil: "2099-01-01T00:00:00Z",
				}
			}),
		},
		"tenant/tolerates-everything": {
			story: "pods tolerate every taint, those of nodes reserved for others and of others' NodePools included", want: "others get their nodes, and keep them",
			keeps: cap20, launches: true, run: over(func(p *pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} }),
		},
		"tenant/policy-of-its-own": {
			story: "a tenant labels a ConfigMap of its own namespace as a policy that permits everything", want: "nobody reads it", keeps: cap20, launches: true,
			run: func(t *testing.T) {
				greed(t, 12, apart)
				installIn(t, "greedy", "permits", "hooks: [ceiling]\n", ceilingOn("namespace/greedy", 1000))
				capHolds(t, greedyCap)
				if got, err := stack.PolicyStatus(t.Context(), "permits"); err != nil || got != "" {
					t.Errorf("the policy of a tenant was judged: %s, %v", got, err)
				}
			},
		},
		"tenant/impossible-pod": {
			story: "pods request a million cores", want: served, keeps: others, launches: true,
			run: beside(requests(corev1.ResourceList{"cpu": resource.MustParse("1M"), "memory": resource.MustParse("1Pi")})),
		},
		"tenant/amounts-that-overflow": {
			story: "pods request as much as can be written of several resources, so that sums overflow", want: served, keeps: others, launches: true,
			run: beside(requests(corev1.ResourceList{
				"cpu": resource.MustParse("9223372036854775807"), "memory": resource.MustParse("9223372036854775807"), "ephemeral-storage": resource.MustParse("8Ei"),
				"example.com/dongle": resource.MustParse("9223372036854775807"),
			})),
		},
		"tenant/contradictory-affinity": {
			story: "pods want to be beside themselves and away from themselves, where nothing is", want: served, keeps: others, launches: true,
			run: beside(func(p *pod) {
				apart(p)
				p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
					TopologyKey: corev1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "nowhere"}},
				}}}
				p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "mars-1a"}
			}),
		},
		"tenant/volume-of-nobody": {
			story: "pods need volumes of claims that do not exist", want: served, keeps: others, launches: true,
			run: beside(func(p *pod) {
				p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "nobody's"}}}}
			}),
		},
		"tenant/large-annotations": {
			story: "a hundred pods have annotations of 200 KB each, in keys that Spokeshave reads", want: "the controller does not keep them", keeps: "the controller's memory",
			launches: true, run: largeAnnotations,
		},
		"tenant/another-scheduler": {
			story: "pods name a scheduler that does not exist, so that they wait for ever", want: "nothing is launched for them", keeps: "instances",
			run: func(t *testing.T) {
				greed(t, 3, func(p *pod) { p.Spec.SchedulerName = "mine" })
				holds(t, "no node", func(ctx context.Context) (string, bool) {
					left, err := general(ctx)
					return fmt.Sprint(left, err), err == nil && len(left) == 0
				})
			},
		},
		"tenant/binds-itself": {
			story: "a pod names the node of others as its own, past the scheduler", want: "its namespace pays its share there", keeps: "pods of others on that node",
			run: func(t *testing.T) { bindsItself(t) },
		},
		"tenant/owned-by-its-node": {
			story: "a pod names the node of others as its own, past the scheduler, and as its owner, like a static pod", want: "its namespace pays its share there", keeps: "pods of others on that node",
			run: func(t *testing.T) {
				node := &corev1.Node{}
				if err := stack.Client.Get(t.Context(), client.ObjectKey{Name: victim(t).Node}, node); err != nil {
					t.Fatal(err)
				}
				bindsItself(t, metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID, Controller: new(true)})
			},
		},
	}
}

func forgedOwner(t *testing.T) {
	empty(t)
	tenancy(t)
	for i := range 12 {
		one := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "greedy", Name: fmt.Sprintf("agent-%02d", i), Labels: map[string]string{"app": "greedy"},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "kube-proxy", UID: "00000000-0000-0000-0000-000000000001", Controller: new(true)}},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/greedy"}}},
		}
		// The garbage collector of Kubernetes deletes what names an owner that is not there;
		// an owner of another API group stays unknown to it.
		one.OwnerReferences[0].APIVersion = "apps.example.com/v1"
		spec := pod{Spec: one.Spec}
		apart(&spec)
		one.Spec = spec.Spec
		user.Create(t, stack.Client, one)
	}
	capHolds(t, greedyCap)
}

func largeAnnotations(t *testing.T) {
	tenancy(t)
	serve(t)
	before := settledMemory(t)
	large := strings.Repeat("x", 200<<10)
	for i := range 100 {
		user.Create(t, stack.Client, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "greedy", Name: fmt.Sprintf("large-%03d", i), Annotations: map[string]string{karpv1.AnnotationDoNotDisrupt: large}},
			Spec: corev1.PodSpec{
				SchedulerName: "mine", Containers: []corev1.Container{{Name: "main", Image: "example.com/greedy"}},
			},
		})
	}
	serve(t)
	if grew(t, before) > 2*grown { // it reads them, some at a time
		t.Error("the controller grew by more than that by 20 MB of annotations")
	}
	if kept := resident(t) - before; kept > grown {
		t.Errorf("the controller keeps %.1f MB of 20 MB of annotations", kept/1e6)
	}
}

// bindsItself makes a pod on the node of others, with the owners.
func bindsItself(t *testing.T, owners ...metav1.OwnerReference) {
	t.Helper()
	node := victim(t).Node
	tenancy(t)
	user.Create(t, stack.Client, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "greedy", Name: "guest", OwnerReferences: owners},
		Spec: corev1.PodSpec{
			NodeName: node, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, TerminationGracePeriodSeconds: new(int64(0)),
			Containers: []corev1.Container{{Name: "main", Image: "example.com/greedy", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}}}},
		},
	})
	until(t, "the guest to be charged", func(ctx context.Context) (string, bool) {
		usd, err := metric(ctx, "spokeshave_spend_workload_rate_usd", `namespace="greedy"`)
		return fmt.Sprint(usd, err), usd > 0
	})
}
