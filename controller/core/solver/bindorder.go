package solver

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// Rules are kept one by one while pods get their places. Who is there first is
// another question where pods want each other near, by different keys: everyone
// waits for the next, and the scheduler binds none of them. So a plan is played
// through at the end, and made again without those who would wait for ever.

// maxReplans is how often a plan is made again before all pods that want others near
// are left out.
const maxReplans = 4

// neverBoundMessage is why a pod is left out then.
const neverBoundMessage = "the pods that it wants near wait for it themselves, or for others that find no place"

// planBindable plans until the scheduler would bind every pod that has a place.
func planBindable(in Input, plan func(*Input) outcome) outcome {
	all := len(in.Pods)
	var left []int32
	for round := 0; ; round++ {
		found := plan(&in)
		stuck := found.unbindable(&in)
		if len(stuck) == 0 {
			found.addUnplaced(in.Snapshot, left)
			found.stats.Pods = all
			return found
		}
		out := make([]bool, len(in.Snapshot.Pods))
		for _, i := range stuck {
			out[i] = true
		}
		rest := in.Pods[:0:0]
		for _, i := range in.Pods {
			if out[i] || round == maxReplans && len(in.spec(i).PodAffinity) > 0 {
				left = append(left, i)
			} else {
				rest = append(rest, i)
			}
		}
		in.Pods = rest
	}
}

func (in *Input) spec(pod int32) *model.PodSpec {
	return &in.Snapshot.Specs[in.Snapshot.Pods[pod].Spec]
}

// addUnplaced adds pods to those without a place.
func (o *outcome) addUnplaced(s *model.Snapshot, pods []int32) {
	slices.SortFunc(pods, func(a, b int32) int {
		x, y := &s.Pods[a], &s.Pods[b]
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name), cmp.Compare(a, b))
	})
	reasons := []model.Reason{{Code: model.PodAffinity, Message: neverBoundMessage}}
	for _, i := range pods {
		o.Unplaced = append(o.Unplaced, model.Unplaced{Pod: i, Reasons: reasons})
	}
}

// podGroup is the pods of a spec at a place: a host or, after them, a new node. Pods
// that run there already are not listed.
type podGroup struct {
	spec  int32
	place int
	pods  []int32
	// query is what they find, nil for those who run or want nobody near; matchesSelf says
	// that they are among those whom they look for.
	query       *affinityQuery
	matchesSelf bool
}

// affinityQuery is what pods find of those whom all of some terms select. Specs with the
// same terms share it.
type affinityQuery struct {
	terms []model.PodTerm
	// domains are, by term and place, where it is.
	domains [][]string
	// boundDomains are, by term, the domains that have a bound friend for sure, boundPlaces the
	// places that have one.
	boundDomains []map[string]bool
	boundPlaces  vec.Bits
	// anyBound says that a friend is bound somewhere, changedAt is the last turn in which one
	// was where there had been none.
	anyBound  bool
	changedAt int
}

// bindSimulation binds the pods of a plan as the scheduler would.
type bindSimulation struct {
	*outcome
	in      *Input
	places  int
	bySpec  map[int32]*affinityQuery
	queries map[string][]*affinityQuery // by a part of their terms
	// round counts the looks at those who wait.
	round int
	// queriesBySpec are by spec those who want its pods near.
	queriesBySpec [][]*affinityQuery
	// specsByLabels are the specs that there are pods of, by namespace and labels: who wants
	// one of them near wants all.
	specsByLabels [][]int32
	// domains are by key and place.
	domains map[string][]string
}

// ambiguousDomain is the domain of a node that may yet come to be in one or another, noDomain
// that of a node without the label. What is domainPrefix begins so.
const (
	noDomain        = ""
	ambiguousDomain = "?"
	domainPrefix    = "="
)

// unbindable are the pods with a place that would never be bound there.
func (o *outcome) unbindable(in *Input) []int32 {
	if !slices.ContainsFunc(in.Pods, func(i int32) bool { return len(in.spec(i).PodAffinity) > 0 }) {
		return nil
	}
	b := bindSimulation{
		outcome: o, in: in, places: len(o.hosts) + len(o.options), bySpec: map[int32]*affinityQuery{}, queries: map[string][]*affinityQuery{},
		queriesBySpec: make([][]*affinityQuery, len(in.Snapshot.Specs)), domains: map[string][]string{},
	}
	all := b.podGroups()
	b.specsByLabels = groupByLabels(in.Snapshot.Specs, all)
	var free, waiting []podGroup
	for i := range all {
		if x := &all[i]; len(x.pods) > 0 && len(in.Snapshot.Specs[x.spec].PodAffinity) > 0 {
			x.query = b.queryFor(x.spec)
			x.matchesSelf = slices.Contains(b.queriesBySpec[x.spec], x.query)
			waiting = append(waiting, *x)
		} else {
			free = append(free, *x)
		}
	}
	for i := range free {
		b.bind(&free[i])
	}
	for waiting = b.bindFollowers(waiting); len(waiting) > 0; waiting = b.bindFollowers(waiting) {
		first := slices.IndexFunc(waiting, func(x podGroup) bool { return x.mayBindFirst() })
		if first < 0 {
			break
		}
		b.bind(&waiting[first])
		waiting = slices.Delete(waiting, first, first+1)
	}
	var out []int32
	for i := range waiting {
		out = append(out, waiting[i].pods...)
	}
	return out
}

// podGroups are those that run somewhere, and those that the plan has places for.
func (b *bindSimulation) podGroups() []podGroup {
	s := b.in.Snapshot
	at := make([]int, len(s.Nodes))
	for i := range b.hosts {
		at[b.hosts[i].node] = i
	}
	var out []podGroup
	index := map[[3]int]int{}
	add := func(pod int32, place int, placed int) {
		key := [3]int{int(s.Pods[pod].Spec), place, placed}
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, podGroup{spec: s.Pods[pod].Spec, place: place})
		}
		if placed > 0 {
			out[i].pods = append(out[i].pods, pod)
		}
	}
	moving := make([]bool, len(s.Pods))
	for _, i := range b.in.Pods {
		moving[i] = true
	}
	for i := range s.Pods {
		if to := s.Pods[i].Node; !moving[i] && to >= 0 && int(to) < len(at) {
			add(int32(i), at[to], 0)
		}
	}
	for _, a := range b.Existing {
		for _, i := range a.Pods {
			add(i, at[a.Node], 1)
		}
	}
	for n := range b.Nodes {
		for _, i := range b.Nodes[n].Pods {
			add(i, len(b.hosts)+n, 1)
		}
	}
	return out
}

// groupByLabels groups the specs of gangs by namespace and labels.
func groupByLabels(specs []model.PodSpec, all []podGroup) (out [][]int32) {
	seen := make([]bool, len(specs))
	index := map[string]int{}
	var key []byte
	var names []string
	for i := range all {
		at := all[i].spec
		if seen[at] {
			continue
		}
		seen[at] = true
		key = append(append(key[:0], specs[at].Namespace...), 0)
		names = slices.AppendSeq(names[:0], maps.Keys(specs[at].Labels))
		slices.Sort(names)
		for _, name := range names {
			key = append(append(append(append(key, name...), 0), specs[at].Labels[name]...), 0)
		}
		k, ok := index[string(key)]
		if !ok {
			k = len(out)
			index[string(key)] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], at)
	}
	return out
}

// queryFor opens the account of a spec that wants others near, or finds that of others
// that want the same.
func (b *bindSimulation) queryFor(spec int32) *affinityQuery {
	if x := b.bySpec[spec]; x != nil {
		return x
	}
	terms := b.in.Snapshot.Specs[spec].PodAffinity
	var part []string
	for i := range terms {
		part = append(part, terms[i].Key)
		for j := range terms[i].Selector.Labels {
			part = append(append(part, terms[i].Selector.Labels[j].Key), terms[i].Selector.Labels[j].Values...)
		}
	}
	key := strings.Join(part, " ")
	same := b.queries[key]
	if i := slices.IndexFunc(same, func(x *affinityQuery) bool { return reflect.DeepEqual(x.terms, terms) }); i >= 0 {
		b.bySpec[spec] = same[i]
		return same[i]
	}
	x := b.newQuery(terms)
	b.bySpec[spec], b.queries[key] = x, append(same, x)
	return x
}

func (b *bindSimulation) newQuery(terms []model.PodTerm) *affinityQuery {
	x := &affinityQuery{terms: terms, boundPlaces: vec.NewBits(b.places), changedAt: -1}
	for i := range terms {
		x.boundDomains = append(x.boundDomains, map[string]bool{})
		x.domains = append(x.domains, b.domain(terms[i].Key))
	}
	for _, same := range b.specsByLabels {
		other := &b.in.Snapshot.Specs[same[0]]
		if slices.ContainsFunc(terms, func(t model.PodTerm) bool { return !t.Selector.Matches(other.Namespace, other.Labels) }) {
			continue
		}
		for _, i := range same {
			b.queriesBySpec[i] = append(b.queriesBySpec[i], x)
		}
	}
	return x
}

// bind notes that the pod group's pods run.
func (b *bindSimulation) bind(x *podGroup) {
	for _, y := range b.queriesBySpec[x.spec] {
		if y.boundPlaces.Has(int32(x.place)) {
			continue
		}
		y.boundPlaces.Set(int32(x.place))
		y.changedAt = b.round
		for i := range y.boundDomains {
			d := y.domains[i][x.place]
			y.anyBound = y.anyBound || d != noDomain
			if d != noDomain && d != ambiguousDomain {
				y.boundDomains[i][d] = true
			}
		}
	}
}

// bindFollowers binds everyone who finds a friend, as long as anyone does, and returns the
// others.
func (b *bindSimulation) bindFollowers(waiting []podGroup) []podGroup {
	for before := len(waiting) + 1; len(waiting) < before; {
		before = len(waiting)
		b.round++
		waiting = slices.DeleteFunc(waiting, func(x podGroup) bool {
			joins := x.query.changedAt >= b.round-1 && x.affinityMet()
			if joins {
				b.bind(&x)
			}
			return joins
		})
	}
	return waiting
}

// affinityMet says whether a friend is bound in the domain of every term, wherever new
// nodes come up.
func (x *podGroup) affinityMet() bool {
	y := x.query
	here := y.boundPlaces.Has(int32(x.place))
	for i := range y.boundDomains {
		if d := y.domains[i][x.place]; d == noDomain || !here && !y.boundDomains[i][d] {
			return false
		}
	}
	return true
}

// mayBindFirst says whether the pods may be the first of their kind: they are friends of
// their own, and there is none anywhere.
func (x *podGroup) mayBindFirst() bool {
	return x.matchesSelf && !x.query.anyBound && !slices.ContainsFunc(x.query.domains, func(of []string) bool { return of[x.place] == noDomain })
}

// domain are the values of a label by place.
func (b *bindSimulation) domain(key string) []string {
	all, ok := b.domains[key]
	if !ok {
		for i := range b.hosts {
			d := noDomain
			if v, ok := b.hosts[i].labels(key); ok {
				d = domainPrefix + v
			}
			all = append(all, d)
		}
		for n, options := range b.options {
			all = append(all, b.newNodeDomain(key, n, options))
		}
		b.domains[key] = all
	}
	return all
}

// newNodeDomain is the value of a label at a new node, with the offers that it may be.
func (b *bindSimulation) newNodeDomain(key string, n int, options []int32) string {
	if key == constraint.LabelHostname {
		return domainPrefix + strconv.Itoa(n) + " new"
	}
	out := noDomain
	for _, o := range options {
		v, ok := b.problem.offerLabel(o, key)
		switch {
		case !ok || out == domainPrefix+v:
		case out == noDomain:
			out = domainPrefix + v
		default:
			return ambiguousDomain
		}
	}
	return out
}
