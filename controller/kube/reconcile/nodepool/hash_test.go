package nodepool_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/nodepool"
	"spokeshave.dev/test/kit/apiserver"
)

// newPool is a NodePool that refers to the class "default" of a kind.
func newPool(name, group, kind string) *karpv1.NodePool {
	pool := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pool.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: group, Kind: kind, Name: "default"}
	pool.Spec.Template.Spec.Requirements = []karpv1.Requirement{}
	return pool
}

// TestRestamp: claims that carry a hash of another version get the current one,
// except for those that have drifted, which keep their hash and so stay drifted. A
// claim with a hash of the current version keeps it, so that a change made while no
// controller ran is noticed.
func TestRestamp(t *testing.T) {
	c := apiserver.Start(t).Client(t)
	pool := newPool("adopted", awsv1.Group, awsv1.Kind)
	pool.Annotations = map[string]string{karpv1.AnnotationNodePoolHash: "1", karpv1.AnnotationNodePoolHashVersion: "v2"}
	if err := c.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	hash, err := pool.Hash()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		reason  string
		version string
		drifted bool
		want    string
	}{
		"old":     {"the hash cannot be compared", "v2", false, hash},
		"drifted": {"what has drifted stays drifted", "v2", true, "1"},
		"current": {"the hash can be compared", karpv1.NodePoolHashVersion, false, "1"},
	}
	for name, tc := range tests {
		claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{karpv1.LabelNodePool: pool.Name},
			Annotations: map[string]string{karpv1.AnnotationNodePoolHash: "1", karpv1.AnnotationNodePoolHashVersion: tc.version},
		}}
		claim.Spec.NodeClassRef, claim.Spec.Requirements = pool.Spec.Template.Spec.NodeClassRef, []karpv1.Requirement{}
		if err := c.Create(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		if !tc.drifted {
			continue
		}
		meta.SetStatusCondition(&claim.Status.Conditions, metav1.Condition{Type: karpv1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: "NodePoolDrifted"})
		if err := c.Status().Update(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := (&nodepool.Reconciler{Client: c, Clock: clock.RealClock{}}).Reconcile(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	for name, tc := range tests {
		var claim karpv1.NodeClaim
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, &claim); err != nil {
			t.Fatal(err)
		}
		if h, v := claim.Annotations[karpv1.AnnotationNodePoolHash], claim.Annotations[karpv1.AnnotationNodePoolHashVersion]; h != tc.want || v != karpv1.NodePoolHashVersion {
			t.Errorf("%s (%s): hash %s of version %s, want %s of %s", name, tc.reason, h, v, tc.want, karpv1.NodePoolHashVersion)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
		t.Fatal(err)
	}
	if pool.Annotations[karpv1.AnnotationNodePoolHash] != hash || pool.Annotations[karpv1.AnnotationNodePoolHashVersion] != karpv1.NodePoolHashVersion {
		t.Errorf("the pool has annotations %v, want hash %s", pool.Annotations, hash)
	}
}
