package solver

import (
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// domains are the values of a node label that topology constraints name, among
// what can be launched and what is there.
type domains struct {
	key    string
	values []string
	// sets are the offers by value.
	sets []bitset
	// prices are, by choice of offers, what room costs in each domain.
	prices map[int32][]float64
}

// held says which domains of a key a class may use.
type held struct {
	key    int32
	values bitset
}

// within says whether the host is in a domain that the class may use.
func (h *host) within(all []held) bool {
	for i := range all {
		if at := h.at[all[i].key]; at < 0 || !all[i].values.has(at) {
			return false
		}
	}
	return true
}

// offerLabel is a label of the node that an offer would give.
func (p *problem) offerLabel(o int32, key string) (string, bool) {
	f := &p.offers[o]
	ln := &p.lanes[f.lane]
	if v, ok := ln.labels[key]; ok {
		return v, true
	}
	if v, present, ours := p.slots.slots[f.slot].value(key); ours {
		return v, present
	}
	col := p.catalogue(p.snap.Pools[ln.pool].Catalog).column(key)
	at := col.byType[f.typ]
	return col.values[at], at > 0
}

// newDomains finds the domains of every key that settles before packing.
func (p *problem) newDomains(hosts []host) {
	var keys []string
	for i := range p.topo.censuses {
		if c := &p.topo.censuses[i]; !c.local {
			keys = append(keys, c.key)
		}
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		p.domains = append(p.domains, p.domainsOf(key, hosts))
	}
	for i := range hosts {
		h := &hosts[i]
		h.at = make([]int32, len(p.domains))
		for k := range p.domains {
			h.at[k] = -1
			if v, ok := h.labels(p.domains[k].key); ok {
				at, _ := slices.BinarySearch(p.domains[k].values, v)
				h.at[k] = int32(at)
			}
		}
	}
}

func (p *problem) domainsOf(key string, hosts []host) domains {
	d := domains{key: key, prices: map[int32][]float64{}}
	seen := map[string]bool{}
	note := func(v string, ok bool) {
		if ok && !seen[v] {
			seen[v] = true
			d.values = append(d.values, v)
		}
	}
	for o := range p.offers {
		note(p.offerLabel(int32(o), key))
	}
	for i := range hosts {
		note(hosts[i].labels(key))
	}
	slices.Sort(d.values)
	d.sets = make([]bitset, len(d.values))
	for i := range d.sets {
		d.sets[i] = newBitset(len(p.offers))
	}
	for o := range p.offers {
		if v, ok := p.offerLabel(int32(o), key); ok {
			at, _ := slices.BinarySearch(d.values, v)
			d.sets[at].set(int32(o))
		}
	}
	return d
}

// pricesFor are what a unit of room costs, at best, in each domain.
func (p *problem) pricesFor(d *domains, choice int32) []float64 {
	if got, ok := d.prices[choice]; ok {
		return got
	}
	out := make([]float64, len(d.values))
	for i := range out {
		out[i] = math.Inf(1)
		for o := p.choices.sets[choice].next(0); o >= 0; o = p.choices.sets[choice].next(o + 1) {
			if size := p.size(&p.bins[p.offers[o].bin].room); size > 0 && d.sets[i].has(o) {
				out[i] = min(out[i], p.offers[o].cost/size)
			}
		}
	}
	d.prices[choice] = out
	return out
}

// passes is the set of offers whose nodes a census counts.
func (p *problem) passes(c *census) bitset {
	set := newBitset(len(p.offers))
	set.setRange(0, int32(len(p.offers)))
	if c.affinity {
		set.and(p.selected(c.filter))
	}
	if c.taints {
		for l, ok := range p.tolerated(c.filter.Tolerations) {
			if !ok {
				set.unsetRange(p.lanes[l].from, p.lanes[l].to)
			}
		}
	}
	for _, k := range c.keys {
		set.and(p.requirement(&model.Requirement{Key: k, Operator: model.Exists}))
	}
	return set
}

// lets says whether the census counts what runs on the host.
func (c *census) lets(h *host) bool {
	for _, k := range c.keys {
		if _, ok := h.labels(k); !ok {
			return false
		}
	}
	return (!c.affinity || selects(c.filter, h.labels)) &&
		(!c.taints || untolerated(c.filter.Tolerations, h.taints) == nil)
}

// ledger counts pods by census and domain.
type ledger struct {
	// lo are the pods surely counted, hi those that may be: a pod whose node
	// is not known yet may or may not end where the census looks.
	lo, hi [][]int32
	// most bounds hi: 0 where a pod that is there keeps others away.
	most [][]int32
	// following are the pods among lo that want others of the census near, and
	// so cannot be the first where others are elsewhere.
	following [][]int32
	// eligible are the domains that a spread looks at.
	eligible [][]bool
	// pass are the offers that each filter lets through, nil for all.
	pass []bitset
}

// newLedger counts what stays where it is.
func (p *problem) newLedger(hosts []host) *ledger {
	n := len(p.topo.censuses)
	l := &ledger{
		lo: make([][]int32, n), hi: make([][]int32, n), most: make([][]int32, n),
		following: make([][]int32, n), eligible: make([][]bool, n), pass: make([]bitset, n),
	}
	for i := range p.topo.censuses {
		if c := &p.topo.censuses[i]; !c.local {
			p.openCensus(l, int32(i), c, hosts)
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
		if t := p.topo.of(p.snap, pod.Spec); t != nil {
			p.settled(l, t, &hosts[at[pod.Node]], pod)
		}
	}
	return l
}

// openCensus prepares one census.
func (p *problem) openCensus(l *ledger, i int32, c *census, hosts []host) {
	k := p.keyOf(c.key)
	d := &p.domains[k]
	n := len(d.values)
	l.lo[i], l.hi[i], l.most[i], l.eligible[i] = make([]int32, n), make([]int32, n), make([]int32, n), make([]bool, n)
	l.following[i] = make([]int32, n)
	for v := range l.most[i] {
		l.most[i][v] = math.MaxInt32
	}
	if c.filter != nil {
		l.pass[i] = p.passes(c)
	}
	for v := range d.values {
		set := d.sets[v]
		if l.pass[i] != nil {
			set = set.clone()
			set.and(l.pass[i])
		}
		l.eligible[i][v] = !set.empty()
	}
	for h := range hosts {
		if v := hosts[h].at[k]; v >= 0 && !l.eligible[i][v] && c.lets(&hosts[h]) {
			l.eligible[i][v] = true
		}
	}
}

func (p *problem) keyOf(key string) int32 {
	return int32(slices.IndexFunc(p.domains, func(d domains) bool { return d.key == key }))
}

// settled counts a pod that stays on its host; one that is ending may yet be
// there when the plan comes true, but spreads pass it over.
func (p *problem) settled(l *ledger, t *ties, h *host, pod *model.Pod) {
	for _, c := range t.counted {
		if pod.Ending && p.topo.censuses[c].spread {
			continue
		}
		if v := h.at[p.keyOf(p.topo.censuses[c].key)]; v >= 0 && p.topo.censuses[c].lets(h) {
			l.hi[c][v]++
			if p.snap.Nodes[h.node].State != model.Deleting { // else it will not be there for long
				l.lo[c][v]++
			}
		}
	}
	for i := range t.own {
		if r := &t.own[i]; r.kind == apart {
			if v := h.at[p.keyOf(p.topo.censuses[r.census].key)]; v >= 0 {
				l.most[r.census][v] = 0
			}
		}
	}
}

// least is the least count of any domain that the rule looks at.
func (l *ledger) least(r *rule) int32 {
	least, n := int32(math.MaxInt32), int32(0)
	for v, ok := range l.eligible[r.census] {
		if ok {
			n++
			least = min(least, l.lo[r.census][v])
		}
	}
	if n == 0 || n < r.minDomains {
		return 0
	}
	return least
}

// keeps says whether the rule holds for a pod in domain v, with so many pods
// like it still to be counted there.
func (l *ledger) keeps(r *rule, v, more int32) bool {
	switch r.kind {
	case spreads:
		return l.hi[r.census][v]+more-l.least(r) <= r.max
	case apart:
		return l.hi[r.census][v]+more <= r.max
	case near:
		return l.lo[r.census][v] > 0
	case evenly:
	}
	return true
}

// code is the reason code of a rule.
func (r *rule) code() model.ReasonCode {
	switch r.kind {
	case apart:
		return model.PodAntiAffinity
	case near:
		return model.PodAffinity
	case spreads, evenly:
	}
	return model.TopologySpread
}
