package solver

import (
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// topologyGroup is a number of pods that topology constraints count, by the values of
// a node label: those that all selectors match, on nodes that the filter lets
// through.
type topologyGroup struct {
	key       string
	selectors []*model.PodSelector
	// text identifies the topology group and orders it.
	text string
	// perHost says that every node is a domain of its own (hostname). Such a
	// topology group is kept node by node while nodes are filled, all others are
	// settled before.
	perHost bool
	// filter is a spec whose constraints say which nodes count; nil counts
	// all. honorAffinity and honorTaints say which of them matter.
	filter                     *model.PodSpec
	honorAffinity, honorTaints bool
	// keys are labels that a node must have besides to count.
	keys []string
	// forSpread says that pods are spread over it; such a topology group does not count
	// those that are ending.
	forSpread bool
	// packed says that packing has to know the rules of a local topology group, and not
	// only the assignment of pods to nodes.
	packed bool
}

// ruleKind is what a rule asks of the count in the pod's own domain.
type ruleKind uint8

const (
	// hardSpread: at most max more than the least count of any domain.
	hardSpread ruleKind = iota
	// antiAffinity: nobody else.
	antiAffinity
	// affinity: somebody, or nobody anywhere and the pod itself is counted.
	affinity
	// softSpread: as spreads, but as a preference.
	softSpread
)

// rule is a topology constraint of a pod.
type rule struct {
	kind       ruleKind
	group      int32
	max        int32
	minDomains int32
}

// topologyTerms are what topology asks of a pod, and who counts it.
type topologyTerms struct {
	// domainRules are the pod's rules, hostRules those on single nodes, which hold as long
	// as the node counts no more than their max.
	domainRules, hostRules []rule
	// domainGroups are the topology groups that count the pod, hostGroups those of
	// single nodes, sorted. A bundle is counted once for each of its pods.
	domainGroups, hostGroups []int32
}

// isCountedBy says whether the pod is counted in its own domain.
func (t *topologyTerms) isCountedBy(c int32) bool {
	_, ok := slices.BinarySearch(t.domainGroups, c)
	if !ok {
		_, ok = slices.BinarySearch(t.hostGroups, c)
	}
	return ok
}

// multiplicity is how often the pod, or the bundle, is counted in its own domain.
func (t *topologyTerms) multiplicity(c int32) int32 {
	if at, ok := slices.BinarySearch(t.domainGroups, c); ok {
		return leadingRepeats(t.domainGroups[at:])
	}
	if at, ok := slices.BinarySearch(t.hostGroups, c); ok {
		return leadingRepeats(t.hostGroups[at:])
	}
	return 0
}

// leadingRepeats is how often the first number of a sorted list is in it.
func leadingRepeats(list []int32) int32 {
	n := int32(1)
	for int(n) < len(list) && list[n] == list[0] {
		n++
	}
	return n
}

// topologyGroups numbers the topology groups that matter to the pods to be placed.
type topologyGroups struct {
	groups []topologyGroup
	ids    map[string]int32
	// bySpec are the topology terms of every spec looked at, nil where it has none.
	bySpec []*topologyTerms
	seen   []bool
	// byLabel lists the topology groups whose selector asks for one value of a label,
	// unindexed are the rest.
	byLabel   map[[2]string][]int32
	unindexed []int32
	// required are the specs without what is only preferred.
	required []model.PodSpec
	// ignorePreferences says that preferences are not looked at.
	ignorePreferences bool
	// buf is where texts are written that may be known.
	buf []byte
	// respectPreferences says that pod terms which are only preferred count like others.
	respectPreferences bool
}

// newTopology collects the constraints of the pods to place, and the
// anti-affinity of pods that stay where they are, which works both ways.
func (p *problem) newTopology(required []model.PodSpec) {
	t := &p.topology
	t.required, t.respectPreferences = required, p.in.respectPreferences
	t.ids, t.ignorePreferences = map[string]int32{}, p.snap.Settings.IgnorePreferences
	t.bySpec, t.seen = make([]*topologyTerms, len(p.snap.Specs)), make([]bool, len(p.snap.Specs))
	asks := make([]bool, len(p.snap.Specs))
	for _, i := range p.in.Pods {
		s := p.snap.Pods[i].Spec
		if !asks[s] {
			asks[s] = true
			t.collect(&p.snap.Specs[s], &required[s])
		}
	}
	for i := range p.snap.Pods {
		pod := &p.snap.Pods[i]
		if spec := &p.snap.Specs[pod.Spec]; pod.Node >= 0 && !asks[pod.Spec] && len(spec.PodAntiAffinity) > 0 {
			asks[pod.Spec] = true
			for j := range spec.PodAntiAffinity {
				t.add(antiAffinityGroup(&spec.PodAntiAffinity[j]))
			}
		}
	}
	t.sort()
	for i := range t.groups {
		t.index(int32(i))
	}
}

// collect adds what a pod's constraints count. base is the spec without what it
// only prefers: preferences do not narrow what a spread looks at.
func (t *topologyGroups) collect(s, base *model.PodSpec) {
	for i := range s.Spread {
		if s.Spread[i].Soft && t.ignorePreferences {
			continue
		}
		t.add(spreadGroup(base, &s.Spread[i]))
	}
	for i := range s.PodAntiAffinity {
		t.add(antiAffinityGroup(&s.PodAntiAffinity[i]))
	}
	for i := range s.PodAffinity {
		t.add(affinityGroup(s, i))
	}
	if !t.respectPreferences {
		return
	}
	for i := range s.PreferredApart {
		t.add(antiAffinityGroup(&s.PreferredApart[i].Term))
	}
	for i := range s.PreferredPods {
		t.add(antiAffinityGroup(&s.PreferredPods[i].Term))
	}
}

// spreadGroup is what a spread constraint counts. On single nodes only the
// pod's own node is looked at, which the filter lets through.
func spreadGroup(s *model.PodSpec, sp *model.Spread) topologyGroup {
	if s.Pinned { // volumes do not say which nodes count
		own := *s
		own.Affinity = s.OwnAffinity
		s = &own
	}
	c := topologyGroup{key: sp.Key, selectors: []*model.PodSelector{&sp.Selector}, forSpread: true}
	c.honorAffinity = !sp.IgnoreAffinity && (len(s.NodeSelector) > 0 || len(s.Affinity) > 0)
	c.honorTaints = sp.HonorTaints
	for i := range s.Spread { // the scheduler wants the keys of all of them
		if o := &s.Spread[i]; !o.Soft && !sp.Soft && o.Key != sp.Key && o.Key != labelHostname {
			c.keys = append(c.keys, o.Key)
		}
	}
	slices.Sort(c.keys)
	if sp.Key == labelHostname {
		c.honorAffinity, c.honorTaints, c.keys = false, false, nil
	}
	if c.honorAffinity || c.honorTaints || len(c.keys) > 0 {
		c.filter = s
	}
	return c
}

func antiAffinityGroup(t *model.PodTerm) topologyGroup {
	return topologyGroup{key: t.Key, selectors: []*model.PodSelector{&t.Selector}}
}

// affinityGroup is what affinity term i of a pod counts: the scheduler looks for
// pods that all of its terms match.
func affinityGroup(s *model.PodSpec, i int) topologyGroup {
	c := topologyGroup{key: s.PodAffinity[i].Key}
	for j := range s.PodAffinity {
		c.selectors = append(c.selectors, &s.PodAffinity[j].Selector)
	}
	return c
}

// find is the number of a topology group like the one given.
func (t *topologyGroups) find(c *topologyGroup) (int32, bool) {
	t.buf = c.appendText(t.buf[:0])
	id, ok := t.ids[string(t.buf)]
	return id, ok
}

func (t *topologyGroups) add(c topologyGroup) {
	if _, ok := t.find(&c); ok {
		return
	}
	c.text, c.perHost = string(t.buf), c.key == labelHostname
	t.ids[c.text] = int32(len(t.groups))
	t.groups = append(t.groups, c)
}

// sort numbers the topology groups by their text, whatever the order of the pods.
func (t *topologyGroups) sort() {
	slices.SortFunc(t.groups, func(a, b topologyGroup) int { return strings.Compare(a.text, b.text) })
	for i := range t.groups {
		t.ids[t.groups[i].text] = int32(i)
	}
}

// index files the topology group under a label value that its selector asks for.
func (t *topologyGroups) index(c int32) {
	for _, s := range t.groups[c].selectors {
		for i := range s.Labels {
			if r := &s.Labels[i]; r.Operator == model.In && len(r.Values) == 1 {
				if t.byLabel == nil {
					t.byLabel = map[[2]string][]int32{}
				}
				at := [2]string{r.Key, r.Values[0]}
				t.byLabel[at] = append(t.byLabel[at], c)
				return
			}
		}
	}
	t.unindexed = append(t.unindexed, c)
}

// termsOf are the topology terms of a spec, nil when it has none.
func (t *topologyGroups) termsOf(snap *model.Snapshot, spec int32) *topologyTerms {
	if len(t.groups) == 0 {
		return nil
	}
	if !t.seen[spec] {
		t.seen[spec] = true
		t.bySpec[spec] = t.termsFor(&snap.Specs[spec], &t.required[spec])
	}
	return t.bySpec[spec]
}

func (t *topologyGroups) termsFor(s, base *model.PodSpec) *topologyTerms {
	out := &topologyTerms{}
	count := func(c int32) {
		if !t.groups[c].matches(s) {
			return
		}
		if t.groups[c].perHost {
			out.hostGroups = append(out.hostGroups, c)
		} else {
			out.domainGroups = append(out.domainGroups, c)
		}
	}
	for k, v := range s.Labels {
		for _, c := range t.byLabel[[2]string{k, v}] {
			count(c)
		}
	}
	for _, c := range t.unindexed {
		count(c)
	}
	slices.Sort(out.domainGroups)
	slices.Sort(out.hostGroups)
	t.rules(s, base, out)
	if len(out.domainRules)+len(out.hostRules)+len(out.domainGroups)+len(out.hostGroups) == 0 {
		return nil
	}
	return out
}

func (c *topologyGroup) matches(s *model.PodSpec) bool {
	for _, sel := range c.selectors {
		if !sel.Matches(s.Namespace, s.Labels) {
			return false
		}
	}
	return true
}

// rules lists the constraints of a spec that is to be placed. Those of pods
// that stay are not in force any more, but for their anti-affinity.
func (t *topologyGroups) rules(s, base *model.PodSpec, out *topologyTerms) {
	add := func(r rule, c topologyGroup) {
		id, ok := t.find(&c)
		if !ok {
			return
		}
		r.group = id
		if r.kind == antiAffinity && out.isCountedBy(id) || r.kind == affinity {
			r.max = 1
		}
		if t.groups[id].perHost {
			out.hostRules = append(out.hostRules, r)
		} else {
			out.domainRules = append(out.domainRules, r)
		}
	}
	for i := range s.Spread {
		sp := &s.Spread[i]
		r := rule{kind: hardSpread, max: max(1, sp.MaxSkew), minDomains: sp.MinDomains}
		if sp.Soft {
			r.kind = softSpread
		}
		if !sp.Soft || sp.Key != labelHostname && !t.ignorePreferences {
			add(r, spreadGroup(base, sp))
		}
	}
	for i := range t.preferredTerms(s.PreferredApart) {
		add(rule{kind: antiAffinity}, antiAffinityGroup(&s.PreferredApart[i].Term))
	}
	for i := range t.preferredTerms(s.PreferredPods) {
		add(rule{kind: affinity}, antiAffinityGroup(&s.PreferredPods[i].Term))
	}
	for i := range s.PodAntiAffinity {
		add(rule{kind: antiAffinity}, antiAffinityGroup(&s.PodAntiAffinity[i]))
	}
	for i := range s.PodAffinity {
		add(rule{kind: affinity}, affinityGroup(s, i))
	}
	byCensus := func(a, b rule) int { return slices.Compare(a.sortKey(), b.sortKey()) }
	slices.SortFunc(out.domainRules, byCensus)
	slices.SortFunc(out.hostRules, byCensus)
	out.domainRules, out.hostRules = slices.Compact(out.domainRules), slices.Compact(out.hostRules)
}

// preferredTerms are the terms, where they are to be respected.
func (t *topologyGroups) preferredTerms(terms []model.WeightedPodTerm) []model.WeightedPodTerm {
	if !t.respectPreferences {
		return nil
	}
	return terms
}

func (r *rule) sortKey() []int32 {
	return []int32{int32(r.kind), r.group, r.max, r.minDomains}
}

// appendKey writes the topology terms as part of a class's key.
func (t *topologyTerms) appendKey(b []byte) []byte {
	if t == nil {
		return b
	}
	for _, rules := range [][]rule{t.domainRules, t.hostRules} {
		for i := range rules {
			for _, n := range rules[i].sortKey() {
				b = strconv.AppendInt(append(b, ' '), int64(n), 36)
			}
		}
		b = append(b, '|')
	}
	for _, list := range [][]int32{t.domainGroups, t.hostGroups} {
		for _, n := range list {
			b = strconv.AppendInt(append(b, ' '), int64(n), 36)
		}
		b = append(b, '|')
	}
	return b
}
