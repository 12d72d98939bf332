package solver

import (
	"cmp"
	"slices"
	"strconv"

	"spokeshave.dev/controller/model"
)

// Rules are kept one by one while pods get their places. Who is there first is
// another question where pods want each other near, by different keys: everyone
// waits for the next, and the scheduler binds none of them. So a plan is played
// through at the end, and made again without those who would wait for ever.

// maxPlayed is how often a plan is made again before all pods that want others near
// are left out.
const maxPlayed = 4

// waitsForEver is why a pod is left out then.
const waitsForEver = "the pods that it wants near wait for it themselves, or for others that find no place"

// bindable plans until the scheduler would bind every pod that has a place.
func bindable(in Input, plan func(*Input) outcome) outcome {
	all := len(in.Pods)
	var left []int32
	for round := 0; ; round++ {
		found := plan(&in)
		stuck := found.stuck(&in)
		if len(stuck) == 0 {
			found.leave(in.Snapshot, left)
			found.stats.Pods = all
			return found
		}
		out := make([]bool, len(in.Snapshot.Pods))
		for _, i := range stuck {
			out[i] = true
		}
		rest := in.Pods[:0:0]
		for _, i := range in.Pods {
			if out[i] || round == maxPlayed && len(in.spec(i).PodAffinity) > 0 {
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

// leave adds pods to those without a place.
func (o *outcome) leave(s *model.Snapshot, pods []int32) {
	slices.SortFunc(pods, func(a, b int32) int {
		x, y := &s.Pods[a], &s.Pods[b]
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name), cmp.Compare(a, b))
	})
	reasons := []model.Reason{{Code: model.PodAffinity, Message: waitsForEver}}
	for _, i := range pods {
		o.Unplaced = append(o.Unplaced, model.Unplaced{Pod: i, Reasons: reasons})
	}
}

// gang is the pods of a spec at a place: a host or, after them, a new node. Pods
// that run there already are not listed.
type gang struct {
	spec  int32
	place int
	pods  []int32
	// by is what they find, nil for those who run or want nobody near.
	by *seeker
}

// seeker is what pods of one spec find of those whom all of their terms select.
type seeker struct {
	spec *model.PodSpec
	// self says that its own pods are among them.
	self bool
	// near are, by term, the domains that have a bound friend for sure, here the
	// places that have one.
	near []map[string]bool
	here map[int]bool
	// met says that a friend is bound somewhere, news is the last turn in which one was.
	met  bool
	news int
}

// binding binds the pods of a plan as the scheduler would.
type binding struct {
	*outcome
	in     *Input
	bySpec map[int32]*seeker
	// turn counts the looks at those who wait.
	turn int
	// admirers are by spec those who want its pods near.
	admirers [][]*seeker
	// domains are by key and place.
	domains map[string][]string
}

// unsure is the domain of a node that may yet come to be in one or another, nowhere
// that of a node without the label. What is known begins so.
const (
	nowhere = ""
	unsure  = "?"
	known   = "="
)

// stuck are the pods with a place that would never be bound there.
func (o *outcome) stuck(in *Input) []int32 {
	if !slices.ContainsFunc(in.Pods, func(i int32) bool { return len(in.spec(i).PodAffinity) > 0 }) {
		return nil
	}
	b := binding{outcome: o, in: in, bySpec: map[int32]*seeker{}, admirers: make([][]*seeker, len(in.Snapshot.Specs)), domains: map[string][]string{}}
	all := b.gangs()
	var free, waiting []gang
	for i := range all {
		if x := &all[i]; len(x.pods) > 0 && len(in.Snapshot.Specs[x.spec].PodAffinity) > 0 {
			x.by = b.seek(x.spec, all)
			waiting = append(waiting, *x)
		} else {
			free = append(free, *x)
		}
	}
	for i := range free {
		b.bind(&free[i])
	}
	for waiting = b.follow(waiting); len(waiting) > 0; waiting = b.follow(waiting) {
		first := slices.IndexFunc(waiting, func(x gang) bool { return b.begins(&x) })
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

// gangs are those that run somewhere, and those that the plan has places for.
func (b *binding) gangs() []gang {
	s := b.in.Snapshot
	at := make([]int, len(s.Nodes))
	for i := range b.hosts {
		at[b.hosts[i].node] = i
	}
	var out []gang
	index := map[[3]int]int{}
	add := func(pod int32, place int, placed int) {
		key := [3]int{int(s.Pods[pod].Spec), place, placed}
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, gang{spec: s.Pods[pod].Spec, place: place})
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

// seek opens the account of a spec that wants others near.
func (b *binding) seek(spec int32, all []gang) *seeker {
	if x := b.bySpec[spec]; x != nil {
		return x
	}
	s := b.in.Snapshot
	x := &seeker{spec: &s.Specs[spec], here: map[int]bool{}, news: -1}
	wants := func(other *model.PodSpec) bool {
		return !slices.ContainsFunc(x.spec.PodAffinity, func(t model.PodTerm) bool { return !t.Selector.Matches(other.Namespace, other.Labels) })
	}
	seen := make([]bool, len(s.Specs))
	for i := range all {
		if at := all[i].spec; !seen[at] {
			if seen[at] = true; wants(&s.Specs[at]) {
				b.admirers[at] = append(b.admirers[at], x)
			}
		}
	}
	x.self = slices.Contains(b.admirers[spec], x)
	for range x.spec.PodAffinity {
		x.near = append(x.near, map[string]bool{})
	}
	b.bySpec[spec] = x
	return x
}

// bind notes that the gang's pods run.
func (b *binding) bind(x *gang) {
	for _, y := range b.admirers[x.spec] {
		y.here[x.place], y.news = true, b.turn
		for i := range y.near {
			d := b.domain(y.spec.PodAffinity[i].Key, x.place)
			y.met = y.met || d != nowhere
			y.near[i][d] = d != nowhere && d != unsure
		}
	}
}

// follow binds everyone who finds a friend, as long as anyone does, and returns the
// others.
func (b *binding) follow(waiting []gang) []gang {
	for before := len(waiting) + 1; len(waiting) < before; {
		before = len(waiting)
		b.turn++
		waiting = slices.DeleteFunc(waiting, func(x gang) bool {
			joins := x.by.news >= b.turn-1 && b.joins(&x)
			if joins {
				b.bind(&x)
			}
			return joins
		})
	}
	return waiting
}

// joins says whether a friend is bound in the domain of every term, wherever new
// nodes come up.
func (b *binding) joins(x *gang) bool {
	y := x.by
	for i := range y.near {
		if d := b.domain(y.spec.PodAffinity[i].Key, x.place); d == nowhere || !y.here[x.place] && !y.near[i][d] {
			return false
		}
	}
	return true
}

// begins says whether the pods may be the first of their kind: they are friends of
// their own, and there is none anywhere.
func (b *binding) begins(x *gang) bool {
	y := x.by
	return y.self && !y.met && !slices.ContainsFunc(y.spec.PodAffinity, func(t model.PodTerm) bool { return b.domain(t.Key, x.place) == nowhere })
}

// domain is the value of a label at a place.
func (b *binding) domain(key string, place int) string {
	all, ok := b.domains[key]
	if !ok {
		for i := range b.hosts {
			d := nowhere
			if v, ok := b.hosts[i].labels(key); ok {
				d = known + v
			}
			all = append(all, d)
		}
		for n, options := range b.options {
			all = append(all, b.coming(key, n, options))
		}
		b.domains[key] = all
	}
	return all[place]
}

// coming is the value of a label at a new node, with the offers that it may be.
func (b *binding) coming(key string, n int, options []int32) string {
	if key == labelHostname {
		return known + strconv.Itoa(n) + " new"
	}
	out := nowhere
	for _, o := range options {
		v, ok := b.of.offerLabel(o, key)
		switch {
		case !ok || out == known+v:
		case out == nowhere:
			out = known + v
		default:
			return unsure
		}
	}
	return out
}
