package supply

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// Requirement is the set of offers whose nodes meet r. It is kept: the caller must
// not change it.
func (p *Table) Requirement(r *model.Requirement) vec.Bits {
	key := constraint.RequirementText(r)
	if set, ok := p.sets.requirements[key]; ok {
		return set
	}
	set := vec.NewBits(len(p.Offers))
	for l := range p.Templates {
		templateRequirement(p, &p.Templates[l], r, set)
	}
	p.sets.requirements[key] = set
	return set
}

func templateRequirement(p *Table, ln *Template, r *model.Requirement, set vec.Bits) {
	if v, ok := ln.Labels[r.Key]; ok {
		if r.Matches(v, true) {
			set.SetRange(ln.From, ln.To)
		}
		return
	}
	if _, _, ours := (&OfferingKey{}).Value(r.Key); ours {
		match := make([]bool, len(p.Keys.Keys))
		for s := range match {
			v, present, _ := p.Keys.Keys[s].Value(r.Key)
			match[s] = r.Matches(v, present)
		}
		for o := ln.From; o < ln.To; o++ {
			if match[p.Offers[o].Key] {
				set.Set(o)
			}
		}
		return
	}
	col := p.Catalogue(p.snap.Pools[ln.Pool].Catalog).column(r.Key)
	match := col.matching(r)
	for o := ln.From; o < ln.To; o++ {
		if match[col.byType[p.Offers[o].Type]] {
			set.Set(o)
		}
	}
}

// Selected is the set of offers that a pod's selector and required affinity
// allow. The caller must not change it.
func (p *Table) Selected(s *model.PodSpec) vec.Bits {
	key := constraint.SelectorText(s)
	if set, ok := p.sets.selectors[key]; ok {
		return set
	}
	set := vec.NewBits(len(p.Offers))
	set.SetRange(0, int32(len(p.Offers)))
	for k, v := range s.NodeSelector {
		set.And(p.Requirement(&model.Requirement{Key: k, Operator: model.In, Values: []string{v}}))
	}
	if len(s.Affinity) > 0 {
		any := vec.NewBits(len(p.Offers))
		for _, term := range s.Affinity {
			any.Or(termOffers(p, term))
		}
		set.And(any)
	}
	p.sets.selectors[key] = set
	return set
}

func termOffers(p *Table, term model.Term) vec.Bits {
	set := vec.NewBits(len(p.Offers))
	if len(term) == 0 {
		return set
	}
	set.SetRange(0, int32(len(p.Offers)))
	for i := range term {
		set.And(p.Requirement(&term[i]))
	}
	return set
}

// Tolerated says for every template whether a pod with these tolerations may run on
// its nodes. Startup taints do not count: they are removed by themselves.
func (p *Table) Tolerated(tolerations []model.Toleration) []bool {
	out := make([]bool, len(p.Templates))
	for l := range p.Templates {
		pool := &p.snap.Pools[p.Templates[l].Pool]
		out[l] = pool.Opens(tolerations) && constraint.Untolerated(tolerations, pool.Taints) == nil
	}
	return out
}
