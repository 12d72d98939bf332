package catalog

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// Estimator derives on-demand prices for types that no price list of the region has, so
// that no type is lost for want of one. In this order:
//
//  1. Another size of the family in the region, in proportion to the vCPUs: most families
//     are priced so. The nearest in vCPUs counts.
//  2. The price of the type in the reference region, known or derived there, times what
//     the region costs in relation to it: the median over the types of the same category
//     (c, m, r, …) that both have, else over all that both have, else 1.
//  3. The highest price per vCPU of the category, else of all types, in the region.
//
// A derived price has the currency of the region. It is a guess to decide by, not a bill.
type Estimator struct {
	// known are the types with a price in the region, sorted by name.
	known []priced
	// reference is the estimator of the reference region; nil for that region itself.
	reference *Estimator
	// ratios are the region's prices divided by those of the reference region, by
	// category, and "" for all.
	ratios map[string]float64
}

// priced is a type with a price.
type priced struct {
	name, family, category string
	vcpu                   int
	price                  model.Price
}

// NewEstimator returns the estimator of a region. It decodes the embedded prices of the
// region and of its reference region, which takes some milliseconds.
func NewEstimator(region string) (*Estimator, error) {
	known, err := prices(region)
	if err != nil {
		return nil, err
	}
	e := &Estimator{known: known}
	if ref := reference(region); ref != "" {
		if e.reference, err = NewEstimator(ref); err != nil {
			return nil, err
		}
		e.ratios = ratios(known, e.reference.known)
	}
	return e, nil
}

// reference is the region by whose prices those of another are derived: of the regions in
// China, Beijing, whose prices are in the same currency; of an embedded region, us-east-1,
// where almost every type is sold; of any other, the embedded region with the longest
// beginning of the name in common, such as ap-southeast-1 for ap-southeast-6.
func reference(region string) string {
	const most, china = "us-east-1", "cn-north-1"
	all := Regions()
	switch {
	case region == most:
		return ""
	case strings.HasPrefix(region, "cn-") && region != china:
		return china
	case slices.Contains(all, region):
		return most
	}
	best, longest := most, len("us-")
	for _, other := range all {
		n := 0
		for n < min(len(other), len(region)) && other[n] == region[n] {
			n++
		}
		if n > longest {
			best, longest = other, n
		}
	}
	return best
}

// prices are the types with an embedded price in a region, none where it is not embedded.
func prices(region string) ([]priced, error) {
	if !slices.Contains(Regions(), region) {
		return nil, nil
	}
	types, sales, err := Load(region)
	if err != nil {
		return nil, err
	}
	out := make([]priced, 0, len(sales))
	for i := range sales {
		if sales[i].OnDemand > 0 {
			out = append(out, pricedAt(&types[i], sales[i].OnDemand))
		}
	}
	return out, nil
}

func pricedAt(t *Type, price model.Price) priced {
	family, _, _ := strings.Cut(t.Name, ".")
	category, _ := split(family)
	return priced{name: t.Name, family: family, category: category, vcpu: t.VCPU, price: price}
}

// ratios are the medians of what one region costs in relation to another.
func ratios(here, there []priced) map[string]float64 {
	other := make(map[string]model.Price, len(there))
	for i := range there {
		other[there[i].name] = there[i].price
	}
	all := map[string][]float64{}
	for i := range here {
		p := &here[i]
		if price := other[p.name]; price > 0 {
			ratio := float64(p.price) / float64(price)
			all[p.category] = append(all[p.category], ratio)
			all[""] = append(all[""], ratio)
		}
	}
	out := make(map[string]float64, len(all))
	for category, each := range all {
		slices.Sort(each)
		out[category] = each[len(each)/2]
	}
	return out
}

// Price is the price per hour of a type, above 0. exact says that the region's embedded
// price list has it.
func (e *Estimator) Price(t *Type) (price model.Price, exact bool) {
	want := pricedAt(t, 0)
	if at, found := slices.BinarySearchFunc(e.known, t.Name, func(p priced, name string) int { return cmp.Compare(p.name, name) }); found {
		return e.known[at].price, true
	}
	if price := e.sibling(&want); price > 0 {
		return price, false
	}
	if e.reference != nil {
		there, _ := e.reference.Price(t)
		ratio := cmp.Or(e.ratios[want.category], e.ratios[""], 1)
		return max(1, model.Price(math.Round(float64(there)*ratio))), false
	}
	return e.dearest(&want), false
}

// sibling is the price by that of the family's nearest size, 0 when there is none.
func (e *Estimator) sibling(want *priced) model.Price {
	var best *priced
	for i := range e.known {
		p := &e.known[i]
		if p.family == want.family && p.vcpu > 0 && (best == nil || distance(p, want) < distance(best, want)) {
			best = p
		}
	}
	if best == nil {
		return 0
	}
	return scaled(best, want.vcpu)
}

// distance is the factor between the vCPUs of two types, as a logarithm.
func distance(a, b *priced) float64 {
	return math.Abs(math.Log(float64(max(1, a.vcpu)) / float64(max(1, b.vcpu))))
}

// dearest is the price by the highest price per vCPU of the category, or of all types.
func (e *Estimator) dearest(want *priced) model.Price {
	var category, all model.Price
	for i := range e.known {
		p := &e.known[i]
		price := scaled(p, want.vcpu)
		all = max(all, price)
		if p.category == want.category {
			category = max(category, price)
		}
	}
	return max(1, cmp.Or(category, all))
}

// scaled is the price of a type in proportion to a number of vCPUs.
func scaled(p *priced, vcpu int) model.Price {
	return max(1, model.Price(math.Round(float64(p.price)*float64(max(1, vcpu))/float64(max(1, p.vcpu)))))
}
