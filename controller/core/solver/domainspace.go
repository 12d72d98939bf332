package solver

import (
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// domainSpace holds the domains of every key that topology constraints use, except
// the hostname. It does not change once made, except for cached prices.
type domainSpace struct {
	p     *problem.Problem
	hosts []problem.Host
	keys  []domainKey
	// ofHost is, by host and key, the index of the host's domain; -1 for none.
	ofHost [][]int32
}

// domainKey holds the values of a node label that topology constraints use, over all
// offers and hosts. A value is a domain.
type domainKey struct {
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

// newDomainSpace finds the domains of every key that is decided before packing.
func newDomainSpace(p *problem.Problem, hosts []problem.Host) *domainSpace {
	s := &domainSpace{p: p, hosts: hosts}
	var keys []string
	for i := range p.Topology.All {
		if c := &p.Topology.All[i]; !c.PerHost {
			keys = append(keys, c.Key)
		}
	}
	if len(keys) == 0 {
		return s
	}
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		s.keys = append(s.keys, s.newDomainKey(key))
	}
	s.ofHost = make([][]int32, len(hosts))
	for i := range hosts {
		s.ofHost[i] = make([]int32, len(s.keys))
		for k := range s.keys {
			s.ofHost[i][k] = -1
			if v, ok := hosts[i].Labels(s.keys[k].key); ok {
				at, _ := slices.BinarySearch(s.keys[k].values, v)
				s.ofHost[i][k] = int32(at)
			}
		}
	}
	return s
}

func (s *domainSpace) newDomainKey(key string) domainKey {
	d := domainKey{key: key, unitPrices: map[int32][]float64{}}
	seen := map[string]bool{}
	note := func(v string, ok bool) {
		if ok && !seen[v] {
			seen[v] = true
			d.values = append(d.values, v)
		}
	}
	offers := len(s.p.Supply.Offers)
	for o := range offers {
		note(s.p.Supply.OfferLabel(int32(o), key))
	}
	for i := range s.hosts {
		note(s.hosts[i].Labels(key))
	}
	slices.Sort(d.values)
	d.offers = make([]vec.Bits, len(d.values))
	for i := range d.offers {
		d.offers[i] = vec.NewBits(offers)
	}
	for o := range offers {
		if v, ok := s.p.Supply.OfferLabel(int32(o), key); ok {
			at, _ := slices.BinarySearch(d.values, v)
			d.offers[at].Set(int32(o))
		}
	}
	return d
}

// keyOf returns the index of a topology group's key, -1 for the hostname.
func (s *domainSpace) keyOf(group int32) int32 {
	key := s.p.Topology.All[group].Key
	return int32(slices.IndexFunc(s.keys, func(d domainKey) bool { return d.key == key }))
}

// domainsOf returns by key the index of a host's domain, -1 for none.
func (s *domainSpace) domainsOf(host int) []int32 {
	if s.ofHost == nil {
		return nil
	}
	return s.ofHost[host]
}

// within reports whether the host is in an allowed domain of every restriction.
func (s *domainSpace) within(host int, all []domainRestriction) bool {
	for i := range all {
		if at := s.ofHost[host][all[i].key]; at < 0 || !all[i].domains.Has(at) {
			return false
		}
	}
	return true
}

// fits reports whether an offer or a host in domain v of a key can hold a pod of the
// class, which already has the restrictions.
func (s *domainSpace) fits(cl *problem.Class, already []domainRestriction, key, v int32) bool {
	set, in, n := s.p.Choices.All[cl.Choice], s.keys[key].offers[v], s.p.Supply.Dims.N()
	for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
		if in.Has(o) && vec.Fits(&cl.Requests, &s.p.Supply.Shapes[s.p.Supply.Offers[o].Shape].Capacity, n) {
			return true
		}
	}
	for i := range s.hosts {
		h := &s.hosts[i]
		if s.ofHost[i][key] == v && vec.Fits(&cl.Requests, &h.Free, n) && s.within(i, already) && h.Admits(cl) {
			return true
		}
	}
	return false
}

// unitPrices returns the lowest price of a unit of capacity in each domain of a key.
func (s *domainSpace) unitPrices(key, choice int32) []float64 {
	d := &s.keys[key]
	if got, ok := d.unitPrices[choice]; ok {
		return got
	}
	out, set := make([]float64, len(d.values)), s.p.Choices.All[choice]
	for i := range out {
		out[i] = math.Inf(1)
		for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
			f := &s.p.Supply.Offers[o]
			if size := s.p.Size(&s.p.Supply.Shapes[f.Shape].Capacity); size > 0 && d.offers[i].Has(o) {
				out[i] = min(out[i], f.Cost/size)
			}
		}
	}
	d.unitPrices[choice] = out
	return out
}

// countedOffers returns the set of offers whose nodes a topology group counts.
func (s *domainSpace) countedOffers(c *constraint.Group) vec.Bits {
	supply := s.p.Supply
	set := vec.NewBits(len(supply.Offers))
	set.SetRange(0, int32(len(supply.Offers)))
	if c.HonorAffinity {
		set.And(supply.Selected(c.Filter))
	}
	if c.HonorTaints {
		for l, ok := range supply.Tolerated(c.Filter.Tolerations) {
			if !ok {
				set.UnsetRange(supply.Templates[l].From, supply.Templates[l].To)
			}
		}
	}
	for _, k := range c.Keys {
		set.And(supply.Requirement(&model.Requirement{Key: k, Operator: model.Exists}))
	}
	return set
}
