package solver

import (
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// census is a number of pods that topology constraints count, by the values of
// a node label: those that all selectors match, on nodes that the filter lets
// through.
type census struct {
	key       string
	selectors []*model.PodSelector
	// text identifies the census and orders it.
	text string
	// local says that every node is a domain of its own (hostname). Such a
	// census is kept node by node while nodes are filled, all others are
	// settled before.
	local bool
	// filter is a spec whose constraints say which nodes count; nil counts
	// all. affinity and taints say which of them matter.
	filter           *model.PodSpec
	affinity, taints bool
	// keys are labels that a node must have besides to count.
	keys []string
	// spread says that pods are spread over it; such a census does not count
	// those that are ending.
	spread bool
	// hard says that packing has to know the rules of a local census, and not
	// only the dealing of pods to nodes.
	hard bool
}

// ruleKind is what a rule asks of the count in the pod's own domain.
type ruleKind uint8

const (
	// spreads: at most max more than the least count of any domain.
	spreads ruleKind = iota
	// apart: nobody else.
	apart
	// near: somebody, or nobody anywhere and the pod itself is counted.
	near
	// evenly: as spreads, but as a preference.
	evenly
)

// rule is a topology constraint of a pod.
type rule struct {
	kind       ruleKind
	census     int32
	max        int32
	minDomains int32
}

// ties are what topology asks of a pod, and who counts it.
type ties struct {
	// own are the pod's rules, local those on single nodes, which hold as long
	// as the node counts no more than their max.
	own, local []rule
	// counted are the censuses that count the pod, localCounted those of
	// single nodes, sorted. A bundle is counted once for each of its pods.
	counted, localCounted []int32
}

// counts says whether the pod is counted in its own domain.
func (t *ties) counts(c int32) bool {
	_, ok := slices.BinarySearch(t.counted, c)
	if !ok {
		_, ok = slices.BinarySearch(t.localCounted, c)
	}
	return ok
}

// times is how often the pod, or the bundle, is counted in its own domain.
func (t *ties) times(c int32) int32 {
	if at, ok := slices.BinarySearch(t.counted, c); ok {
		return times(t.counted[at:])
	}
	if at, ok := slices.BinarySearch(t.localCounted, c); ok {
		return times(t.localCounted[at:])
	}
	return 0
}

// times is how often the first number of a sorted list is in it.
func times(list []int32) int32 {
	n := int32(1)
	for int(n) < len(list) && list[n] == list[0] {
		n++
	}
	return n
}

// topology numbers the censuses that matter to the pods to be placed.
type topology struct {
	censuses []census
	ids      map[string]int32
	// bySpec are the ties of every spec looked at, nil where it has none.
	bySpec []*ties
	seen   []bool
	// byLabel lists the censuses whose selector asks for one value of a label,
	// others are the rest.
	byLabel map[[2]string][]int32
	others  []int32
	// required are the specs without what is only preferred.
	required []model.PodSpec
	// ignore says that preferences are not looked at.
	ignore bool
	// buf is where texts are written that may be known.
	buf []byte
	// wishing says that pod terms which are only preferred count like others.
	wishing bool
}

// newTopology collects the constraints of the pods to place, and the
// anti-affinity of pods that stay where they are, which works both ways.
func (p *problem) newTopology(required []model.PodSpec) {
	t := &p.topo
	t.required, t.wishing = required, p.in.wishing
	t.ids, t.ignore = map[string]int32{}, p.snap.Settings.IgnorePreferences
	t.bySpec, t.seen = make([]*ties, len(p.snap.Specs)), make([]bool, len(p.snap.Specs))
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
				t.add(apartCensus(&spec.PodAntiAffinity[j]))
			}
		}
	}
	t.sort()
	for i := range t.censuses {
		t.index(int32(i))
	}
}

// collect adds what a pod's constraints count. base is the spec without what it
// only prefers: preferences do not narrow what a spread looks at.
func (t *topology) collect(s, base *model.PodSpec) {
	for i := range s.Spread {
		if s.Spread[i].Soft && t.ignore {
			continue
		}
		t.add(spreadCensus(base, &s.Spread[i]))
	}
	for i := range s.PodAntiAffinity {
		t.add(apartCensus(&s.PodAntiAffinity[i]))
	}
	for i := range s.PodAffinity {
		t.add(nearCensus(s, i))
	}
	if !t.wishing {
		return
	}
	for i := range s.PreferredApart {
		t.add(apartCensus(&s.PreferredApart[i].Term))
	}
	for i := range s.PreferredPods {
		t.add(apartCensus(&s.PreferredPods[i].Term))
	}
}

// spreadCensus is what a spread constraint counts. On single nodes only the
// pod's own node is looked at, which the filter lets through.
func spreadCensus(s *model.PodSpec, sp *model.Spread) census {
	if s.Pinned { // volumes do not say which nodes count
		own := *s
		own.Affinity = s.OwnAffinity
		s = &own
	}
	c := census{key: sp.Key, selectors: []*model.PodSelector{&sp.Selector}, spread: true}
	c.affinity = !sp.IgnoreAffinity && (len(s.NodeSelector) > 0 || len(s.Affinity) > 0)
	c.taints = sp.HonorTaints
	for i := range s.Spread { // the scheduler wants the keys of all of them
		if o := &s.Spread[i]; !o.Soft && !sp.Soft && o.Key != sp.Key && o.Key != labelHostname {
			c.keys = append(c.keys, o.Key)
		}
	}
	slices.Sort(c.keys)
	if sp.Key == labelHostname {
		c.affinity, c.taints, c.keys = false, false, nil
	}
	if c.affinity || c.taints || len(c.keys) > 0 {
		c.filter = s
	}
	return c
}

func apartCensus(t *model.PodTerm) census {
	return census{key: t.Key, selectors: []*model.PodSelector{&t.Selector}}
}

// nearCensus is what affinity term i of a pod counts: the scheduler looks for
// pods that all of its terms match.
func nearCensus(s *model.PodSpec, i int) census {
	c := census{key: s.PodAffinity[i].Key}
	for j := range s.PodAffinity {
		c.selectors = append(c.selectors, &s.PodAffinity[j].Selector)
	}
	return c
}

// find is the number of a census like the one given.
func (t *topology) find(c *census) (int32, bool) {
	t.buf = c.appendText(t.buf[:0])
	id, ok := t.ids[string(t.buf)]
	return id, ok
}

func (t *topology) add(c census) {
	if _, ok := t.find(&c); ok {
		return
	}
	c.text, c.local = string(t.buf), c.key == labelHostname
	t.ids[c.text] = int32(len(t.censuses))
	t.censuses = append(t.censuses, c)
}

// sort numbers the censuses by their text, whatever the order of the pods.
func (t *topology) sort() {
	slices.SortFunc(t.censuses, func(a, b census) int { return strings.Compare(a.text, b.text) })
	for i := range t.censuses {
		t.ids[t.censuses[i].text] = int32(i)
	}
}

// index files the census under a label value that its selector asks for.
func (t *topology) index(c int32) {
	for _, s := range t.censuses[c].selectors {
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
	t.others = append(t.others, c)
}

// of are the ties of a spec, nil when it has none.
func (t *topology) of(snap *model.Snapshot, spec int32) *ties {
	if len(t.censuses) == 0 {
		return nil
	}
	if !t.seen[spec] {
		t.seen[spec] = true
		t.bySpec[spec] = t.tie(&snap.Specs[spec], &t.required[spec])
	}
	return t.bySpec[spec]
}

func (t *topology) tie(s, base *model.PodSpec) *ties {
	out := &ties{}
	count := func(c int32) {
		if !t.censuses[c].matches(s) {
			return
		}
		if t.censuses[c].local {
			out.localCounted = append(out.localCounted, c)
		} else {
			out.counted = append(out.counted, c)
		}
	}
	for k, v := range s.Labels {
		for _, c := range t.byLabel[[2]string{k, v}] {
			count(c)
		}
	}
	for _, c := range t.others {
		count(c)
	}
	slices.Sort(out.counted)
	slices.Sort(out.localCounted)
	t.rules(s, base, out)
	if len(out.own)+len(out.local)+len(out.counted)+len(out.localCounted) == 0 {
		return nil
	}
	return out
}

func (c *census) matches(s *model.PodSpec) bool {
	for _, sel := range c.selectors {
		if !sel.Matches(s.Namespace, s.Labels) {
			return false
		}
	}
	return true
}

// rules lists the constraints of a spec that is to be placed. Those of pods
// that stay are not in force any more, but for their anti-affinity.
func (t *topology) rules(s, base *model.PodSpec, out *ties) {
	add := func(r rule, c census) {
		id, ok := t.find(&c)
		if !ok {
			return
		}
		r.census = id
		if r.kind == apart && out.counts(id) || r.kind == near {
			r.max = 1
		}
		if t.censuses[id].local {
			out.local = append(out.local, r)
		} else {
			out.own = append(out.own, r)
		}
	}
	for i := range s.Spread {
		sp := &s.Spread[i]
		r := rule{kind: spreads, max: max(1, sp.MaxSkew), minDomains: sp.MinDomains}
		if sp.Soft {
			r.kind = evenly
		}
		if !sp.Soft || sp.Key != labelHostname && !t.ignore {
			add(r, spreadCensus(base, sp))
		}
	}
	for i := range t.preferred(s.PreferredApart) {
		add(rule{kind: apart}, apartCensus(&s.PreferredApart[i].Term))
	}
	for i := range t.preferred(s.PreferredPods) {
		add(rule{kind: near}, apartCensus(&s.PreferredPods[i].Term))
	}
	for i := range s.PodAntiAffinity {
		add(rule{kind: apart}, apartCensus(&s.PodAntiAffinity[i]))
	}
	for i := range s.PodAffinity {
		add(rule{kind: near}, nearCensus(s, i))
	}
	byCensus := func(a, b rule) int { return slices.Compare(a.numbers(), b.numbers()) }
	slices.SortFunc(out.own, byCensus)
	slices.SortFunc(out.local, byCensus)
	out.own, out.local = slices.Compact(out.own), slices.Compact(out.local)
}

// preferred are the terms, where they are to be respected.
func (t *topology) preferred(terms []model.WeightedPodTerm) []model.WeightedPodTerm {
	if !t.wishing {
		return nil
	}
	return terms
}

func (r *rule) numbers() []int32 {
	return []int32{int32(r.kind), r.census, r.max, r.minDomains}
}

// key writes the ties as part of a class's key.
func (t *ties) key(b []byte) []byte {
	if t == nil {
		return b
	}
	for _, rules := range [][]rule{t.own, t.local} {
		for i := range rules {
			for _, n := range rules[i].numbers() {
				b = strconv.AppendInt(append(b, ' '), int64(n), 36)
			}
		}
		b = append(b, '|')
	}
	for _, list := range [][]int32{t.counted, t.localCounted} {
		for _, n := range list {
			b = strconv.AppendInt(append(b, ' '), int64(n), 36)
		}
		b = append(b, '|')
	}
	return b
}
