package garbage

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

func TestSettled(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	claim := func(change func(*karpv1.NodeClaim)) karpv1.NodeClaim {
		c := karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a", CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))}}
		c.Spec.NodeClassRef = karpv1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}
		c.Status.ProviderID = "aws:///us-west-2a/i-1"
		c.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionInitialized, Status: metav1.ConditionTrue}}
		if change != nil {
			change(&c)
		}
		return c
	}
	node := func(ready corev1.ConditionStatus) corev1.Node {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{ProviderID: "aws:///us-west-2a/i-1"}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
		return n
	}
	cases := map[string]struct {
		reason string
		claim  karpv1.NodeClaim
		nodes  []corev1.Node
		want   bool
	}{
		"up":              {"nothing can be missing", claim(nil), []corev1.Node{node(corev1.ConditionTrue)}, true},
		"not ready":       {"its instance may have been ended", claim(nil), []corev1.Node{node(corev1.ConditionUnknown)}, false},
		"no node":         {"its node was deleted, or never joined", claim(nil), nil, false},
		"not initialized": {"the launch is not over", claim(func(c *karpv1.NodeClaim) { c.Status.Conditions = nil }), []corev1.Node{node(corev1.ConditionTrue)}, false},
		"young":           {"EC2 may not show its instance yet", claim(func(c *karpv1.NodeClaim) { c.CreationTimestamp = metav1.NewTime(now.Add(-time.Minute)) }), []corev1.Node{node(corev1.ConditionTrue)}, false},
		"going":           {"its instance is about to end", claim(func(c *karpv1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: now} }), []corev1.Node{node(corev1.ConditionTrue)}, false},
		"of others":       {"another controller's claims are nobody's business here", claim(func(c *karpv1.NodeClaim) { c.Spec.NodeClassRef.Group = "eks.amazonaws.com" }), nil, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := settled([]karpv1.NodeClaim{tc.claim}, tc.nodes, now); got != tc.want {
				t.Errorf("%s: settled is %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestPace(t *testing.T) {
	const rest = time.Minute
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		reason string
		last   time.Duration // since began
		now    time.Duration
		want   bool
	}{
		"begin":     {"what an earlier process left behind is found soon", 10 * time.Second, 20 * time.Second, true},
		"at rest":   {"nothing happens", 10 * time.Minute, 10*time.Minute + 10*time.Second, false},
		"rested":    {"a pass is made all the same", 10 * time.Minute, 11 * time.Minute, true},
		"never yet": {"no pass was made", 0, 10 * time.Minute, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := pace{began: began}
			if tc.last > 0 {
				p.last = began.Add(tc.last)
			}
			if got := p.due(began.Add(tc.now), rest); got != tc.want {
				t.Errorf("%s: due is %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
