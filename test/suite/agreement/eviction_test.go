package agreement

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/reconcile/termination"
	"spokeshave.dev/test/kit/apiserver"
)

// guarded is a pod, the disruption budgets that there are, and what is written in
// their status, which nobody counts here.
type guarded struct {
	reason  string
	pod     func(*corev1.Pod)
	budgets []policyv1.PodDisruptionBudget
	// stays says that a drain leaves the pod where it is: the node may go whatever
	// the API says. stricter says that the node is kept although the API would let
	// the pod go.
	stays, stricter bool
}

func budget(allowed, healthy, desired int32, change ...func(*policyv1.PodDisruptionBudget)) policyv1.PodDisruptionBudget {
	one := intstr.FromInt32(1)
	b := policyv1.PodDisruptionBudget{
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "guarded"}}},
		Status: policyv1.PodDisruptionBudgetStatus{
			DisruptionsAllowed: allowed, CurrentHealthy: healthy, DesiredHealthy: desired, ExpectedPods: max(healthy, desired),
			ObservedGeneration: 1,
		},
	}
	for _, each := range change {
		each(&b)
	}
	return b
}

func always(b *policyv1.PodDisruptionBudget) {
	p := policyv1.AlwaysAllow
	b.Spec.UnhealthyPodEvictionPolicy = &p
}

func selects(s *metav1.LabelSelector) func(*policyv1.PodDisruptionBudget) {
	return func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = s }
}

func ownedBy(kind string) func(*corev1.Pod) {
	yes := true
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: "owner", UID: "1", Controller: &yes}}
	}
}

func guards() map[string]guarded {
	ready, unready := func(*corev1.Pod) {}, func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
	one := func(b policyv1.PodDisruptionBudget) []policyv1.PodDisruptionBudget {
		return []policyv1.PodDisruptionBudget{b}
	}
	return map[string]guarded{
		"free":              {reason: "nobody guards it", pod: ready},
		"room":              {reason: "one may go", pod: ready, budgets: one(budget(1, 2, 1))},
		"no room":           {reason: "none may go", pod: ready, budgets: one(budget(0, 1, 1))},
		"unready, enough":   {reason: "the count does not need it", pod: unready, budgets: one(budget(0, 1, 1))},
		"unready, needed":   {reason: "there are too few without it", pod: unready, budgets: one(budget(0, 0, 1))},
		"unready, always":   {reason: "AlwaysAllow asks nobody", pod: unready, budgets: one(budget(0, 0, 1, always))},
		"ready, always":     {reason: "AlwaysAllow is for pods that are not ready", pod: ready, budgets: one(budget(0, 1, 1, always))},
		"unready, none":     {reason: "a budget that desires none", pod: unready, budgets: one(budget(0, 0, 0))},
		"two":               {reason: "the API takes one budget at most, whatever they allow", pod: ready, budgets: []policyv1.PodDisruptionBudget{budget(1, 2, 1), budget(1, 2, 1)}},
		"two, unready":      {reason: "also of a pod that is not ready", pod: unready, budgets: []policyv1.PodDisruptionBudget{budget(1, 2, 1, always), budget(1, 2, 1, always)}},
		"uncounted":         {reason: "nobody has looked at the budget since it changed", pod: ready, budgets: one(budget(1, 2, 1, func(b *policyv1.PodDisruptionBudget) { b.Status.ObservedGeneration = 0 }))},
		"uncounted, always": {reason: "AlwaysAllow needs no count", pod: unready, budgets: one(budget(1, 2, 1, always, func(b *policyv1.PodDisruptionBudget) { b.Status.ObservedGeneration = 0 }))},
		"empty selector":    {reason: "it selects all pods of the namespace", pod: ready, budgets: one(budget(0, 1, 1, selects(&metav1.LabelSelector{})))},
		"no selector":       {reason: "it selects none", pod: ready, budgets: one(budget(0, 1, 1, selects(nil)))},
		"others": {reason: "it selects other pods", pod: ready, budgets: one(budget(0, 1, 1, selects(&metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"guarded"}}},
		})))},
		"daemon": {reason: "a drain evicts pods of DaemonSets as well, and would never end", pod: ownedBy("DaemonSet"), budgets: one(budget(0, 1, 1))},
		"static": {reason: "nobody evicts a static pod", pod: ownedBy("Node"), budgets: one(budget(0, 1, 1)), stays: true},
		"tolerant": {reason: "it stays to the node's end", pod: func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}, budgets: one(budget(0, 1, 1)), stays: true},
		"starting": {reason: "the API ignores budgets for pods that have not started", pod: func(p *corev1.Pod) {
			p.Status.Phase, p.Status.Conditions = corev1.PodPending, nil
		}, budgets: one(budget(0, 1, 1)), stricter: true},
	}
}

// TestEvictionAgrees: a node is kept by the disruption budgets of its pods exactly
// when the Eviction API of a real API server would refuse one of them.
func TestEvictionAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	server := apiserver.Start(t)
	server.Config.Wrap(termination.WithoutRetryAfter)
	c := server.Client(t)
	for name, tc := range guards() {
		t.Run(name, func(t *testing.T) {
			namespace := strings.NewReplacer(" ", "-", ",", "").Replace("guard-" + name)
			create(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "guarded", Labels: map[string]string{"app": "guarded"}},
				Spec:       corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "main", Image: "example.com/app:1"}}},
				Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
			}
			tc.pod(pod)
			status := pod.Status
			create(t, c, pod)
			pod.Status = status
			if err := c.Status().Update(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			var budgets []*policyv1.PodDisruptionBudget
			for i := range tc.budgets {
				b := tc.budgets[i].DeepCopy()
				b.Namespace, b.Name = namespace, string(rune('a'+i))
				create(t, c, b)
				b.Status = tc.budgets[i].Status
				if err := c.Status().Update(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				budgets = append(budgets, b)
			}
			err := c.SubResource("eviction").Create(t.Context(), pod, &policyv1.Eviction{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pod.Name}, DeleteOptions: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}},
			})
			if err != nil && !apierrors.IsTooManyRequests(err) && !apierrors.IsInternalError(err) {
				t.Fatal(err)
			}
			want := (err != nil || tc.stricter) && !tc.stays
			if tc.stricter && err != nil {
				t.Errorf("the API is as strict: %v", err)
			}
			if why := kept(t, pod, budgets); (why != "") != want {
				t.Errorf("%s: the node is kept by %q, and the API says %v", tc.reason, why, err)
			}
		})
	}
}

func create(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// kept is what a node with the pod is kept by.
func kept(t *testing.T, pod *corev1.Pod, budgets []*policyv1.PodDisruptionBudget) string {
	t.Helper()
	now := time.Now()
	old := metav1.NewTime(now.Add(-time.Hour))
	labels := map[string]string{karpv1.LabelNodePool: "general"}
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: types.UID("c"), Labels: labels, CreationTimestamp: old}}
	for _, kind := range []string{karpv1.ConditionLaunched, karpv1.ConditionRegistered, karpv1.ConditionInitialized} {
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, LastTransitionTime: old})
	}
	claim.Status.NodeName = "n"
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: labels, CreationTimestamp: old}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	s, _ := lower.Build(lower.Inputs{
		Time: now, NodePools: []*karpv1.NodePool{{ObjectMeta: metav1.ObjectMeta{Name: "general"}}},
		NodeClaims: []*karpv1.NodeClaim{claim}, Nodes: []*corev1.Node{node}, Pods: []*corev1.Pod{pod}, PodBudgets: budgets,
	})
	_, block, ok := disrupt.NewSurvey(&s, nil).Candidate(0)
	if !ok {
		t.Fatal("the node is no candidate")
	}
	if block == nil {
		return ""
	}
	return block.Reason
}
