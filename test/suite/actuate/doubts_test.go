package actuate

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/test/kit/instancetype"
)

// TestRelabelledNode: a node on the API server that calls itself a t4g.nano on spot
// costs what the m6g.2xlarge costs that it is, and has one event in an hour that says so.
func TestRelabelledNode(t *testing.T) {
	c := connect(t)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "liar", Labels: map[string]string{
			corev1.LabelInstanceTypeStable: "m6g.2xlarge", corev1.LabelTopologyZone: "a", karpv1.LabelCapacityType: "on-demand", karpv1.LabelNodePool: "general",
		}},
		Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-1"},
	}
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "liar"}}
	claim.Labels = node.Labels
	claim.Status.ProviderID, claim.Status.NodeName = node.Spec.ProviderID, node.Name
	for _, kind := range []string{karpv1.ConditionLaunched, karpv1.ConditionRegistered, karpv1.ConditionInitialized} {
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue})
	}
	if err := c.Create(t.Context(), node.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	catalog := instancetype.Catalog(
		instancetype.Of("m6g.2xlarge", model.Resources{"cpu": 8000}, instancetype.OnDemand("a", 308_000)),
		instancetype.Of("t4g.nano", model.Resources{"cpu": 2000}, instancetype.Spot("a", 1_600)))
	rate := func(listed bool) (spend.Scope, []lower.Warning) {
		t.Helper()
		now := &corev1.Node{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(node), now); err != nil {
			t.Fatal(err)
		}
		s, warnings := lower.Build(lower.Inputs{
			Time: time.Now(), Nodes: []*corev1.Node{now}, NodeClaims: []*karpv1.NodeClaim{claim}, Catalogs: map[string]model.Catalog{"default": catalog},
			Cloud: one{listed},
		})
		return spend.Scopes(&s)[0], warnings
	}
	if scope, warnings := rate(false); scope.Running != 308_000 || len(warnings) > 0 {
		t.Fatalf("an honest node costs %d, warnings %v", scope.Running, warnings)
	}

	lies := node.DeepCopy()
	lies.Labels = map[string]string{corev1.LabelInstanceTypeStable: "t4g.nano", karpv1.LabelCapacityType: "spot"}
	if err := c.Update(t.Context(), lies); err != nil {
		t.Fatal(err)
	}
	told := events.NewFakeRecorder(10)
	a := &actuate.Reporter{Client: c, Unmerged: told}
	for _, listed := range []bool{false, true} {
		scope, warnings := rate(listed)
		if scope.Running != 308_000 {
			t.Errorf("listed %v: a relabelled node costs %d, want 308000", listed, scope.Running)
		}
		a.TellWarnings(t.Context(), time.Now(), warnings)
	}
	if len(told.Events) != 1 {
		t.Fatalf("%d events, want one", len(told.Events))
	}
	if text := <-told.Events; !strings.Contains(text, "NodeIdentityMismatch") || !strings.Contains(text, `instance-type is m6g.2xlarge, and the label says "t4g.nano"`) {
		t.Errorf("event %q", text)
	}
}

// one is a cloud whose only instance is what every provider ID names, once it is listed.
type one struct{ listed bool }

func (o one) Get(string) (provider.Instance, bool) {
	return provider.Instance{InstanceType: "m6g.2xlarge", Zone: "a", CapacityType: model.OnDemand}, o.listed
}

func (o one) Of(string) (provider.Instance, bool) { return provider.Instance{}, false }

func (o one) Unclaimed() []provider.Instance { return nil }
