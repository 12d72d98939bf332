package lifecycle

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/condition"
)

func (w *launchingCluster) launched(t *testing.T, name string) *karpv1.NodeClaim {
	t.Helper()
	var c *karpv1.NodeClaim
	w.eventually(t, "launch of "+name, func() bool {
		c = w.getClaim(t, name)
		return c != nil && c.Status.ProviderID != ""
	})
	return c
}

func (w *launchingCluster) end(t *testing.T, name string) {
	t.Helper()
	if err := w.client.Delete(t.Context(), w.getClaim(t, name)); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, "end of "+name, func() bool { return w.getClaim(t, name) == nil && w.living(name) == 0 })
}

// TestLifecycle: from NodeClaim to node. TestTermination is the rest of the way; each has an
// API server of its own, since both wait most of the time.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	w := start(t)
	t.Run("a node from claim to end", func(t *testing.T) { whole(t, w) })
	t.Run("a claim that spells its spec in another way", func(t *testing.T) { spelled(t, w) })
	t.Run("adapters count where they are requested", func(t *testing.T) { adapters(t, w) })
	t.Run("a node is counted once", func(t *testing.T) { counted(t, w) })
	t.Run("a startup taint lifted early stays off", func(t *testing.T) { lifted(t, w) })
	t.Run("a lost answer starts no second instance", func(t *testing.T) { lostAnswer(t, w) })
	t.Run("a failed look-up of the instance type costs no label", func(t *testing.T) { lostLabels(t, w) })
	t.Run("a refusal after a lost answer starts no second instance", func(t *testing.T) { lostThenRefused(t, w) })
	t.Run("a sold-out claim makes way for a new plan", func(t *testing.T) { soldOut(t, w) })
	t.Run("a refused launch is tried again and says why", func(t *testing.T) { refused(t, w) })
	t.Run("a claim whose quota is used up makes way for a new plan", func(t *testing.T) { overQuota(t, w) })
	t.Run("a claim that cannot be launched is given up", func(t *testing.T) { launchTimeout(t, w) })
	t.Run("a claim that cannot be annotated is given up", func(t *testing.T) { fullTimeout(t, w) })
	t.Run("a claim whose node does not join is given up", func(t *testing.T) { registrationTimeout(t, w) })
	t.Run("another controller's objects are left alone", func(t *testing.T) { foreign(t, w) })
	t.Run("a claim without options says so", func(t *testing.T) { noOptions(t, w) })
	t.Run("what is announced of instances", func(t *testing.T) { announced(t, w) })
	t.Run("a node without the taint it should join with", func(t *testing.T) { untainted(t, w) })
	t.Run("a node with less than its claim promised", func(t *testing.T) { inconsistent(t, w) })
	t.Run("conditions that others write end and launch nothing", func(t *testing.T) { forgedSteps(t, w) })
	t.Run("a claim that others call launched is launched", func(t *testing.T) { forgedLaunch(t, w) })
}

// TestTermination: what ends a node, and how its pods leave.
func TestTermination(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector, TestLifecycle runs the same reconcilers")
	}
	t.Parallel()
	w := start(t)
	t.Run("a deleted node takes its claim and instance along", func(t *testing.T) { nodeDeleted(t, w) })
	t.Run("a broken instance is not drained", func(t *testing.T) { broken(t, w) })
	t.Run("a capacity block near its end", func(t *testing.T) { blockEnds(t, w) })
	t.Run("a node that does not answer is replaced", func(t *testing.T) { repaired(t, w) })
	t.Run("nothing is replaced when many nodes are broken", func(t *testing.T) { breaker(t, w) })
	t.Run("an old node is ended whatever protects its pods", func(t *testing.T) { expired(t, w) })
	t.Run("an interruption ends a drain that a budget blocks", func(t *testing.T) { blocked(t, w) })
	t.Run("a refused eviction is tried again", func(t *testing.T) { refusedEviction(t, w) })
	t.Run("a drain takes five seconds at least", func(t *testing.T) { lateBindings(t, w) })
	t.Run("pods leave in order", func(t *testing.T) { inOrder(t, w) })
	t.Run("a pod of several budgets keeps no other", func(t *testing.T) { severalBudgets(t, w) })
	t.Run("a pod that is not ready leaves if its budget says so", func(t *testing.T) { unhealthy(t, w) })
	t.Run("volumes of pods that left are waited for", func(t *testing.T) { volumes(t, w) })
	t.Run("volumes are not waited for longer than the grace period", func(t *testing.T) { overdue(t, w) })
	t.Run("pods hear until when they are held", func(t *testing.T) { held(t, w) })
	t.Run("a hundred interruptions at once", func(t *testing.T) { interruptions(t, w) })
	t.Run("an instance that others call terminating is terminated", func(t *testing.T) { forgedEnd(t, w) })
	t.Run("a leaked instance is ended", func(t *testing.T) { leaked(t, w) })
}

// spelled: a claim that Karpenter or a person wrote gets its finalizer, and is released.
// Its spec, which is immutable, stays as it is written.
func spelled(t *testing.T, w *launchingCluster) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.claimFor(t, "spelled", option("m5.large")))
	if err != nil {
		t.Fatal(err)
	}
	claim := &unstructured.Unstructured{Object: fields}
	claim.SetGroupVersionKind(karpv1.GroupVersion.WithKind("NodeClaim"))
	for field, value := range map[string]any{"resources": map[string]any{}, "terminationGracePeriod": "24h", "expireAfter": "30m0s"} {
		if err := unstructured.SetNestedField(claim.Object, value, "spec", field); err != nil {
			t.Fatal(err)
		}
	}
	w.create(t, claim)
	w.launched(t, "spelled")
	w.end(t, "spelled")
}

// adapters: a NodeClaim counts adapters only if it requests some. The others are launched without, and
// a node that never shows what its claim counts would not be initialized.
func adapters(t *testing.T, w *launchingCluster) {
	for name, requested := range map[string]bool{"with-adapters": true, "without-adapters": false} {
		in := w.claimFor(t, name, option("c5n.18xlarge"))
		if requested {
			in.Spec.Resources.Requests = karpv1.ResourceList{provider.ResourceEFA: resource.MustParse("1")}
		}
		w.create(t, in)
		c := w.launched(t, name)
		w.eventually(t, "the size of "+name, func() bool {
			c = w.getClaim(t, name)
			return len(c.Status.Capacity) > 0 && len(c.Status.Allocatable) > 0
		})
		for which, amounts := range map[string]karpv1.ResourceList{"capacity": c.Status.Capacity, "allocatable": c.Status.Allocatable} {
			if n, counted := amounts[provider.ResourceEFA]; counted != requested || requested && n.Value() != 1 {
				t.Errorf("%s: %s has %s adapters (%t), want them: %t", name, which, n.String(), counted, requested)
			}
		}
		w.end(t, name)
	}
}

func whole(t *testing.T, w *launchingCluster) {
	w.claim(t, "whole", option("m5.large"))
	c := w.launched(t, "whole")
	if c.Labels[corev1.LabelInstanceTypeStable] != "m5.large" || c.Labels["example.com/from-type"] != "yes" || c.Labels[corev1.LabelTopologyZone] != "zone-a" {
		t.Errorf("labels of the launched claim: %v", c.Labels)
	}
	if c.Annotations[karpv1.AnnotationAttempt] == "" {
		t.Error("the attempt is not written down")
	}
	w.join(t, "node-whole", c.Status.ProviderID)
	w.eventually(t, "registration", func() bool {
		return condition.IsTrue(w.getClaim(t, "whole").Status.Conditions, karpv1.ConditionRegistered)
	})
	n := w.getNode(t, "node-whole")
	w.eventually(t, "the cache to show the node", func() bool {
		n = w.getNode(t, "node-whole")
		return n.Labels[karpv1.LabelRegistered] == "true"
	})
	if n.Labels["example.com/fixed"] != "one" || n.Labels[karpv1.LabelNodePool] != "general" || n.Labels[karpv1.LabelCapacityType] != "on-demand" {
		t.Errorf("labels of the registered node: %v", n.Labels)
	}
	for _, taint := range n.Spec.Taints {
		if taint.Key == karpv1.TaintKeyUnregistered {
			t.Error("the unregistered taint is still there")
		}
	}
	if condition.IsTrue(w.getClaim(t, "whole").Status.Conditions, karpv1.ConditionInitialized) {
		t.Error("initialized in spite of the startup taint")
	}
	w.lift(t, "node-whole")
	w.eventually(t, "initialization", func() bool {
		c := w.getClaim(t, "whole")
		return condition.IsTrue(c.Status.Conditions, karpv1.ConditionInitialized) && condition.IsTrue(c.Status.Conditions, karpv1.ConditionReady)
	})
	w.end(t, "whole")
	if w.getNode(t, "node-whole") != nil {
		t.Error("the node outlived its claim")
	}
}

// counted: a registration that has to be written twice makes one node.
func counted(t *testing.T, w *launchingCluster) {
	before := w.sum(t, "karpenter_nodes_created_total")
	w.claim(t, "counted", option("m5.large"))
	w.registered(t, "counted")
	if _, late := w.faults.late.Load(w.getClaim(t, "counted").UID); !late {
		t.Error("the first status was not refused")
	}
	counted := func() float64 { return w.sum(t, "karpenter_nodes_created_total") - before }
	w.eventually(t, "the node to be counted", func() bool { return counted() > 0 })
	w.end(t, "counted")
	if n := counted(); n != 1 {
		t.Errorf("%v nodes are counted", n)
	}
}

// lifted: what lifts a startup taint may do so before the node is ready, and does
// it once.
func lifted(t *testing.T, w *launchingCluster) {
	w.claim(t, "lifted", option("m5.large"))
	w.joinUnready(t, "node-lifted", w.launched(t, "lifted").Status.ProviderID)
	w.eventually(t, "the node to be adopted", func() bool {
		n := w.getNode(t, "node-lifted")
		return n != nil && controllerutil.ContainsFinalizer(n, karpv1.FinalizerTermination)
	})
	w.lift(t, "node-lifted")
	w.ready(t, "node-lifted")
	w.initialized(t, "lifted")
	w.end(t, "lifted")
}

// sum adds up what a counter has for all its series that carry the label values given.
func (w *launchingCluster) sum(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := 0.0
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.GetMetric() {
				values := make([]string, 0, len(m.GetLabel()))
				for _, l := range m.GetLabel() {
					values = append(values, l.GetValue())
				}
				if !slices.ContainsFunc(labels, func(want string) bool { return !slices.Contains(values, want) }) {
					out += m.GetCounter().GetValue()
				}
			}
		}
	}
	return out
}

func lostAnswer(t *testing.T, w *launchingCluster) {
	w.cloud.Lose(sim.CallLaunch)
	before := len(w.cloud.Machines())
	w.claim(t, "lost", option("m5.large"))
	w.launched(t, "lost")
	if n := len(w.cloud.Machines()) - before; n != 1 {
		t.Errorf("%d instances were started for one claim", n)
	}
	w.end(t, "lost")
}

// lostLabels: the catalogue cannot be read when the instance has been launched. The claim says all the
// same what it is and what was paid, since prices and caps follow from that.
func lostLabels(t *testing.T, w *launchingCluster) {
	w.cloud.Fail(sim.CallCatalog, &provider.Error{Kind: provider.Unavailable, Code: "Unavailable", Err: errors.New("not now")})
	before := len(w.cloud.Machines())
	w.claim(t, "unlabelled", option("m5.large"))
	c := w.launched(t, "unlabelled")
	if n := len(w.cloud.Machines()) - before; n != 1 {
		t.Errorf("%d instances were started for one claim", n)
	}
	for label, want := range map[string]string{
		karpv1.LabelCapacityType: string(model.OnDemand), corev1.LabelInstanceTypeStable: "m5.large", corev1.LabelTopologyZone: "zone-a", "example.com/from-type": "yes",
	} {
		if got := c.Labels[label]; got != want {
			t.Errorf("label %s of the claim is %q, want %q", label, got, want)
		}
	}
	if !strings.Contains(c.Annotations[karpv1.AnnotationBought], `"extra":30000`) || c.Status.Allocatable == nil {
		t.Errorf("the claim does not say at what price it was launched, or what it has: %v", c.Annotations)
	}
	w.end(t, "unlabelled")
}

// The answer to a launch gets lost, and EC2 refuses the repetition before it
// looks at the token: whether the first one started an instance is not known, so
// that the same request must go on.
func lostThenRefused(t *testing.T, w *launchingCluster) {
	w.cloud.Lose(sim.CallLaunch)
	w.cloud.Fail(sim.CallLaunch, &provider.Error{Kind: provider.Unauthorized, Code: "UnauthorizedOperation", Err: errors.New("not now")})
	before := len(w.cloud.Machines())
	w.claim(t, "lost-refused", option("m5.large"))
	w.launched(t, "lost-refused")
	if n := len(w.cloud.Machines()) - before; n != 1 {
		t.Errorf("%d instances were started for one claim", n)
	}
	w.end(t, "lost-refused")
}

func soldOut(t *testing.T, w *launchingCluster) {
	w.cloud.SellOut(option("m5.large"), option("c5.large"))
	w.claim(t, "sold-out", option("m5.large"), option("c5.large"))
	w.eventually(t, "the catalogue to learn what is sold out", func() bool {
		c, err := w.cloud.Catalog(t.Context(), "default")
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(c.Types, func(x model.InstanceType) bool { return !x.Offerings[0].Available })
	})
	w.eventually(t, "the claim to go", func() bool { return w.getClaim(t, "sold-out") == nil })
	w.cloud.Restock(option("m5.large"), option("c5.large"))
}

// refused: a refusal that a person has to mend is tried again, with a new attempt.
func refused(t *testing.T, w *launchingCluster) {
	w.cloud.Fail(sim.CallLaunch, denied())
	w.claim(t, "refused", option("m5.large"))
	w.eventually(t, "the condition", func() bool {
		c := w.getClaim(t, "refused")
		return c != nil && slices.ContainsFunc(c.Status.Conditions, func(x metav1.Condition) bool {
			return x.Type == karpv1.ConditionLaunched && x.Status == metav1.ConditionUnknown && x.Reason == "LaunchFailed"
		})
	})
	first := w.getClaim(t, "refused").Annotations[karpv1.AnnotationAttempt]
	w.launched(t, "refused")
	if w.getClaim(t, "refused").Annotations[karpv1.AnnotationAttempt] == first {
		t.Error("a definitive failure did not open a new attempt")
	}
	w.end(t, "refused")
}

func noOptions(t *testing.T, w *launchingCluster) {
	w.claim(t, "no-options")
	w.eventually(t, "the condition", func() bool {
		c := w.getClaim(t, "no-options")
		return c != nil && slices.ContainsFunc(c.Status.Conditions, func(x metav1.Condition) bool {
			return x.Type == karpv1.ConditionLaunched && x.Status == metav1.ConditionUnknown && x.Message != ""
		})
	})
	w.end(t, "no-options")
}

func nodeDeleted(t *testing.T, w *launchingCluster) {
	w.claim(t, "by-node", option("m5.large"))
	c := w.launched(t, "by-node")
	w.join(t, "node-by-node", c.Status.ProviderID)
	w.eventually(t, "registration", func() bool {
		return condition.IsTrue(w.getClaim(t, "by-node").Status.Conditions, karpv1.ConditionRegistered)
	})
	w.eventually(t, "the deletion", func() bool { // the API server may answer that the node changes just now
		return w.client.Delete(t.Context(), w.getNode(t, "node-by-node")) == nil
	})
	w.eventually(t, "everything to go", func() bool {
		return w.getNode(t, "node-by-node") == nil && w.getClaim(t, "by-node") == nil && w.living("by-node") == 0
	})
}

func leaked(t *testing.T, w *launchingCluster) {
	attempt, err := w.cloud.Prepare(t.Context(), provider.LaunchSpec{Claim: "nobody", NodePool: "general", NodeClass: "default", Options: []model.Option{option("c5.large")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.cloud.Launch(t.Context(), attempt); err != nil {
		t.Fatal(err)
	}
	w.eventually(t, "collection", func() bool {
		if err := w.collector.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		return w.living("nobody") == 0
	})
}
