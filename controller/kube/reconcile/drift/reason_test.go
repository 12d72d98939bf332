package drift

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

func TestReason(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*karpv1.NodePool, *karpv1.NodeClaim, *model.Catalog)
		pool   string
		sold   string
	}{
		"same": {reason: "a node as it would be launched now has not drifted", change: func(*karpv1.NodePool, *karpv1.NodeClaim, *model.Catalog) {}},
		"template": {reason: "the hash covers the template", change: func(p *karpv1.NodePool, _ *karpv1.NodeClaim, _ *model.Catalog) {
			p.Spec.Template.Metadata.Labels["a"] = "2"
		}, pool: karpv1.DriftNodePool},
		"other version": {reason: "hashes of an older version are not compared", change: func(_ *karpv1.NodePool, c *karpv1.NodeClaim, _ *model.Catalog) {
			c.Annotations[karpv1.AnnotationNodePoolHash], c.Annotations[karpv1.AnnotationNodePoolHashVersion] = "1", "v2"
		}},
		"adopted": {reason: "a node of Karpenter's whose template was changed has drifted", change: func(_ *karpv1.NodePool, c *karpv1.NodeClaim, _ *model.Catalog) {
			c.Annotations[karpv1.AnnotationNodePoolHash], c.Annotations[karpv1.AnnotationNodePoolHashVersion] = "1", "v3"
		}, pool: karpv1.DriftNodePool},
		"narrowed": {reason: "the node's zone is not among the allowed ones any more", change: func(p *karpv1.NodePool, _ *karpv1.NodeClaim, _ *model.Catalog) {
			p.Spec.Template.Spec.Requirements[0].Values = []string{"b"}
		}, pool: karpv1.DriftRequirements},
		"new key": {reason: "nodes launched before the requirement lack the label", change: func(p *karpv1.NodePool, _ *karpv1.NodeClaim, _ *model.Catalog) {
			p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, karpv1.Requirement{Key: "team", Operator: corev1.NodeSelectorOpExists})
		}, pool: karpv1.DriftRequirements},
		"excluded key": {reason: "an absent label is in no list", change: func(p *karpv1.NodePool, _ *karpv1.NodeClaim, _ *model.Catalog) {
			p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, karpv1.Requirement{Key: "team", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"x"}})
		}},
		"type gone": {reason: "the type is not sold any more", change: func(_ *karpv1.NodePool, _ *karpv1.NodeClaim, c *model.Catalog) { c.Types[0].Name = "m6.large" }, sold: karpv1.DriftInstanceTypeNotFound},
		"not read": {reason: "EC2 has not said yet what it sells", change: func(_ *karpv1.NodePool, _ *karpv1.NodeClaim, c *model.Catalog) {
			c.Types[0].Name, c.Provisional = "m6.large", true
		}},
		"zone gone": {reason: "the type is not sold there any more", change: func(_ *karpv1.NodePool, _ *karpv1.NodeClaim, c *model.Catalog) { c.Types[0].Offerings[0].Zone = "c" }, sold: karpv1.DriftInstanceTypeNotFound},
		"sold out": {reason: "a shortage passes", change: func(_ *karpv1.NodePool, _ *karpv1.NodeClaim, c *model.Catalog) {
			c.Types[0].Offerings[0].Available = false
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pool := &karpv1.NodePool{Spec: karpv1.NodePoolSpec{Template: karpv1.NodeClaimTemplate{
				Metadata: karpv1.TemplateMeta{Labels: map[string]string{"a": "1"}},
				Spec:     karpv1.NodeClaimTemplateSpec{Requirements: []karpv1.Requirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}}}},
			}}}
			hash, err := pool.Hash()
			if err != nil {
				t.Fatal(err)
			}
			claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
				Labels:      map[string]string{corev1.LabelTopologyZone: "a", corev1.LabelInstanceTypeStable: "m5.large", karpv1.LabelCapacityType: "spot"},
				Annotations: map[string]string{karpv1.AnnotationNodePoolHash: hash, karpv1.AnnotationNodePoolHashVersion: karpv1.NodePoolHashVersion},
			}}
			sold := instancetype.Catalog(instancetype.Of("m5.large", nil, instancetype.Spot("a", 0)))
			catalog := &sold
			tc.change(pool, claim, catalog)
			if got, err := fromPool(claim, pool); err != nil || got != tc.pool {
				t.Errorf("%s: from the pool %q (%v), want %q", tc.reason, got, err, tc.pool)
			}
			if got := fromCatalog(claim, catalog); got != tc.sold {
				t.Errorf("%s: from the catalogue %q, want %q", tc.reason, got, tc.sold)
			}
		})
	}
}

// TestLasting: a type that is missing from the catalogue for less than an hour, as after
// a failed start or without prices, replaces no node.
func TestLasting(t *testing.T) {
	const gone = karpv1.DriftInstanceTypeNotFound
	at := clocktesting.NewFakeClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	r := &Reconciler{Clock: at}
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
	for i, tc := range []struct {
		why    string
		after  time.Duration
		reason string
		want   string
	}{
		{"just now", 0, gone, ""},
		{"for 59 minutes", 59 * time.Minute, gone, ""},
		{"back again", time.Second, "", ""},
		{"gone again: the hour starts anew", 30 * time.Minute, gone, ""},
		{"for an hour", time.Hour, gone, gone},
	} {
		at.Step(tc.after)
		if got := r.lasting(claim, tc.reason); got != tc.want {
			t.Errorf("%d, %s: %q, want %q", i, tc.why, got, tc.want)
		}
	}
	claim = &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{UID: "b"}}
	claim.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: gone}}
	if got := r.lasting(claim, gone); got != gone {
		t.Errorf("a node that has drifted has not after a restart: %q", got)
	}
}
