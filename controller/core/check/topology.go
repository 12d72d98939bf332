package check

import (
	"slices"
	"sort"

	"spokeshave.dev/controller/core/model"
)

// topology proves what pods ask of each other: spread, affinity and
// anti-affinity, as the scheduler will see them when the plan has come true.
// Where a planned node may still land in several domains, all must do.
func (v *verifier) topology() {
	if !v.sociable() {
		return
	}
	known := len(v.found)
	c := v.crowd()
	for spec, groups := range c.bySpec {
		s := &v.s.Specs[spec]
		for i := range s.Spread {
			if !s.Spread[i].Soft {
				c.spread(groups, s, &s.Spread[i])
			}
		}
		for i := range s.PodAntiAffinity {
			c.apart(groups, s, &s.PodAntiAffinity[i])
			c.shun(groups, s, &s.PodAntiAffinity[i])
		}
	}
	c.gather()
	sort.SliceStable(v.found[known:], func(i, j int) bool { return v.found[known+i].String() < v.found[known+j].String() })
}

// sociable says whether any pod asks anything of others.
func (v *verifier) sociable() bool {
	return slices.ContainsFunc(v.s.Specs, func(s model.PodSpec) bool {
		return len(s.Spread)+len(s.PodAffinity)+len(s.PodAntiAffinity) > 0
	})
}

// spread: the pods matched in a placed pod's domain may exceed those of the
// emptiest eligible domain by the skew, at most. With too few domains the
// emptiest counts as empty.
func (c *crowd) spread(groups []int, s *model.PodSpec, want *model.Spread) {
	groups = c.placed(groups)
	if len(groups) == 0 {
		return
	}
	sure, perhaps := c.tally(s, want)
	least := -1
	for _, n := range sure {
		if least < 0 || n < least {
			least = n
		}
	}
	if len(sure) < int(want.MinDomains) {
		least = 0
	}
	for _, i := range groups {
		place := c.groups[i].place
		mine := c.domains(place, want.Key)
		if len(mine) == 0 {
			c.v.report(Spread, c.name(place), "has no label %s, over which a pod of namespace %s is to be spread", want.Key, s.Namespace)
		}
		for _, d := range mine {
			if n := sure[d] + perhaps[d]; n-least > int(want.MaxSkew) {
				c.v.report(Spread, c.name(place), "%s=%s would have %d pods where %d is the least: more than the skew of %d of a pod of namespace %s",
					want.Key, d, n, least, want.MaxSkew, s.Namespace)
			}
		}
	}
}

// placed are the groups that the plan places.
func (c *crowd) placed(groups []int) []int {
	return slices.DeleteFunc(slices.Clone(groups), func(i int) bool { return !c.groups[i].placed })
}

// tally counts the matched pods by eligible domain: those that will be there,
// and those that may be.
func (c *crowd) tally(s *model.PodSpec, want *model.Spread) (sure, perhaps map[string]int) {
	sure, perhaps = map[string]int{}, map[string]int{}
	counts := make([]int, c.places())
	for _, i := range c.among(&want.Selector) {
		counts[c.groups[i].place] += c.groups[i].counted
	}
	for place := range int32(len(counts)) {
		domains, always := c.eligible(place, s, want)
		for _, d := range domains {
			if len(domains) == 1 && always {
				sure[d] += counts[place]
			} else {
				sure[d] += 0 // a domain for sure, all the same
				perhaps[d] += counts[place]
			}
		}
	}
	return sure, perhaps
}

// eligible are the domains in which the scheduler may count the node for the
// constraint: it has the keys of all of them, and meets the pod's affinity and
// taints as the constraint's policies want. always says that the node counts
// however it comes up.
func (c *crowd) eligible(place int32, s *model.PodSpec, want *model.Spread) (domains []string, always bool) {
	for i := range s.Spread {
		if !s.Spread[i].Soft && len(c.domains(place, s.Spread[i].Key)) == 0 {
			return nil, false
		}
	}
	if _, kept := repels(c.taints(place), s); want.HonorTaints && kept {
		return nil, false
	}
	if want.IgnoreAffinity {
		return c.domains(place, want.Key), true
	}
	if s.Pinned { // where volumes are restricts the pod, not the count
		own := *s
		own.Affinity = s.OwnAffinity
		s = &own
	}
	always = true
	for _, l := range c.labels(place) {
		switch value, ok := l.values[want.Key]; {
		case want.Key == hostname:
			if l.admits(s) {
				return c.domains(place, hostname), true
			}
		case !ok || !l.admits(s):
			always = false
		case !slices.Contains(domains, value):
			domains = append(domains, value)
		}
	}
	return domains, always
}

// apart proves the anti-affinity of placed pods: nobody whom they shun may be
// in their domain.
func (c *crowd) apart(groups []int, s *model.PodSpec, t *model.PodTerm) {
	groups = c.placed(groups)
	if len(groups) == 0 {
		return
	}
	there := map[string]int{}
	for _, i := range c.among(&t.Selector) {
		for _, d := range c.domains(c.groups[i].place, t.Key) {
			there[d] += c.groups[i].n
		}
	}
	self := 0
	if picks(&t.Selector, s) {
		self = 1
	}
	for _, i := range groups {
		place := c.groups[i].place
		for _, d := range c.domains(place, t.Key) {
			if there[d] > self {
				c.v.report(AntiAffinity, c.name(place), "a pod of namespace %s shuns %d pods that are in the same %s=%s", s.Namespace, there[d]-self, t.Key, d)
			}
		}
	}
}

// shun proves the anti-affinity of pods that were there before: it also keeps
// placed pods out of their domain.
func (c *crowd) shun(groups []int, s *model.PodSpec, t *model.PodTerm) {
	taken := map[string]bool{}
	for _, i := range groups {
		if !c.groups[i].placed {
			for _, d := range c.domains(c.groups[i].place, t.Key) {
				taken[d] = true
			}
		}
	}
	if len(taken) == 0 {
		return
	}
	for _, i := range c.placed(c.among(&t.Selector)) {
		place := c.groups[i].place
		for _, d := range c.domains(place, t.Key) {
			if taken[d] {
				c.v.report(AntiAffinity, c.name(place), "a pod of namespace %s that runs in %s=%s shuns a pod of namespace %s",
					s.Namespace, t.Key, d, c.v.s.Specs[c.groups[i].spec].Namespace)
			}
		}
	}
}
