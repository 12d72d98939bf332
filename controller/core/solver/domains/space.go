package domains

import (
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// Space holds the domains of every key that topology constraints use, except
// the hostname. It does not change once made, except for cached prices.
type Space struct {
	p     *problem.Problem
	hosts []problem.Host
	// Keys are sorted by label.
	Keys []Key
	// ofHost is, by host and key, the index of the host's domain; -1 for none.
	ofHost [][]int32
}

// Key holds the values of a node label that topology constraints use, over all
// offers and hosts. A value is a domain.
type Key struct {
	Label  string
	Values []string
	// Offers are, by value, the offers with that value.
	Offers []vec.Bits
	// unitPrices are, by choice of offers, the unit prices by domain.
	unitPrices map[int32][]float64
}

// restriction is the set of domains of a key that a class may use.
type restriction struct {
	key     int32
	domains vec.Bits
}

// NewSpace finds the domains of every key that is decided before packing.
func NewSpace(p *problem.Problem, hosts []problem.Host) *Space {
	s := &Space{p: p, hosts: hosts}
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
		s.Keys = append(s.Keys, s.newDomainKey(key))
	}
	s.ofHost = make([][]int32, len(hosts))
	for i := range hosts {
		s.ofHost[i] = make([]int32, len(s.Keys))
		for k := range s.Keys {
			s.ofHost[i][k] = -1
			if v, ok := hosts[i].Labels(s.Keys[k].Label); ok {
				at, _ := slices.BinarySearch(s.Keys[k].Values, v)
				s.ofHost[i][k] = int32(at)
			}
		}
	}
	return s
}

func (s *Space) newDomainKey(key string) Key {
	launched := supply.OffersByLabel(s.p.Supply, key)
	d := Key{Label: key, Values: launched.Values, Offers: launched.Offers, unitPrices: map[int32][]float64{}}
	var others []string // values that only hosts have
	for i := range s.hosts {
		if v, ok := s.hosts[i].Labels(key); ok {
			if _, known := slices.BinarySearch(launched.Values, v); !known {
				others = append(others, v)
			}
		}
	}
	if len(others) == 0 {
		return d
	}
	d.Values, d.Offers = slices.Concat(launched.Values, others), nil
	slices.Sort(d.Values)
	d.Values = slices.Compact(d.Values)
	for _, v := range d.Values {
		if at, known := slices.BinarySearch(launched.Values, v); known {
			d.Offers = append(d.Offers, launched.Offers[at])
		} else {
			d.Offers = append(d.Offers, vec.NewBits(len(s.p.Supply.Offers)))
		}
	}
	return d
}

// KeyOf returns the index of a topology group's key, -1 for the hostname.
func (s *Space) KeyOf(group int32) int32 {
	key := s.p.Topology.All[group].Key
	return int32(slices.IndexFunc(s.Keys, func(d Key) bool { return d.Label == key }))
}

// DomainsOf returns by key the index of a host's domain, -1 for none.
func (s *Space) DomainsOf(host int) []int32 {
	if s.ofHost == nil {
		return nil
	}
	return s.ofHost[host]
}

// within reports whether the host is in an allowed domain of every restriction.
func (s *Space) within(host int, all []restriction) bool {
	for i := range all {
		if at := s.ofHost[host][all[i].key]; at < 0 || !all[i].domains.Has(at) {
			return false
		}
	}
	return true
}

// Fits reports whether an offer or a host in domain v of a key can hold a pod of the
// class, which already has the restrictions. The offer is one of launchable; nil stands for
// all offers.
func (s *Space) Fits(cl *problem.Class, already []restriction, key, v int32, launchable vec.Bits) bool {
	set, in, n := s.p.Choices.All[cl.Choice], s.Keys[key].Offers[v], s.p.Supply.Dims.N()
	for o := set.NextOfBoth(in, 0); o >= 0; o = set.NextOfBoth(in, o+1) {
		if (launchable == nil || launchable.Has(o)) && vec.Fits(&cl.Requests, &s.p.Supply.Shapes[s.p.Supply.Offers[o].Shape].Capacity, n) {
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
func (s *Space) unitPrices(key, choice int32) []float64 {
	d := &s.Keys[key]
	if got, ok := d.unitPrices[choice]; ok {
		return got
	}
	out, set := make([]float64, len(d.Values)), s.p.Choices.All[choice]
	for i := range out {
		out[i] = math.Inf(1)
		in := d.Offers[i]
		for o := set.NextOfBoth(in, 0); o >= 0; o = set.NextOfBoth(in, o+1) {
			f := &s.p.Supply.Offers[o]
			if size := s.p.Size(&s.p.Supply.Shapes[f.Shape].Capacity); size > 0 {
				out[i] = min(out[i], f.Cost/size)
			}
		}
	}
	d.unitPrices[choice] = out
	return out
}

// countedOffers returns the set of offers whose nodes a topology group counts.
func (s *Space) countedOffers(c *constraint.Group) vec.Bits {
	table := s.p.Supply
	set := vec.NewBits(len(table.Offers))
	set.SetRange(0, int32(len(table.Offers)))
	if c.HonorAffinity {
		set.And(table.Selected(c.Filter))
	}
	if c.HonorTaints {
		for l, ok := range table.Tolerated(c.Filter.Tolerations) {
			if !ok {
				set.UnsetRange(table.Templates[l].From, table.Templates[l].To)
			}
		}
	}
	for _, k := range c.Keys {
		set.And(table.Requirement(&model.Requirement{Key: k, Operator: model.Exists}))
	}
	return set
}
