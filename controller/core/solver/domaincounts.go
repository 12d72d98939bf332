package solver

import (
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// topologyDomains are the values of a node label that topology constraints use, over
// all offers and hosts.
type topologyDomains struct {
	key    string
	values []string
	// offers are, by value, the offers with that value.
	offers []vec.Bits
	// unitPrices are, by choice of offers, the unit prices by domain.
	unitPrices map[int32][]float64
}

// domainRestriction is the set of domains of a key that a class may use.
type domainRestriction struct {
	key     int32
	domains vec.Bits
}

// within reports whether the host is in an allowed domain of every restriction.
func (h *host) within(all []domainRestriction) bool {
	for i := range all {
		if at := h.domains[all[i].key]; at < 0 || !all[i].domains.Has(at) {
			return false
		}
	}
	return true
}

// newDomains finds the domains of every key that is decided before packing.
func (p *problem) newDomains(hosts []host) {
	var keys []string
	for i := range p.topology.All {
		if c := &p.topology.All[i]; !c.PerHost {
			keys = append(keys, c.Key)
		}
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		p.domains = append(p.domains, p.newTopologyDomains(key, hosts))
	}
	for i := range hosts {
		h := &hosts[i]
		h.domains = make([]int32, len(p.domains))
		for k := range p.domains {
			h.domains[k] = -1
			if v, ok := h.labels(p.domains[k].key); ok {
				at, _ := slices.BinarySearch(p.domains[k].values, v)
				h.domains[k] = int32(at)
			}
		}
	}
}

func (p *problem) newTopologyDomains(key string, hosts []host) topologyDomains {
	d := topologyDomains{key: key, unitPrices: map[int32][]float64{}}
	seen := map[string]bool{}
	note := func(v string, ok bool) {
		if ok && !seen[v] {
			seen[v] = true
			d.values = append(d.values, v)
		}
	}
	for o := range p.supply.Offers {
		note(p.supply.OfferLabel(int32(o), key))
	}
	for i := range hosts {
		note(hosts[i].labels(key))
	}
	slices.Sort(d.values)
	d.offers = make([]vec.Bits, len(d.values))
	for i := range d.offers {
		d.offers[i] = vec.NewBits(len(p.supply.Offers))
	}
	for o := range p.supply.Offers {
		if v, ok := p.supply.OfferLabel(int32(o), key); ok {
			at, _ := slices.BinarySearch(d.values, v)
			d.offers[at].Set(int32(o))
		}
	}
	return d
}

// unitPricesFor returns the lowest price of a unit of capacity in each domain.
func (p *problem) unitPricesFor(d *topologyDomains, choice int32) []float64 {
	if got, ok := d.unitPrices[choice]; ok {
		return got
	}
	out := make([]float64, len(d.values))
	for i := range out {
		out[i] = math.Inf(1)
		for o := p.choices.sets[choice].Next(0); o >= 0; o = p.choices.sets[choice].Next(o + 1) {
			if size := p.size(&p.supply.Shapes[p.supply.Offers[o].Shape].Capacity); size > 0 && d.offers[i].Has(o) {
				out[i] = min(out[i], p.supply.Offers[o].Cost/size)
			}
		}
	}
	d.unitPrices[choice] = out
	return out
}

// groupOffers returns the set of offers whose nodes a topology group counts.
func (p *problem) groupOffers(c *constraint.Group) vec.Bits {
	set := vec.NewBits(len(p.supply.Offers))
	set.SetRange(0, int32(len(p.supply.Offers)))
	if c.HonorAffinity {
		set.And(p.supply.Selected(c.Filter))
	}
	if c.HonorTaints {
		for l, ok := range p.supply.Tolerated(c.Filter.Tolerations) {
			if !ok {
				set.UnsetRange(p.supply.Templates[l].From, p.supply.Templates[l].To)
			}
		}
	}
	for _, k := range c.Keys {
		set.And(p.supply.Requirement(&model.Requirement{Key: k, Operator: model.Exists}))
	}
	return set
}

// domainCounts holds the counts of pods by topology group and domain.
type domainCounts struct {
	// certain counts the pods that are surely counted, possible also those that may
	// be: the group may or may not count the node that a pod will run on.
	certain, possible [][]int32
	// limit bounds possible; it is 0 where a placed pod's anti-affinity excludes
	// others.
	limit [][]int32
	// dependents counts the certain pods that have affinity to the group themselves.
	// They cannot be the first in their domain while others are in another one.
	dependents [][]int32
	// eligible marks the domains that a spread considers.
	eligible [][]bool
	// filterOffers are the offers that each group's filter admits, nil for all.
	filterOffers []vec.Bits
}

// newDomainCounts counts the pods that stay where they are.
func (p *problem) newDomainCounts(hosts []host) *domainCounts {
	n := len(p.topology.All)
	l := &domainCounts{
		certain: make([][]int32, n), possible: make([][]int32, n), limit: make([][]int32, n),
		dependents: make([][]int32, n), eligible: make([][]bool, n), filterOffers: make([]vec.Bits, n),
	}
	for i := range p.topology.All {
		if c := &p.topology.All[i]; !c.PerHost {
			p.openGroup(l, int32(i), c, hosts)
		}
	}
	at := make([]int32, len(p.snap.Nodes))
	for i := range at {
		at[i] = -1
	}
	for i := range hosts {
		at[hosts[i].node] = int32(i)
	}
	moving := make([]bool, len(p.snap.Pods))
	for _, i := range p.in.Pods {
		moving[i] = true
	}
	for i := range p.snap.Pods {
		pod := &p.snap.Pods[i]
		if moving[i] || pod.Node < 0 || int(pod.Node) >= len(at) || at[pod.Node] < 0 {
			continue
		}
		if t := p.topology.Of(pod.Spec); t != nil {
			p.addResident(l, t, &hosts[at[pod.Node]], pod)
		}
	}
	return l
}

// openGroup prepares the counts of one topology group.
func (p *problem) openGroup(l *domainCounts, i int32, c *constraint.Group, hosts []host) {
	k := p.keyIndex(c.Key)
	d := &p.domains[k]
	n := len(d.values)
	l.certain[i], l.possible[i], l.limit[i], l.eligible[i] = make([]int32, n), make([]int32, n), make([]int32, n), make([]bool, n)
	l.dependents[i] = make([]int32, n)
	for v := range l.limit[i] {
		l.limit[i][v] = math.MaxInt32
	}
	if c.Filter != nil {
		l.filterOffers[i] = p.groupOffers(c)
	}
	for v := range d.values {
		set := d.offers[v]
		if l.filterOffers[i] != nil {
			set = set.Clone()
			set.And(l.filterOffers[i])
		}
		l.eligible[i][v] = !set.Empty()
	}
	for h := range hosts {
		if v := hosts[h].domains[k]; v >= 0 && !l.eligible[i][v] && c.CountsNode(hosts[h].labels, hosts[h].taints) {
			l.eligible[i][v] = true
		}
	}
}

func (p *problem) keyIndex(key string) int32 {
	return int32(slices.IndexFunc(p.domains, func(d topologyDomains) bool { return d.key == key }))
}

// addResident counts a pod that stays on its host. A pod that is being deleted may
// still be there when the plan is carried out, so it counts, except for spreads.
func (p *problem) addResident(l *domainCounts, t *constraint.Terms, h *host, pod *model.Pod) {
	for _, c := range t.DomainGroups {
		if pod.Ending && p.topology.All[c].ForSpread {
			continue
		}
		if v := h.domains[p.keyIndex(p.topology.All[c].Key)]; v >= 0 && p.topology.All[c].CountsNode(h.labels, h.taints) {
			l.possible[c][v]++
			if p.snap.Nodes[h.node].State != model.Deleting { // a node being deleted, and its pods, will soon be gone
				l.certain[c][v]++
			}
		}
	}
	for i := range t.DomainRules {
		if r := &t.DomainRules[i]; r.Kind == constraint.AntiAffinity {
			if v := h.domains[p.keyIndex(p.topology.All[r.Group].Key)]; v >= 0 {
				l.limit[r.Group][v] = 0
			}
		}
	}
}

// minimum returns the lowest count of any domain that the spread rule considers.
func (l *domainCounts) minimum(r *constraint.Rule) int32 {
	least, n := int32(math.MaxInt32), int32(0)
	for v, ok := range l.eligible[r.Group] {
		if ok {
			n++
			least = min(least, l.certain[r.Group][v])
		}
	}
	if n == 0 || n < r.MinDomains {
		return 0
	}
	return least
}

// satisfies reports whether the rule holds for a pod in domain v, with more pods
// that are still to be counted there.
func (l *domainCounts) satisfies(r *constraint.Rule, v, more int32) bool {
	switch r.Kind {
	case constraint.HardSpread:
		return l.possible[r.Group][v]+more-l.minimum(r) <= r.Max
	case constraint.AntiAffinity:
		return l.possible[r.Group][v]+more <= r.Max
	case constraint.Affinity:
		return l.certain[r.Group][v] > 0
	case constraint.SoftSpread:
	}
	return true
}
