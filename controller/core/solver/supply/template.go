package supply

import (
	"cmp"
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// Template is a NodePool, or a variant of it, as far as it can launch: its nodes
// carry the same labels but for those of their offering. Node templates are ordered by
// weight, name and variant.
type Template struct {
	Pool int32
	// WeightRank is 0 for the heaviest pools, one more for each lighter weight.
	WeightRank int32
	Labels     map[string]string
	// VariantLabels are the labels among them that the pool leaves open.
	VariantLabels map[string]string
	// offers of the node template are those From From up To To.
	From, To int32
	// ByCost lists the offers by effective cost, billed price and name.
	ByCost []int32
	// minValues are those of the pool.
	minValues []MinValue
}

// newTemplates makes a node template of every pool that may launch. Pools are visited in
// order of weight and name.
func newTemplates(p *Table) {
	pools := p.snap.Pools
	order := vec.Ordered(len(pools), func(a, b int32) int {
		if o := cmp.Compare(pools[b].Weight, pools[a].Weight); o != 0 {
			return o
		}
		return cmp.Compare(pools[a].Name, pools[b].Name)
	})
	level, weight := int32(-1), int32(0)
	for _, i := range order {
		if !mayLaunch(p, i) {
			continue
		}
		if level < 0 || pools[i].Weight != weight {
			level, weight = level+1, pools[i].Weight
		}
		wants := minValuesOf(&pools[i])
		for _, chosen := range variants(p, &pools[i]) {
			p.Templates = append(p.Templates, Template{Pool: i, minValues: wants, WeightRank: level, VariantLabels: chosen, Labels: templateLabels(p, i, chosen)})
		}
	}
	p.WeightRanks = level + 1
}

// FixedCost is what a node template's node costs besides its instance.
func (p *Table) FixedCost(template int32) model.Price {
	return p.snap.Catalogs[p.snap.Pools[p.Templates[template].Pool].Catalog].NodeCost
}

// mayLaunch says whether a pool may launch at all.
func mayLaunch(p *Table, pool int32) bool {
	q := &p.snap.Pools[pool]
	blocked := int(pool) < len(p.blocked) && p.blocked[pool] != nil
	return q.NotReady == "" && !blocked && q.Catalog >= 0 && int(q.Catalog) < len(p.snap.Catalogs)
}

// templateLabels are the labels that a pool gives its nodes, with those chosen for
// the keys that its requirements leave open.
func templateLabels(p *Table, pool int32, chosen map[string]string) map[string]string {
	q := &p.snap.Pools[pool]
	labels := map[string]string{}
	if region := p.snap.Catalogs[q.Catalog].Region; region != "" {
		labels[constraint.LabelRegion] = region
	}
	maps.Copy(labels, chosen)
	maps.Copy(labels, q.NodeLabels)
	labels[constraint.LabelPool] = q.Name
	if q.NodeClass != "" {
		labels[constraint.LabelNodeClass] = q.NodeClass
	}
	labels[constraint.LabelHostname] = constraint.UnknownHostname
	return labels
}

// Defines says whether the pool's requirements on the key give its nodes that
// label, as opposed to choosing among instance types and offerings.
func (p *Table) Defines(q *model.Pool, key string) bool {
	if _, own := q.NodeLabels[key]; own || constraint.WellKnown(key) {
		return false
	}
	return p.Catalogue(q.Catalog).column(key).absent()
}

// allow says whether every requirement on the key accepts the value.
func allow(requirements []model.Requirement, key, value string) bool {
	for i := range requirements {
		if r := &requirements[i]; r.Key == key && !r.Matches(value, true) {
			return false
		}
	}
	return true
}

// Limit is what a pool may still launch of one resource.
type Limit struct {
	Name string
	Left int64
}

// LimitsOf are the pool's limits less its usage, by name.
func LimitsOf(q *model.Pool) []Limit {
	out := make([]Limit, 0, len(q.Limits))
	for name, n := range q.Limits {
		out = append(out, Limit{Name: name, Left: n - q.Usage[name]})
	}
	slices.SortFunc(out, func(a, b Limit) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
