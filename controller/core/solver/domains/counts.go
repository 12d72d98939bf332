package domains

import (
	"math"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// Counts holds the counts of pods by topology group and domain.
type Counts struct {
	// Certain counts the pods that are surely counted, Possible also those that may
	// be: the group may or may not count the node that a pod will run on.
	Certain, Possible [][]int32
	// Limit bounds Possible; it is 0 where a placed pod's anti-affinity excludes
	// others.
	Limit [][]int32
	// Dependents counts the certain pods that have affinity to the group themselves.
	// They cannot be the first in their domain while others are in another one.
	Dependents [][]int32
	// eligible marks the domains that a spread considers: those of hosts, and those where
	// a node may be launched for some pod. No node comes to the others, and the scheduler
	// knows no domain without a node.
	eligible [][]bool
	// FilterOffers are the offers that each group's filter admits, nil for all.
	FilterOffers []vec.Bits
	// launchable are the offers that a node may be launched as.
	launchable vec.Bits
}

// NewCounts counts the pods that stay where they are. launchable are the offers that a node
// may be launched as.
func NewCounts(s *Space, launchable vec.Bits) *Counts {
	p := s.p
	n := len(p.Topology.All)
	l := &Counts{
		Certain: make([][]int32, n), Possible: make([][]int32, n), Limit: make([][]int32, n),
		Dependents: make([][]int32, n), eligible: make([][]bool, n), FilterOffers: make([]vec.Bits, n), launchable: launchable,
	}
	usable := vec.NewBits(len(p.Supply.Offers))
	for c := range p.Classes {
		usable.Or(p.OffersOf(&p.Classes[c]))
	}
	usable.And(launchable)
	for i := range p.Topology.All {
		if !p.Topology.All[i].PerHost {
			l.openGroup(s, int32(i), usable)
		}
	}
	at := make([]int32, len(p.Snapshot.Nodes))
	for i := range at {
		at[i] = -1
	}
	for i := range s.hosts {
		at[s.hosts[i].Node] = int32(i)
	}
	moving := make([]bool, len(p.Snapshot.Pods))
	for _, i := range p.Pods {
		moving[i] = true
	}
	for i := range p.Snapshot.Pods {
		pod := &p.Snapshot.Pods[i]
		if moving[i] || pod.Node < 0 || int(pod.Node) >= len(at) || at[pod.Node] < 0 {
			continue
		}
		if t := p.Topology.Of(pod.Spec); t != nil {
			l.addResident(s, t, int(at[pod.Node]), pod)
		}
	}
	return l
}

// Clone returns a copy that may be changed.
func (l *Counts) Clone() *Counts {
	out := *l
	for _, table := range out.changing() {
		*table = slices.Clone(*table)
		for g := range *table {
			(*table)[g] = slices.Clone((*table)[g])
		}
	}
	return &out
}

// Reset sets the counts to those of from, which counts the same groups in the same domains.
func (l *Counts) Reset(from *Counts) {
	old := from.changing()
	for i, table := range l.changing() {
		for g := range *table {
			copy((*table)[g], (*old[i])[g])
		}
	}
}

// changing returns the tables that change while pods are placed.
func (l *Counts) changing() [4]*[][]int32 {
	return [...]*[][]int32{&l.Certain, &l.Possible, &l.Limit, &l.Dependents}
}

// openGroup prepares the counts of one topology group. usable are the offers that some pod
// may use.
func (l *Counts) openGroup(s *Space, i int32, usable vec.Bits) {
	c, k := &s.p.Topology.All[i], s.KeyOf(i)
	d := &s.Keys[k]
	n := len(d.Values)
	l.Certain[i], l.Possible[i], l.Limit[i], l.eligible[i] = make([]int32, n), make([]int32, n), make([]int32, n), make([]bool, n)
	l.Dependents[i] = make([]int32, n)
	for v := range l.Limit[i] {
		l.Limit[i][v] = math.MaxInt32
	}
	if c.Filter != nil {
		l.FilterOffers[i] = s.countedOffers(c)
	}
	for v := range d.Values {
		set := d.Offers[v].Clone()
		set.And(usable)
		if l.FilterOffers[i] != nil {
			set.And(l.FilterOffers[i])
		}
		l.eligible[i][v] = !set.Empty()
	}
	for h := range s.hosts {
		if v := s.ofHost[h][k]; v >= 0 && !l.eligible[i][v] && s.p.Counts(i, &s.hosts[h]) {
			l.eligible[i][v] = true
		}
	}
}

// addResident counts a pod that stays on its host. A pod that is being deleted may
// still be there when the plan is carried out, so it counts, except for spreads.
func (l *Counts) addResident(s *Space, t *constraint.Terms, host int, pod *model.Pod) {
	h := &s.hosts[host]
	for _, c := range t.DomainGroups {
		g := &s.p.Topology.All[c]
		if pod.Ending && g.ForSpread {
			continue
		}
		if v := s.ofHost[host][s.KeyOf(c)]; v >= 0 && s.p.Counts(c, h) {
			l.Possible[c][v]++
			if s.p.Snapshot.Nodes[h.Node].State != model.Deleting { // a node being deleted, and its pods, will soon be gone
				l.Certain[c][v]++
			}
		}
	}
	for i := range t.DomainRules {
		if r := &t.DomainRules[i]; r.Kind == constraint.AntiAffinity {
			if v := s.ofHost[host][s.KeyOf(r.Group)]; v >= 0 {
				l.Limit[r.Group][v] = 0
			}
		}
	}
}

// minimum returns the lowest count of any domain that the spread rule considers.
func (l *Counts) minimum(r *constraint.Rule) int32 {
	least, n := int32(math.MaxInt32), int32(0)
	for v, ok := range l.eligible[r.Group] {
		if ok {
			n++
			least = min(least, l.Certain[r.Group][v])
		}
	}
	if n == 0 || n < r.MinDomains {
		return 0
	}
	return least
}

// Satisfies reports whether the rule holds for a pod in domain v, with more pods
// that are still to be counted there.
func (l *Counts) Satisfies(r *constraint.Rule, v, more int32) bool {
	switch r.Kind {
	case constraint.HardSpread:
		return l.Possible[r.Group][v]+more-l.minimum(r) <= r.Max
	case constraint.AntiAffinity:
		return l.Possible[r.Group][v]+more <= r.Max
	case constraint.Affinity:
		return l.Certain[r.Group][v] > 0
	case constraint.SoftSpread:
	}
	return true
}

// CountsElsewhere reports whether the rule's topology group counts a pod in a domain
// other than v.
func (l *Counts) CountsElsewhere(r *constraint.Rule, v int32) bool {
	for w, n := range l.Possible[r.Group] {
		if int32(w) != v && n > 0 {
			return true
		}
	}
	return false
}

// unsupportedAffinity reports whether the affinity of the pods in domain v is
// satisfied only by pods with the same affinity, while matching pods exist
// elsewhere. The scheduler would then bind the first of them elsewhere.
func (l *Counts) unsupportedAffinity(r *constraint.Rule, v int32) bool {
	return r.Kind == constraint.Affinity && l.Certain[r.Group][v] == l.Dependents[r.Group][v] && l.CountsElsewhere(r, v)
}
