package lower

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

func TestPrice(t *testing.T) {
	sells := func(price model.Price) model.Catalog {
		return instancetype.Catalog(instancetype.Of("m.1", nil, instancetype.OnDemand("a", price), instancetype.OnDemand("b", 2*price)))
	}
	launched := metav1.Condition{Type: karpv1.ConditionLaunched, Status: metav1.ConditionTrue}
	denied := metav1.Condition{Type: karpv1.ConditionLaunched, Status: metav1.ConditionFalse, Reason: "Lie"}
	ending := metav1.Condition{Type: karpv1.ConditionInstanceTerminating, Status: metav1.ConditionTrue}
	deleted := metav1.NewTime(time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC))
	for name, tc := range map[string]struct {
		reason          string
		catalogs        map[string]model.Catalog
		attempt         string
		options         string // "" for two that can be read
		deleted         *metav1.Time
		conditions      []metav1.Condition
		price, reserved model.Price
	}{
		"sold": {
			reason:   "what the class asks for it now",
			catalogs: map[string]model.Catalog{"default": sells(50), "other": sells(60)}, conditions: []metav1.Condition{launched}, price: 50,
		},
		"elsewhere": {
			reason:   "a class that is not ready makes nothing free",
			catalogs: map[string]model.Catalog{"other": sells(60)}, conditions: []metav1.Condition{launched}, price: 60,
		},
		"as launched": {
			reason:     "nobody sells it any more: what it was launched at",
			conditions: []metav1.Condition{launched}, price: 70_000,
		},
		"rising": {
			reason:   "in flight counts the worst of now, not of the decision",
			catalogs: map[string]model.Catalog{"default": sells(90_000)}, price: 90_000, reserved: 180_000,
		},
		"falling": {
			reason:   "what was reserved stays",
			catalogs: map[string]model.Catalog{"default": sells(10)}, price: 10, reserved: 140_000,
		},
		"spoilt options": {
			reason:   "somebody has changed the annotation with the options: what the type costs counts, if more was not reserved",
			catalogs: map[string]model.Catalog{"default": sells(900_000)}, options: "[", price: 900_000, reserved: 900_000,
		},
		"denied": {
			reason:   "it has an instance, whatever somebody wrote into the condition",
			catalogs: map[string]model.Catalog{"default": sells(50)}, conditions: []metav1.Condition{denied}, price: 50,
		},
		"ending": {
			reason:   "EC2 bills no instance that shuts down",
			catalogs: map[string]model.Catalog{"default": sells(50)}, deleted: &deleted, conditions: []metav1.Condition{launched, ending},
		},
		"draining": {
			reason:   "until then it is paid for",
			catalogs: map[string]model.Catalog{"default": sells(50)}, deleted: &deleted, conditions: []metav1.Condition{launched}, price: 50,
		},
		"refused": {
			reason:   "a launch that was refused holds nothing once its claim goes",
			catalogs: map[string]model.Catalog{"default": sells(50)}, deleted: &deleted, attempt: `{"ordinal":1}`,
		},
		"unknown": {
			reason:   "a launch whose outcome is not known does",
			catalogs: map[string]model.Catalog{"default": sells(50)}, deleted: &deleted, attempt: `{"request":{}}`, price: 50, reserved: 140_000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", DeletionTimestamp: tc.deleted, Labels: map[string]string{
				karpv1.LabelNodePool: "gone", corev1.LabelInstanceTypeStable: "m.1", corev1.LabelTopologyZone: "a", karpv1.LabelCapacityType: "on-demand",
			}, Annotations: map[string]string{
				karpv1.AnnotationReservedUSD: "0.140000", karpv1.AnnotationAttempt: tc.attempt, karpv1.AnnotationNodePoolLabels: `{"team":"web"}`,
				karpv1.AnnotationLaunch: `[{"instanceType":"m.1","zone":"a","capacityType":"on-demand","price":70000},{"instanceType":"m.1","zone":"b","capacityType":"on-demand","price":140000}]`,
			}}}
			if tc.options != "" {
				claim.Annotations[karpv1.AnnotationLaunch] = tc.options
			}
			claim.Spec.NodeClassRef.Name = "default"
			claim.Status.Conditions = tc.conditions
			if len(tc.conditions) > 0 {
				claim.Status.ProviderID = "aws:///a/i-1"
			}
			s, _ := Build(Inputs{NodeClaims: []*karpv1.NodeClaim{claim}, Catalogs: tc.catalogs})
			if n := &s.Nodes[0]; n.Price != tc.price || n.Reserved != tc.reserved || n.PoolLabels["team"] != "web" {
				t.Errorf("%s: price %d, reserved %d, labels of its pool %v; want %d and %d", tc.reason, n.Price, n.Reserved, n.PoolLabels, tc.price, tc.reserved)
			}
		})
	}
}

// TestReservedHasExtra: what was reserved for a launch includes the volumes of its node,
// which are counted once, also where the reservation is all that is known of the price.
func TestReservedHasExtra(t *testing.T) {
	const extra, reserved = 30_000, 140_000
	for name, conditions := range map[string][]metav1.Condition{
		"in flight": nil,
		"launched":  {{Type: karpv1.ConditionLaunched, Status: metav1.ConditionTrue}},
	} {
		t.Run(name, func(t *testing.T) {
			claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
				Name: "c", Labels: map[string]string{corev1.LabelInstanceTypeStable: "not.sold"},
				Annotations: map[string]string{karpv1.AnnotationReservedUSD: "0.140000", karpv1.AnnotationLaunch: "["},
			}}
			claim.Spec.NodeClassRef.Name = "default"
			claim.Status.Conditions = conditions
			s, _ := Build(Inputs{NodeClaims: []*karpv1.NodeClaim{claim}, Catalogs: map[string]model.Catalog{"default": {NodeCost: extra}}})
			n := &s.Nodes[0]
			if n.Cost() != reserved || n.Extra != extra || (conditions == nil && n.Reserved != reserved) {
				t.Errorf("counted as %d, of which %d extra, reserved %d; want %d, of which %d", n.Cost(), n.Extra, n.Reserved, reserved, extra)
			}
		})
	}
}

// TestExtraStays: what the volumes of a node cost was written down when it was launched. An EC2NodeClass
// with smaller ones, or that cannot be used now, makes no room under a cap.
func TestExtraStays(t *testing.T) {
	class := func(cost model.Price) map[string]model.Catalog {
		c := instancetype.Catalog(instancetype.Of("m.1", nil, instancetype.OnDemand("a", 100)))
		c.NodeCost = cost
		return map[string]model.Catalog{"default": c}
	}
	elsewhere := map[string]model.Catalog{"other": class(0)["default"]}
	for name, tc := range map[string]struct {
		reason   string
		bought   string
		catalogs map[string]model.Catalog
		want     model.Price
	}{
		"the same":       {"as launched", `{"price":100,"effectivePrice":1,"extra":9000000}`, class(9_000_000), 9_000_000},
		"edited":         {"the node still has its volumes", `{"price":100,"effectivePrice":1,"extra":9000000}`, class(50), 9_000_000},
		"not ready":      {"another class sells the type", `{"price":100,"effectivePrice":1,"extra":9000000}`, elsewhere, 9_000_000},
		"dearer":         {"it may have been edited while the instance was launched", `{"price":100,"effectivePrice":1,"extra":50}`, class(70), 70},
		"not recorded":   {"launched by an earlier version: as the class is", `{"price":100,"effectivePrice":1}`, class(70), 70},
		"cannot be read": {"as the class is", `{`, class(70), 70},
	} {
		t.Run(name, func(t *testing.T) {
			claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{
				corev1.LabelInstanceTypeStable: "m.1", corev1.LabelTopologyZone: "a", karpv1.LabelCapacityType: "on-demand",
			}, Annotations: map[string]string{karpv1.AnnotationBought: tc.bought}}}
			claim.Spec.NodeClassRef.Name, claim.Status.ProviderID = "default", "aws:///a/i-1"
			claim.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionLaunched, Status: metav1.ConditionTrue}}
			s, _ := Build(Inputs{NodeClaims: []*karpv1.NodeClaim{claim}, Catalogs: tc.catalogs})
			if n := &s.Nodes[0]; n.Extra != tc.want || n.Cost() != 100+tc.want {
				t.Errorf("%s: counted as %d, of which %d extra, want %d", tc.reason, n.Cost(), n.Extra, tc.want)
			}
		})
	}
}
