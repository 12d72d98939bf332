package lower

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// setPrices sets the price of a managed node, and the highest possible cost of a launch in
// flight. When the node's class does not offer its type at the moment (the class is not
// ready, or the type was taken out), the price is that of another class, or else that
// at which it was launched, so that a node does not count as free because its price is
// unknown. opts are the claim's options.
func (b *builder) setPrices(n *model.Node, claim *karpv1.NodeClaim, opts []model.Option) {
	if billingEnded(claim) {
		n.Reserved, n.Extra = 0, 0
		return
	}
	if n.Reserved > 0 {
		for i := range opts { // prices may have risen since the decision
			n.Reserved = max(n.Reserved, b.priceOf(claim, &opts[i])+n.Extra)
		}
	}
	if n.InstanceType == "" {
		return
	}
	at := model.Option{InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: n.CapacityType}
	if n.Price = b.priceOf(claim, &at); n.Price > 0 {
		return
	}
	for i := range opts {
		if o := &opts[i]; o.InstanceType == at.InstanceType && o.Zone == at.Zone && o.CapacityType == at.CapacityType {
			n.Price = o.Price
			return
		}
	}
	n.Price = reserved(claim)
}

// billingEnded reports whether EC2 bills nothing more for a claim that is being deleted: its
// instance is terminating, or it has no instance and no launch under way.
func billingEnded(claim *karpv1.NodeClaim) bool {
	if claim.DeletionTimestamp.IsZero() {
		return false
	}
	if meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionInstanceTerminating) {
		return true
	}
	var attempt struct {
		Request json.RawMessage `json:"request"`
	}
	text := claim.Annotations[karpv1.AnnotationAttempt]
	if claim.Status.ProviderID != "" || text == "" {
		return claim.Status.ProviderID == ""
	}
	return json.Unmarshal([]byte(text), &attempt) == nil && len(attempt.Request) == 0
}

// priceOf returns the price of an option in the catalogue of the claim's own class, else
// in that of any other, and 0 when none offers it.
func (b *builder) priceOf(claim *karpv1.NodeClaim, o *model.Option) model.Price {
	own, ok := b.catalogAt[claim.Spec.NodeClassRef.Name]
	if ok {
		if price := offeringPrice(b.types[own][o.InstanceType], o); price > 0 {
			return price
		}
	}
	for i := range b.types {
		if price := offeringPrice(b.types[i][o.InstanceType], o); price > 0 {
			return price
		}
	}
	return 0
}

func offeringPrice(t *model.InstanceType, o *model.Option) model.Price {
	if t == nil {
		return 0
	}
	for i := range t.Offerings {
		if of := &t.Offerings[i]; of.Zone == o.Zone && of.CapacityType == o.CapacityType {
			return of.Price
		}
	}
	return 0
}

// poolLabels returns the labels that the claim's NodePool had when the claim was made.
func poolLabels(claim *karpv1.NodeClaim) map[string]string {
	var out map[string]string
	if json.Unmarshal([]byte(claim.Annotations[karpv1.AnnotationNodePoolLabels]), &out) != nil {
		return nil
	}
	return out
}
