package solver

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// requirement is the set of offers whose nodes meet r. It is computed once for
// each different requirement.
func (p *problem) requirement(r *model.Requirement) vec.Bits {
	key := constraint.RequirementText(r)
	if set, ok := p.requirements[key]; ok {
		return set
	}
	set := vec.NewBits(len(p.offers))
	for l := range p.templates {
		p.templateRequirement(&p.templates[l], r, set)
	}
	p.requirements[key] = set
	return set
}

func (p *problem) templateRequirement(ln *nodeTemplate, r *model.Requirement, set vec.Bits) {
	if v, ok := ln.labels[r.Key]; ok {
		if r.Matches(v, true) {
			set.SetRange(ln.from, ln.to)
		}
		return
	}
	if _, _, ours := (&offeringKey{}).value(r.Key); ours {
		match := make([]bool, len(p.keys.keys))
		for s := range match {
			v, present, _ := p.keys.keys[s].value(r.Key)
			match[s] = r.Matches(v, present)
		}
		for o := ln.from; o < ln.to; o++ {
			if match[p.offers[o].key] {
				set.Set(o)
			}
		}
		return
	}
	col := p.catalogue(p.snap.Pools[ln.pool].Catalog).column(r.Key)
	match := col.matching(r)
	for o := ln.from; o < ln.to; o++ {
		if match[col.byType[p.offers[o].typ]] {
			set.Set(o)
		}
	}
}

// selected is the set of offers that a pod's selector and required affinity
// allow. The caller must not change it.
func (p *problem) selected(s *model.PodSpec) vec.Bits {
	key := constraint.SelectorText(s)
	if set, ok := p.selectors[key]; ok {
		return set
	}
	set := vec.NewBits(len(p.offers))
	set.SetRange(0, int32(len(p.offers)))
	for k, v := range s.NodeSelector {
		set.And(p.requirement(&model.Requirement{Key: k, Operator: model.In, Values: []string{v}}))
	}
	if len(s.Affinity) > 0 {
		any := vec.NewBits(len(p.offers))
		for _, term := range s.Affinity {
			any.Or(p.term(term))
		}
		set.And(any)
	}
	p.selectors[key] = set
	return set
}

func (p *problem) term(term model.Term) vec.Bits {
	set := vec.NewBits(len(p.offers))
	if len(term) == 0 {
		return set
	}
	set.SetRange(0, int32(len(p.offers)))
	for i := range term {
		set.And(p.requirement(&term[i]))
	}
	return set
}

// tolerated says for every node template whether its taints are tolerated. Startup
// taints go away by themselves.
func (p *problem) tolerated(tolerations []model.Toleration) []bool {
	out := make([]bool, len(p.templates))
	for l := range p.templates {
		pool := &p.snap.Pools[p.templates[l].pool]
		out[l] = pool.Opens(tolerations) && constraint.Untolerated(tolerations, pool.Taints) == nil
	}
	return out
}
