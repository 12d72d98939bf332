package solver

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// pendingReasons are reasons that are still to be found.
type pendingReasons struct {
	cl      *class
	reasons []model.Reason
}

// explainAll finds the reasons of the pods without a place.
func (w *writer) explainAll() {
	for _, s := range w.pending {
		copy(s.reasons, w.explain(s.cl))
	}
	w.pending = nil
}

// unplaced lists the pods without a place, by class, with a reason for every
// pool, which explainAll finds. Pods of a class share their reasons.
func (w *writer) unplaced() []model.Unplaced {
	var out []model.Unplaced
	memo := map[string][]model.Reason{}
	for c := range w.p.classes {
		cl := &w.p.classes[c]
		pods := cl.pods[w.next[c]:]
		if len(pods) == 0 {
			continue
		}
		reasons := cl.reasons
		if len(reasons) == 0 {
			key := cl.key[:8*w.p.dims.n()] + cl.key[8*w.p.dims.n()+4:] // all but the priority
			if reasons = memo[key]; reasons == nil {
				reasons = make([]model.Reason, max(1, len(w.p.snap.Pools)))
				memo[key] = reasons
				w.pending = append(w.pending, pendingReasons{cl, reasons})
			}
		}
		for _, i := range pods {
			out = append(out, model.Unplaced{Pod: i, Reasons: reasons})
		}
	}
	return out
}

// explain says for every pool why it cannot take one more pod of the class.
func (w *writer) explain(cl *class) []model.Reason {
	pools := w.p.snap.Pools
	if len(pools) == 0 {
		return []model.Reason{{Code: model.NoPools, Message: "there is no NodePool"}}
	}
	order := ordered(len(pools), func(a, b int32) int {
		if o := cmp.Compare(pools[b].Weight, pools[a].Weight); o != 0 {
			return o
		}
		return cmp.Compare(pools[a].Name, pools[b].Name)
	})
	out := make([]model.Reason, 0, len(order))
	for _, i := range order {
		r := w.explainPool(cl, i)
		r.Pool = pools[i].Name
		out = append(out, r)
	}
	return out
}

func (w *writer) explainPool(cl *class, i int32) model.Reason {
	pool := &w.p.snap.Pools[i]
	if pool.NotReady != "" {
		return model.Reason{Code: model.PoolNotReady, Message: pool.NotReady}
	}
	if int(i) < len(w.p.in.Blocked) && w.p.in.Blocked[i] != nil {
		return *w.p.in.Blocked[i]
	}
	if !pool.Opens(cl.spec.Tolerations) {
		return model.Reason{Code: model.PoolNotReady, Message: "the NodePool is static (spec.replicas): no node is launched from it for pods"}
	}
	if t := constraint.Untolerated(cl.spec.Tolerations, pool.Taints); t != nil {
		return model.Reason{Code: model.TaintNotTolerated, Message: "taint " + taintText(t) + " is not tolerated"}
	}
	// Of the variants of a pool, the one that comes furthest says why.
	best, furthest := model.Reason{}, -1
	for l := range w.p.templates {
		if w.p.templates[l].pool != i {
			continue
		}
		s := offeringFilter{w: w, cl: cl, pool: pool, index: i, ln: &w.p.templates[l]}
		s.run()
		if at := s.selected + s.pooled + s.fit + s.available + s.ranked + s.allowed; at > furthest {
			best, furthest = s.reason(), at
		}
	}
	switch {
	case furthest < 0 && (pool.Catalog < 0 || int(pool.Catalog) >= len(w.p.snap.Catalogs)):
		return model.Reason{Code: model.PoolNotReady, Message: fmt.Sprintf("NodeClass %q offers no instance types", pool.NodeClass)}
	case furthest < 0:
		return model.Reason{Code: model.RequirementsConflict, Message: "the NodePool's requirements contradict each other"}
	}
	return best
}

// offeringFilter follows a class through everything that a pool's catalogue offers and
// counts how far the offerings come.
type offeringFilter struct {
	w     *writer
	cl    *class
	pool  *model.Pool
	index int32
	ln    *nodeTemplate

	selected, pooled, ports, fit, available, ranked, allowed int
	// largest is the most room seen for each resource in use.
	largest vec.Vector
	rank    *Effective
	denied  *model.Denied
	// cheapest is the cheapest offer that fits and may be launched.
	cheapest int32
}

func (s *offeringFilter) run() {
	p := s.w.p
	s.cheapest = -1
	cat := p.catalogue(s.pool.Catalog)
	typeOK, keyOK := p.poolChoice(s.ln, s.pool, cat)
	for _, t := range cat.types {
		for _, o := range cat.offerings[t] {
			if !constraint.Selects(s.cl.spec, s.labels(cat, t, o)) {
				continue
			}
			s.selected++
			if typeOK[t] && keyOK[cat.keys[t][o]] {
				s.pooled++
				s.offering(cat, t, o)
			}
		}
	}
}

// labels are those of a node launched as the offering.
func (s *offeringFilter) labels(cat *catalogue, t, o int32) func(string) (string, bool) {
	return func(key string) (string, bool) {
		if v, ok := s.ln.labels[key]; ok {
			return v, true
		}
		if v, present, ours := s.w.p.keys.keys[cat.keys[t][o]].value(key); ours {
			return v, present
		}
		return constraint.TypeLabel(&cat.src.Types[t], key)
	}
}

func (s *offeringFilter) offering(cat *catalogue, t, o int32) {
	p := s.w.p
	typ := &cat.src.Types[t]
	room, ports := p.roomOf(s, typ, s.labels(cat, t, o))
	if ports {
		s.ports++
		return
	}
	s.largest.Raise(&room)
	if !vec.Fits(&s.cl.req, &room, p.dims.n()) {
		return
	}
	s.fit++
	f := &typ.Offerings[o]
	if !f.Available {
		return
	}
	s.available++
	if e := p.effective(s.index, t, o); e != nil && e.Excluded {
		s.rank = e
		return
	}
	s.ranked++
	if d := p.denial(s.index, typ, f); d != nil {
		s.denied = d
		return
	}
	s.allowed++
	i, ok := s.w.offer(offerID{s.ln.from, t, o})
	if ok && s.w.a.b.reservationLeft(i) && (s.cheapest < 0 || p.offers[i].price < p.offers[s.cheapest].price) {
		s.cheapest = i
	}
}

// offerID is what there is one offer of: the first offer of its node template, and its type and
// offering in the catalogue.
type offerID struct{ from, typ, offering int32 }

// offer finds the number of an offer.
func (w *writer) offer(of offerID) (int32, bool) {
	if w.offersByID == nil {
		w.offersByID = make(map[offerID]int32, len(w.p.offers))
		for i := range w.p.offers {
			f := &w.p.offers[i]
			w.offersByID[offerID{w.p.templates[f.template].from, f.typ, f.offering}] = int32(i)
		}
	}
	i, ok := w.offersByID[of]
	return i, ok
}

// roomOf is what DaemonSets leave of a type, and whether one of them holds a
// host port of the class.
func (p *problem) roomOf(s *offeringFilter, typ *model.InstanceType, labels func(string) (string, bool)) (vec.Vector, bool) {
	room := p.dims.vector(typ.Allocatable)
	clash := false
	for i := range p.snap.Daemons {
		d := &p.snap.Daemons[i].Spec
		if constraint.Untolerated(d.Tolerations, s.pool.Taints) != nil || !constraint.Selects(d, labels) {
			continue
		}
		req := p.dims.requests(d.Requests)
		room.Add(&req, -1)
		clash = clash || constraint.PortsClash(d.HostPorts, s.cl.spec.HostPorts)
	}
	for r := range room {
		room[r] = max(0, room[r])
	}
	return room, clash
}

// reason is the first thing that stopped every offering.
func (s *offeringFilter) reason() model.Reason {
	switch {
	case s.selected == 0:
		return s.unselected()
	case s.pooled == 0:
		return model.Reason{
			Code:    model.RequirementsConflict,
			Message: "the NodePool's requirements exclude every offering that " + constraintText(s.cl.spec) + " allows",
		}
	case s.ports == s.pooled:
		return model.Reason{Code: model.RequirementsConflict, Message: "DaemonSets hold its host port " + constraint.PortText(s.cl.spec.HostPorts) + " on every node"}
	case s.fit == 0:
		return s.tooLarge()
	case s.available == 0:
		return model.Reason{
			Code:    model.NoCapacity,
			Message: fmt.Sprintf("all %d offerings that fit are sold out for now", s.fit),
		}
	case s.ranked == 0:
		return model.Reason{Code: model.RankExcluded, Policy: s.rank.Policy, Message: refused("policy "+s.rank.Policy+" drops every offering that fits", s.rank.Reason)}
	case s.allowed == 0:
		return model.Reason{Code: model.LaunchDenied, Policy: s.denied.Policy, Message: refused("policy "+s.denied.Policy+" denies the launch", s.denied.Reason)}
	}
	return s.bounded()
}

func refused(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// unselected tells a label that the pool lacks from a selector that nothing in
// the catalogue meets.
func (s *offeringFilter) unselected() model.Reason {
	if text := s.conflict(); text != "" {
		return model.Reason{Code: model.RequirementsConflict, Message: text}
	}
	return model.Reason{
		Code:    model.NoInstanceType,
		Message: "no instance type of NodeClass " + strconv.Quote(s.pool.NodeClass) + " meets " + constraintText(s.cl.spec),
	}
}

// conflict finds a requirement of the pod that the pool's own labels break.
func (s *offeringFilter) conflict() string {
	spec := s.cl.spec
	keys := make([]string, 0, len(spec.NodeSelector))
	for k := range spec.NodeSelector {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		r := model.Requirement{Key: k, Operator: model.In, Values: []string{spec.NodeSelector[k]}}
		if text := s.breaks(&r); text != "" {
			return text
		}
	}
	if len(spec.Affinity) != 1 {
		return ""
	}
	for i := range spec.Affinity[0] {
		if text := s.breaks(&spec.Affinity[0][i]); text != "" {
			return text
		}
	}
	return ""
}

// breaks says how the pool's labels break a requirement, "" when they do not.
func (s *offeringFilter) breaks(r *model.Requirement) string {
	value, ok := s.ln.labels[r.Key]
	switch {
	case r.Key == constraint.LabelHostname:
		if !r.Matches(value, true) {
			return "the pod asks for a node by name (" + requirementText(r) + ")"
		}
	case s.w.p.defines(s.pool, r.Key) && !s.offers(r):
		if required := s.required(r.Key); required != "" {
			return fmt.Sprintf("the pod asks for %s, the NodePool requires %s", requirementText(r), required)
		}
		return fmt.Sprintf("the pod asks for %s, the NodePool's nodes do not have that label", requirementText(r))
	case ok && !r.Matches(value, true):
		return fmt.Sprintf("the pod asks for %s, the NodePool's nodes have %s=%s", requirementText(r), r.Key, value)
	}
	return ""
}

// offers says whether a variant of the pool has a value that meets r.
func (s *offeringFilter) offers(r *model.Requirement) bool {
	mine := false
	for l := range s.w.p.templates {
		ln := &s.w.p.templates[l]
		if v, ok := ln.labels[r.Key]; ln.pool == s.index && r.Matches(v, ok) {
			mine = true
		}
	}
	return mine
}

// required writes the pool's requirements on a key.
func (s *offeringFilter) required(key string) string {
	var parts []string
	for i := range s.pool.Requirements {
		if r := &s.pool.Requirements[i]; r.Key == key {
			parts = append(parts, requirementText(r))
		}
	}
	return strings.Join(parts, " and ")
}

// tooLarge names the resource that no matching type has enough of.
func (s *offeringFilter) tooLarge() model.Reason {
	p := s.w.p
	for r, name := range p.dims.names {
		if s.cl.req[r] > s.largest[r] {
			msg := fmt.Sprintf("asks for %s, the largest matching instance type leaves %s to pods",
				amountText(name, s.cl.req[r]), amountText(name, s.largest[r]))
			if s.largest[r] == 0 {
				msg = "no matching instance type has " + name
			}
			return model.Reason{Code: model.TooLarge, Message: msg}
		}
	}
	return model.Reason{Code: model.TooLarge, Message: "no matching instance type has enough of all resources together"}
}

// bounded names the limit or ceiling that stops the cheapest offer that fits.
func (s *offeringFilter) bounded() model.Reason {
	if why := s.minValuesReason(); why != nil {
		return *why
	}
	if s.cheapest < 0 {
		return model.Reason{Code: model.NoCapacity, Message: "the capacity reservations that fit are used up"}
	}
	b := s.w.a.b
	f := &b.p.offers[s.cheapest]
	for i, l := range b.limits[s.index] {
		least, found := int64(math.MaxInt64), false
		for o := s.ln.from; o < s.ln.to; o++ {
			shape := &b.p.shapes[b.p.offers[o].shape]
			if b.p.choices.sets[s.cl.offers].Has(o) && vec.Fits(&s.cl.req, &shape.capacity, b.p.dims.n()) {
				least, found = min(least, shape.usage[i]), true
			}
		}
		if found && least > l.left {
			return model.Reason{Code: model.LimitReached, Message: fmt.Sprintf(
				"limit leaves %s, smallest fitting instance type has %s", amountText(l.name, max(0, l.left)), amountText(l.name, least))}
		}
	}
	if left, scope := b.left(s.index); scope >= 0 && f.price+b.p.fixedCost(f.template) > left {
		h := &b.p.in.Headroom[scope]
		key := &b.p.keys.keys[f.key]
		short := f.price + b.p.fixedCost(f.template) - max(0, left)
		return model.Reason{Code: model.CeilingReached, Policy: h.Policy, Scope: h.Scope, Short: short, Message: fmt.Sprintf(
			"cap %s on %s leaves %s $/h, cheapest fitting offering %s $/h%s (%s, %s, %s)",
			h.Policy, h.Scope, max(0, left), f.price, besides(b.p.fixedCost(f.template)), b.p.offerType(s.cheapest).Name, key.zone, key.capacityType)}
	}
	return model.Reason{Code: model.LimitReached, Message: "limits and headroom together leave no offering that fits"}
}

// besides says what a node costs on top of its instance.
func besides(extra model.Price) string {
	if extra == 0 {
		return ""
	}
	return " and " + extra.String() + " $/h for volumes and address"
}

// amountText writes an amount the way manifests do.
func amountText(name string, n int64) string {
	switch name {
	case model.CPU:
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) + " cpu"
	case model.Memory, model.EphemeralStorage:
		return strconv.FormatFloat(math.Round(float64(n)/(1<<30)*100)/100, 'f', -1, 64) + "Gi " + name
	case model.NodeCount:
		return strconv.FormatInt(n, 10) + " nodes"
	}
	return strconv.FormatInt(n, 10) + " " + name
}

func taintText(t *model.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// constraintText writes a pod's selector and affinity for people.
func constraintText(s *model.PodSpec) string {
	parts := make([]string, 0, len(s.NodeSelector))
	for k, v := range s.NodeSelector {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	terms := make([]string, len(s.Affinity))
	for i, term := range s.Affinity {
		each := make([]string, len(term))
		for j := range term {
			each[j] = requirementText(&term[j])
		}
		terms[i] = strings.Join(each, " and ")
	}
	slices.Sort(terms)
	if len(terms) > 0 {
		parts = append(parts, strings.Join(terms, " or "))
	}
	return strings.Join(parts, ", ")
}

func requirementText(r *model.Requirement) string {
	switch {
	case r.Operator == model.In && len(r.Values) == 1:
		return r.Key + "=" + r.Values[0]
	case len(r.Values) == 0:
		return r.Key + " " + string(r.Operator)
	}
	return r.Key + " " + string(r.Operator) + " [" + strings.Join(r.Values, ", ") + "]"
}
