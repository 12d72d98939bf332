package lower

import (
	"cmp"
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
)

// setPrices sets the price of a managed node, and the highest possible cost of a launch in
// flight. When the node's class does not offer its type at the moment (the class is not
// ready, or the type was taken out), the price is the first that is known of: that of
// another class, that at which the claim's launch was decided, the highest that was
// reserved for the launch. A price that nobody knows is assumed, on the high side: no
// node counts as free. opts are the claim's options.
func (b *builder) setPrices(n *model.Node, claim *karpv1.NodeClaim, opts []model.Option) {
	if billingEnded(claim) {
		n.Reserved, n.Extra = 0, 0
		return
	}
	if IsUnplanned(claim) && claim.Annotations[karpv1.AnnotationAttempt] == "" {
		n.Extra = 0
		return // EC2 is asked only once options are chosen, and then they are in the claim
	}
	launched := isLaunched(claim)
	if !launched {
		b.reserve(n, claim, opts)
	}
	if n.InstanceType == "" && !launched {
		return // the options differ, or it is not launched
	}
	if n.Price = b.known(n, claim, opts); n.Reserved > 0 {
		n.Reserved = max(n.Reserved, n.Cost()) // its labels say what it is, whatever the annotations say
	}
	if n.Price > 0 || n.Reserved > 0 {
		return
	}
	n.Price, n.PriceAssumed = b.assume(n.InstanceType, quantity.Resources(claim.Status.Capacity)), true
	b.report(karpv1.EventPriceUnknown, "NodeClaim "+claim.Name, "no price of %s in %s (%s) is known: counted as %.4f $/h",
		cmp.Or(n.InstanceType, "its instance type"), cmp.Or(n.Zone, "its zone"), cmp.Or(string(n.CapacityType), "its capacity type"), n.Price.USD())
}

// reserve sets the highest cost of a launch that is not recorded as done: what the
// decision reserved, or the price of any option now, if that is higher. The annotations
// of a claim are not proof: an option counts also when nothing was reserved.
func (b *builder) reserve(n *model.Node, claim *karpv1.NodeClaim, opts []model.Option) {
	for i := range opts {
		price := b.priceOf(claim, &opts[i])
		if price == 0 {
			price = opts[i].Price
		}
		if price == 0 && n.Reserved == 0 {
			price = b.assume(opts[i].InstanceType, nil)
		}
		n.Reserved = max(n.Reserved, price+n.Extra)
	}
}

// known returns the price of a launched node's instance, 0 when nobody knows it. What
// the decision reserved includes the node's extra cost, which is counted beside the price.
func (b *builder) known(n *model.Node, claim *karpv1.NodeClaim, opts []model.Option) model.Price {
	at := model.Option{InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: n.CapacityType}
	if price := b.priceOf(claim, &at); price > 0 {
		return price
	}
	if bought := model.BoughtAs(opts, at.InstanceType, at.Zone, at.CapacityType); bought != nil && bought.Price > 0 {
		return bought.Price
	}
	if n.Bought != nil && n.Bought.Price > 0 {
		return n.Bought.Price
	}
	return max(0, reserved(claim)-n.Extra)
}

// boughtOf returns what an instance cost when it was launched, nil when the claim does not say.
func boughtOf(claim *karpv1.NodeClaim) *model.Bought {
	var out model.Bought
	if text := claim.Annotations[karpv1.AnnotationBought]; text == "" || json.Unmarshal([]byte(text), &out) != nil {
		return nil
	}
	out.Price, out.Extra = out.Price.Bounded(), out.Extra.Bounded()
	return &out
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
	if !ok {
		own = -1
	}
	return b.priceIn(own, o)
}

// priceIn returns the price of an option in the catalogue with the index, -1 for none,
// else in any other, and 0 when none offers it.
func (b *builder) priceIn(own int32, o *model.Option) model.Price {
	if own >= 0 {
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
