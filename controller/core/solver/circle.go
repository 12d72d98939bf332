package solver

import "slices"

// circle is what pods that want others on their own node find of them, when
// pods are placed in turn.
type circle struct {
	// n are all that there are, followers those of them that want somebody near
	// themselves: the scheduler may have to bind them later.
	n, followers int32
	// begun says that the first of them wanted its own kind, home is the host or,
	// after them, the node where it is.
	begun bool
	home  int32
}

// newCircles counts who is on the hosts.
func (t *turns) newCircles() {
	t.circles = make([]circle, len(t.keys))
	for i := range t.hosts {
		for _, y := range t.hosts[i].with.tallies {
			t.circles[y.census].n += y.n
		}
	}
}

// begins says whether a pod of the class may be the first of its kind: it wants
// only those on its node that count it, too, and there is none anywhere.
func (t *turns) begins(cl *class) bool {
	if cl.follows() == 0 {
		return false
	}
	for i := range cl.ties.local {
		if r := &cl.ties.local[i]; r.kind == near && (t.circles[r.census].n > 0 || !cl.ties.counts(r.census)) {
			return false
		}
	}
	return true
}

// strays says whether a pod of the class would be at a place where it takes their
// home from pods that began a kind without anybody who is sure to be bound there:
// the scheduler might bind it first, and would send them after it.
func (t *turns) strays(cl *class, at int32) bool {
	if cl.ties == nil {
		return false
	}
	for _, g := range cl.ties.localCounted {
		if c := &t.circles[g]; c.begun && c.n == c.followers && c.home != at {
			return true
		}
	}
	return false
}

// meet counts a pod that has a place.
func (t *turns) meet(cl *class, at int32) {
	if cl.ties == nil {
		return
	}
	wants := cl.follows() > 0 || slices.ContainsFunc(cl.ties.own, func(r rule) bool { return r.kind == near })
	for _, g := range cl.ties.localCounted {
		c := &t.circles[g]
		if c.n == 0 && slices.ContainsFunc(cl.ties.local, func(r rule) bool { return r.kind == near && r.census == g }) {
			c.begun, c.home = true, at
		}
		c.n++
		if wants {
			c.followers++
		}
	}
}

// house puts a pod on a host; one that begins its kind also where nobody is whom it
// wants.
func (t *turns) house(h *host, c int32, w *lure) bool {
	cl := &t.classes[c]
	if !w.begins {
		return t.host(h, c, 1) > 0
	}
	wants := cl.ties
	alone := *wants
	alone.local = slices.DeleteFunc(slices.Clone(wants.local), func(r rule) bool { return r.kind == near })
	cl.ties = &alone
	got := t.host(h, c, 1)
	cl.ties = wants
	return got > 0
}
