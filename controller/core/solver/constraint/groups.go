package constraint

import (
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// Groups are the groups that the pods to place have rules about, or that
// exclude them by the anti-affinity of pods that stay. Groups are numbered in the
// order of their texts, so that numbers do not depend on the order of pods.
type Groups struct {
	All   []Group
	ids   map[string]int32
	specs []model.PodSpec
	// required are the specs without preferences.
	required []model.PodSpec
	// bySpec are the terms of the specs that were asked for (seen), nil where a
	// spec has none.
	bySpec []*Terms
	seen   []bool
	// byLabel lists groups by a label value that one of their selectors requires,
	// unindexed those without such a selector: a spec is matched against few.
	byLabel   map[[2]string][]int32
	unindexed []int32
	// ignorePreferences drops ScheduleAnyway spreads, respectPreferences treats
	// preferred pod terms like required ones.
	ignorePreferences, respectPreferences bool
	// buf holds the text of the group that is looked up.
	buf []byte
}

// NewGroups collects the groups of the pods to place, and those of the
// anti-affinity of pods that stay on their nodes, which the scheduler honors in
// both directions. pods index s.Pods. required are the specs of the snapshot
// without preferences; respectPreferences says that preferred pod affinity and
// anti-affinity count like required ones.
func NewGroups(s *model.Snapshot, pods []int32, required []model.PodSpec, respectPreferences bool) *Groups {
	t := &Groups{
		specs: s.Specs, required: required, respectPreferences: respectPreferences,
		ids: map[string]int32{}, byLabel: map[[2]string][]int32{}, ignorePreferences: s.Settings.IgnorePreferences,
		bySpec: make([]*Terms, len(s.Specs)), seen: make([]bool, len(s.Specs)),
	}
	collected := make([]bool, len(s.Specs))
	for _, i := range pods {
		at := s.Pods[i].Spec
		if !collected[at] {
			collected[at] = true
			t.collect(&s.Specs[at], &required[at])
		}
	}
	for i := range s.Pods {
		pod := &s.Pods[i]
		if spec := &s.Specs[pod.Spec]; pod.Node >= 0 && !collected[pod.Spec] && len(spec.PodAntiAffinity) > 0 {
			collected[pod.Spec] = true
			for j := range spec.PodAntiAffinity {
				t.add(antiAffinityGroup(&spec.PodAntiAffinity[j]))
			}
		}
	}
	t.sort()
	for i := range t.All {
		t.index(int32(i))
	}
	return t
}

// Clone returns the same groups, of which other rules may be packed (SelectPacked). The
// terms of specs are shared, and nobody changes them.
func (t *Groups) Clone() *Groups {
	out := *t
	out.All, out.buf = slices.Clone(t.All), nil
	return &out
}

// collect adds the groups of a spec's constraints. base is the spec without
// preferences, which do not narrow the nodes that a spread counts.
func (t *Groups) collect(s, base *model.PodSpec) {
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
	for i := range t.preferredTerms(s.PreferredApart) {
		t.add(antiAffinityGroup(&s.PreferredApart[i].Term))
	}
	for i := range t.preferredTerms(s.PreferredPods) {
		t.add(antiAffinityGroup(&s.PreferredPods[i].Term))
	}
}

// preferredTerms are the terms when they are to be respected, nil otherwise.
func (t *Groups) preferredTerms(terms []model.WeightedPodTerm) []model.WeightedPodTerm {
	if !t.respectPreferences {
		return nil
	}
	return terms
}

// find is the number of the group that equals the one given.
func (t *Groups) find(g *Group) (int32, bool) {
	t.buf = g.appendText(t.buf[:0])
	id, ok := t.ids[string(t.buf)]
	return id, ok
}

func (t *Groups) add(g Group) {
	if _, ok := t.find(&g); ok {
		return
	}
	g.text, g.PerHost = string(t.buf), g.Key == LabelHostname
	t.ids[g.text] = int32(len(t.All))
	t.All = append(t.All, g)
}

// sort numbers the groups by their texts.
func (t *Groups) sort() {
	slices.SortFunc(t.All, func(a, b Group) int { return strings.Compare(a.text, b.text) })
	for i := range t.All {
		t.ids[t.All[i].text] = int32(i)
	}
}

// index files a group under the first label value that a selector requires.
func (t *Groups) index(group int32) {
	for _, s := range t.All[group].selectors {
		for i := range s.Labels {
			if r := &s.Labels[i]; r.Operator == model.In && len(r.Values) == 1 {
				at := [2]string{r.Key, r.Values[0]}
				t.byLabel[at] = append(t.byLabel[at], group)
				return
			}
		}
	}
	t.unindexed = append(t.unindexed, group)
}

// Of are the terms of the spec with a number, nil when it has none.
func (t *Groups) Of(spec int32) *Terms {
	if len(t.All) == 0 {
		return nil
	}
	if !t.seen[spec] {
		t.seen[spec] = true
		t.bySpec[spec] = t.termsFor(&t.specs[spec], &t.required[spec])
	}
	return t.bySpec[spec]
}

func (t *Groups) termsFor(s, base *model.PodSpec) *Terms {
	out := &Terms{}
	count := func(g int32) {
		switch {
		case !t.All[g].matches(s):
		case t.All[g].PerHost:
			out.HostGroups = append(out.HostGroups, g)
		default:
			out.DomainGroups = append(out.DomainGroups, g)
		}
	}
	for k, v := range s.Labels {
		for _, g := range t.byLabel[[2]string{k, v}] {
			count(g)
		}
	}
	for _, g := range t.unindexed {
		count(g)
	}
	slices.Sort(out.DomainGroups)
	slices.Sort(out.HostGroups)
	t.addRules(s, base, out)
	if len(out.DomainRules)+len(out.HostRules)+len(out.DomainGroups)+len(out.HostGroups) == 0 {
		return nil
	}
	return out
}

// addRules adds the rules of a spec whose groups are counted in out already. Of a
// spec without pods to place only anti-affinity has groups here.
func (t *Groups) addRules(s, base *model.PodSpec, out *Terms) {
	add := func(r Rule, g Group) {
		id, ok := t.find(&g)
		if !ok {
			return
		}
		r.Group = id
		if r.Kind == AntiAffinity && out.IsCountedBy(id) || r.Kind == Affinity {
			r.Max = 1
		}
		if t.All[id].PerHost {
			out.HostRules = append(out.HostRules, r)
		} else {
			out.DomainRules = append(out.DomainRules, r)
		}
	}
	for i := range s.Spread {
		sp := &s.Spread[i]
		r := Rule{Kind: HardSpread, Max: max(1, sp.MaxSkew), MinDomains: sp.MinDomains}
		if sp.Soft {
			r.Kind = SoftSpread
		}
		if !sp.Soft || sp.Key != LabelHostname && !t.ignorePreferences {
			add(r, spreadGroup(base, sp))
		}
	}
	for i := range t.preferredTerms(s.PreferredApart) {
		add(Rule{Kind: AntiAffinity}, antiAffinityGroup(&s.PreferredApart[i].Term))
	}
	for i := range t.preferredTerms(s.PreferredPods) {
		add(Rule{Kind: Affinity}, antiAffinityGroup(&s.PreferredPods[i].Term))
	}
	for i := range s.PodAntiAffinity {
		add(Rule{Kind: AntiAffinity}, antiAffinityGroup(&s.PodAntiAffinity[i]))
	}
	for i := range s.PodAffinity {
		add(Rule{Kind: Affinity}, affinityGroup(s, i))
	}
	sortRules(&out.DomainRules)
	sortRules(&out.HostRules)
}
