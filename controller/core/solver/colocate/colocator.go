package colocate

import (
	"slices"
	"sort"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// colocator decides which pods share a node. Each pod whose affinity on its own node
// is unmet joins a bundle that satisfies it; such pods are distributed evenly. If
// nothing satisfies the affinity anywhere and it selects the pod itself, one bundle
// is started with such a pod: the scheduler admits only the first one without a
// match, and the others must share its node.
type colocator struct {
	p     *problem.Problem
	hosts []problem.Host
	// affordable are the offers that one more node may be launched as.
	affordable vec.Bits
	classes    []problem.Class
	// unmet marks the classes of pods with unmet host affinity. unbundled counts
	// their pods without a bundle.
	unmet     []bool
	unbundled []int32
	bundles   []bundle
}

// Bundle returns the problem's classes, with one class of the pods of each bundle.
// affordable are the offers that one more node may be launched as.
func Bundle(p *problem.Problem, hosts []problem.Host, affordable vec.Bits, w *Unmet) []problem.Class {
	f := colocator{p: p, hosts: hosts, affordable: affordable}
	f.splitClasses(w)
	for c := range f.classes {
		cl := &f.classes[c]
		if !f.unmet[c] && len(cl.Reasons) == 0 && cl.NeedsOthersOnHost() == 0 && cl.Terms != nil && len(cl.Terms.HostGroups) > 0 {
			f.bundles = append(f.bundles, bundle{members: []problem.ClassCount{{Class: int32(c), N: 1}}, count: cl.N()})
		}
	}
	for f.joinRound() || f.startBundle() {
	}
	return problem.SortClasses(f.bundledClasses())
}

// splitClasses makes separate classes of the pods with unmet host affinity, and of
// those that were refused.
func (f *colocator) splitClasses(w *Unmet) {
	var out []problem.Class
	var unmet []bool
	for i := range f.p.Classes {
		cl := f.p.Classes[i]
		var others, alone []int32
		refused := map[*model.Reason][]int32{}
		var order []*model.Reason
		for _, pod := range cl.Pods {
			switch why := w.refused[pod]; {
			case len(why) > 0:
				if refused[&why[0]] == nil {
					order = append(order, &why[0])
				}
				refused[&why[0]] = append(refused[&why[0]], pod)
			case w.pods[pod]:
				alone = append(alone, pod)
			default:
				others = append(others, pod)
			}
		}
		add := func(pods []int32, note string, isUnmet bool) *problem.Class {
			next := cl
			next.Pods, next.Key = pods, cl.Key+note
			out, unmet = append(out, next), append(unmet, isUnmet)
			return &out[len(out)-1]
		}
		if len(others) > 0 {
			add(others, "", false)
		}
		if len(alone) > 0 {
			add(alone, " ~", true)
		}
		for _, first := range order {
			add(refused[first], " !", false).Reasons = w.refused[refused[first][0]]
		}
	}
	f.classes, f.unmet = out, unmet
	f.unbundled = make([]int32, len(out))
	for c := range out {
		if unmet[c] {
			f.unbundled[c] = out[c].N()
		}
	}
}

// hostAffinityGroups returns the topology groups that the class requires on its own
// node.
func hostAffinityGroups(c *problem.Class) []int32 {
	var out []int32
	for _, r := range c.Terms.HostRules {
		if r.Kind == constraint.Affinity {
			out = append(out, r.Group)
		}
	}
	return out
}

// joinRound adds pods with unmet host affinity to bundles and reports whether any
// was added.
func (f *colocator) joinRound() bool {
	joined := false
	for c, rest := range f.unbundled {
		if rest > 0 {
			f.joinBundles(int32(c))
			joined = joined || f.unbundled[c] < rest
		}
	}
	return joined
}

// joinBundles adds the unbundled pods of a class to the bundles that satisfy their
// affinity: an equal share to each first, then as many as fit.
func (f *colocator) joinBundles(c int32) {
	wants := hostAffinityGroups(&f.classes[c])
	var homes []int
	total := int32(0)
	for i := range f.bundles {
		if !slices.ContainsFunc(wants, func(g int32) bool { return f.bundleMultiplicity(&f.bundles[i], g) == 0 }) {
			homes, total = append(homes, i), total+f.bundles[i].count
		}
	}
	if total == 0 {
		return
	}
	share := (f.unbundled[c] + total - 1) / total
	for range 2 {
		for at := 0; at < len(homes) && f.unbundled[c] > 0; at++ {
			if split := f.addToBundle(homes[at], c, share); split >= 0 {
				homes = append(homes, split)
			}
		}
		share = f.unbundled[c]
	}
	if f.unbundled[c] > 0 {
		f.classes[c].NoBundleReason = "the pods that it wants on its own node leave no room for it there, on any node or instance type that suits all of them"
	}
}

// addToBundle adds up to share pods of a class to every group of a bundle. Groups
// for which no pods are left become a bundle of their own, whose index it returns;
// -1 for none.
func (f *colocator) addToBundle(i int, c, share int32) int {
	b := f.bundles[i]
	k := f.maxJoining(&b, c, min(share, f.unbundled[c]))
	if k == 0 {
		return -1
	}
	n := min(b.count, f.unbundled[c]/k)
	f.unbundled[c] -= n * k
	f.bundles[i] = b.with(c, k)
	f.bundles[i].count = n
	if n == b.count {
		return -1
	}
	b.count -= n
	f.bundles = append(f.bundles, b)
	return len(f.bundles) - 1
}

// maxJoining returns how many pods of a class, at most k, can join every group. One
// pod may also join when only limits and headroom stand against it, so that these
// become the reason why the group has no place.
func (f *colocator) maxJoining(b *bundle, c, k int32) int32 {
	one := b.with(c, 1)
	cl, ok := f.bundleClass(&one)
	switch {
	case !ok:
		return 0
	case !f.classFits(&cl, f.affordable):
		if f.classFits(&cl, nil) {
			return 1
		}
		return 0
	}
	return 1 + int32(sort.Search(int(k)-1, func(i int) bool {
		next := b.with(c, int32(i)+2)
		return !f.fitsSomewhere(&next, f.affordable)
	}))
}

// fitsSomewhere reports whether an existing node or one of the given offers, nil
// being all, has room for a group.
func (f *colocator) fitsSomewhere(b *bundle, offers vec.Bits) bool {
	cl, ok := f.bundleClass(b)
	return ok && f.classFits(&cl, offers)
}

// classFits is fitsSomewhere for the class of a bundle.
func (f *colocator) classFits(cl *problem.Class, offers vec.Bits) bool {
	set := f.p.OffersOf(cl)
	if offers != nil {
		set = set.Clone()
		set.And(offers)
	}
	if f.p.SomeFits(&cl.Requests, set) {
		return true
	}
	for i := range f.hosts {
		h := &f.hosts[i]
		if vec.Fits(&cl.Requests, &h.Free, f.p.Supply.Dims.N()) && h.Admits(cl) && !f.p.Ports.ConflictsWithAny(cl.Ports, h.Ports) && h.Counts.Allows(cl.Terms, 1) > 0 {
			return true
		}
	}
	return false
}

// startBundle starts a bundle with the first unbundled pod that may be the first to
// satisfy its own affinity. It reports whether there was one.
func (f *colocator) startBundle() bool {
	for c, rest := range f.unbundled {
		if rest == 0 || !f.mayBeFirst(int32(c)) {
			continue
		}
		if b := (bundle{members: []problem.ClassCount{{Class: int32(c), N: 1}}, count: 1}); f.fitsSomewhere(&b, nil) {
			f.unbundled[c]--
			f.bundles = append(f.bundles, b)
			return true
		}
	}
	return false
}

// mayBeFirst reports whether the class satisfies all of its own host affinity, and
// no other pod that satisfies it exists or is in a bundle.
func (f *colocator) mayBeFirst(c int32) bool {
	for _, g := range hostAffinityGroups(&f.classes[c]) {
		if f.classes[c].Terms.Multiplicity(g) == 0 {
			return false
		}
		for i := range f.hosts {
			if f.hosts[i].Counts.CountOf(g) > 0 {
				return false
			}
		}
		for i := range f.classes {
			cl := &f.classes[i]
			if begun := !f.unmet[i] || f.unbundled[i] < cl.N(); begun && len(cl.Reasons) == 0 && cl.Terms != nil && cl.Terms.Multiplicity(g) > 0 {
				return false
			}
		}
	}
	return true
}

// bundledClasses returns the classes of the bundles that contain pods with unmet host
// affinity, and of the pods that are in none of them.
func (f *colocator) bundledClasses() []problem.Class {
	next := make([]int, len(f.classes))
	var out []problem.Class
	for i := range f.bundles {
		b := &f.bundles[i]
		if !slices.ContainsFunc(b.members, func(t problem.ClassCount) bool { return f.unmet[t.Class] }) {
			continue
		}
		cl, _ := f.bundleClass(b)
		cl.Key = f.bundleKey(b, &cl)
		for range b.count {
			for _, t := range b.members {
				cl.Pods = append(cl.Pods, f.classes[t.Class].Pods[next[t.Class]:next[t.Class]+int(t.N)]...)
				next[t.Class] += int(t.N)
			}
		}
		out = append(out, cl)
	}
	for c := range f.classes {
		cl := f.classes[c]
		if cl.Pods = cl.Pods[next[c]:]; len(cl.Pods) > 0 {
			out = append(out, cl)
		}
	}
	return out
}
