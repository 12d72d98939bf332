package lifecycle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
)

// foreign: claims of another controller, here of EKS Auto Mode, which uses the same API,
// are not written, and its nodes are not drained.
func foreign(t *testing.T, w *launchingCluster) {
	theirs := w.claimFor(t, "theirs", option("m5.large"))
	theirs.Spec.NodeClassRef = karpv1.NodeClassReference{Group: "eks.amazonaws.com", Kind: "NodeClass", Name: "default"}
	w.create(t, theirs)
	theirs.Status.ProviderID = "aws:///zone-a/i-theirs"
	condition.True(&theirs.Status.Conditions, theirs.Generation, karpv1.ConditionLaunched)
	if err := w.client.Status().Update(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	node := func(name string, labels map[string]string) {
		w.create(t, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Finalizers: []string{karpv1.FinalizerTermination}},
			Spec:       corev1.NodeSpec{ProviderID: "aws:///zone-a/i-" + name},
		})
		w.eventually(t, "the cache to show "+name, func() bool { return w.getNode(t, name) != nil })
		if err := w.client.Delete(t.Context(), w.getNode(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	node("their-node", map[string]string{karpv1.LabelNodePool: "auto"})
	// Ours come later. Once they are done, theirs would be.
	node("our-node", map[string]string{karpv1.LabelNodePool: "general", awsv1.LabelEC2NodeClass: "default"})
	w.eventually(t, "our node to go", func() bool { return w.getNode(t, "our-node") == nil })
	w.claim(t, "ours", option("m5.large"))
	w.registered(t, "ours")
	w.end(t, "ours")
	w.clock.Advance(time.Minute)
	if err := w.collector.Collect(t.Context()); err != nil { // their instance is not on our list
		t.Fatal(err)
	}
	if n := w.getNode(t, "their-node"); n == nil || len(n.Spec.Taints) > 1 {
		t.Error("the other controller's node was drained")
	}
	if c := w.getClaim(t, "theirs"); c == nil || len(c.Finalizers) > 0 || len(c.Status.Conditions) > 1 || w.living("theirs") > 0 {
		t.Errorf("the other controller's claim was handled: %+v", c)
	}
}
