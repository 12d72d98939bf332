package solver

import (
	"cmp"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// host is a node that exists or is in flight, with its free capacity.
type host struct {
	node   int32
	free   vec.Vector
	ports  []int32
	taints []model.Taint
	labels func(string) (string, bool)
	placed []classCount
	// counts are the pods on the node by topology group.
	counts constraint.NodeCounts
}

// classCount is a number of pods of a class.
type classCount struct{ class, n int32 }

// countsOf returns the node counts of the given pods.
func (p *problem) countsOf(takes []classCount) constraint.NodeCounts {
	var y constraint.NodeCounts
	for _, t := range takes {
		y.Add(p.classes[t.class].terms, t.n)
	}
	return y
}

// hosts returns the nodes that may take pods: initialized ones first, then those
// that are still being launched, each sorted by name. Nodes that are being deleted
// have no free capacity but are included, since their pods still count.
func (p *problem) hosts() []host {
	nodes := p.snap.Nodes
	order := vec.Ordered(len(nodes), func(a, b int32) int {
		if o := cmp.Compare(stateOrder(nodes[a].State), stateOrder(nodes[b].State)); o != 0 {
			return o
		}
		return cmp.Compare(nodes[a].Name, nodes[b].Name)
	})
	out := make([]host, 0, len(nodes))
	at := make([]int32, len(nodes))
	for _, i := range order {
		n := &nodes[i]
		at[i] = -1
		at[i] = int32(len(out))
		out = append(out, host{
			node: i, free: p.supply.Dims.Vector(n.Allocatable),
			taints: constraint.PermanentTaints(n, p.snap.Pools), labels: p.nodeLabels(n),
		})
	}
	p.occupy(out, at)
	return out
}

func stateOrder(s model.NodeState) int {
	switch s {
	case model.Initialized, model.Unmanaged:
		return 0
	case model.Registered:
		return 1
	case model.InFlight, model.Deleting:
		return 2
	}
	return 3
}

// occupy deducts the requests of the pods on the hosts, and of the DaemonSet pods
// that will run there.
func (p *problem) occupy(hosts []host, at []int32) {
	moving := make([]bool, len(p.snap.Pods))
	for _, i := range p.in.Pods {
		moving[i] = true
	}
	daemons := make([][]int32, len(hosts))
	weights := make([]*podUsage, len(p.snap.Specs))
	for i := range p.snap.Pods {
		pod := &p.snap.Pods[i]
		if moving[i] || pod.Node < 0 || int(pod.Node) >= len(at) || at[pod.Node] < 0 {
			continue
		}
		h := &hosts[at[pod.Node]]
		w := weights[pod.Spec]
		if w == nil {
			w = p.usageOf(&p.snap.Specs[pod.Spec])
			weights[pod.Spec] = w
		}
		h.occupy(w)
		h.counts.AddResident(p.topology.Of(pod.Spec))
		if pod.Daemon {
			daemons[at[pod.Node]] = append(daemons[at[pod.Node]], int32(i))
		}
	}
	coming := make([]*podUsage, len(p.snap.Daemons))
	for d := range p.snap.Daemons {
		coming[d] = p.usageOf(&p.snap.Daemons[d].Spec)
	}
	for i := range hosts {
		h := &hosts[i]
		for d := range p.snap.Daemons {
			set := &p.snap.Daemons[d]
			if !p.hasDaemonPod(set, daemons[i]) && h.suits(&set.Spec) {
				h.occupy(coming[d])
			}
		}
		h.closeAccounts(p.snap.Nodes[h.node].State)
	}
}

// closeAccounts sets negative free amounts to 0, and all amounts of a node that is
// being deleted.
func (h *host) closeAccounts(state model.NodeState) {
	for r := range h.free {
		h.free[r] = max(0, h.free[r])
	}
	if state == model.Deleting {
		h.free = vec.Vector{}
	}
}

// podUsage is what a pod uses of its host.
type podUsage struct {
	req   vec.Vector
	ports int32
}

func (p *problem) usageOf(s *model.PodSpec) *podUsage {
	return &podUsage{req: p.supply.Dims.Requests(s.Requests), ports: p.ports.ID(s.HostPorts)}
}

func (h *host) occupy(w *podUsage) {
	h.free.Add(&w.req, -1)
	if w.ports >= 0 {
		h.ports = append(h.ports, w.ports)
	}
}

// suits reports whether selector, affinity and taints allow the pod on the host.
func (h *host) suits(s *model.PodSpec) bool {
	return constraint.Untolerated(s.Tolerations, h.taints) == nil && constraint.Selects(s, h.labels)
}

// admits reports whether suits holds for all pods of a class.
func (h *host) admits(cl *class) bool {
	return h.suits(cl.spec) && !slices.ContainsFunc(cl.otherSpecs, func(s *model.PodSpec) bool { return !h.suits(s) })
}

// hasDaemonPod reports whether one of the pods belongs to the DaemonSet.
func (p *problem) hasDaemonPod(set *model.DaemonSet, pods []int32) bool {
	return slices.ContainsFunc(pods, func(i int32) bool { return Owns(set, &p.snap.Pods[i]) })
}

// Owns reports whether a DaemonSet pod belongs to the set. It compares names: such a
// pod's name is the set's name and a random suffix.
func Owns(set *model.DaemonSet, pod *model.Pod) bool {
	prefix := set.Name
	if len(prefix) > 57 { // longer names are cut so that the suffix fits into 63 bytes
		prefix = prefix[:57]
	}
	suffix, ok := strings.CutPrefix(pod.Name, prefix+"-")
	return ok && pod.Namespace == set.Namespace && !strings.Contains(suffix, "-")
}

// nodeLabels returns a lookup of the node's labels. Labels that follow from its
// fields are added, and for a node in flight those of its instance type.
func (p *problem) nodeLabels(n *model.Node) func(string) (string, bool) {
	typ := p.nodeType(n)
	return func(key string) (string, bool) {
		if v, ok := n.Labels[key]; ok {
			return v, true
		}
		switch key {
		case constraint.LabelHostname:
			return n.Name, true
		case constraint.LabelZone:
			return n.Zone, n.Zone != ""
		case constraint.LabelCapacityType:
			return string(n.CapacityType), n.CapacityType != ""
		case constraint.LabelInstanceType:
			return n.InstanceType, n.InstanceType != ""
		case constraint.LabelPool:
			if n.Pool >= 0 && int(n.Pool) < len(p.snap.Pools) {
				return p.snap.Pools[n.Pool].Name, true
			}
			return "", false
		}
		if typ != nil {
			return constraint.TypeLabel(typ, key)
		}
		return "", false
	}
}

// nodeType returns the instance type of a node in flight, nil for other nodes.
func (p *problem) nodeType(n *model.Node) *model.InstanceType {
	if n.State != model.InFlight || n.Pool < 0 || int(n.Pool) >= len(p.snap.Pools) {
		return nil
	}
	c := p.snap.Pools[n.Pool].Catalog
	if c < 0 || int(c) >= len(p.snap.Catalogs) {
		return nil
	}
	types := p.snap.Catalogs[c].Types
	for i := range types {
		if types[i].Name == n.InstanceType {
			return &types[i]
		}
	}
	return nil
}

// fillHosts places pods on existing nodes, in the order of priority and size. left
// counts the pods of each class that still need a place.
func (p *problem) fillHosts(hosts []host, of *domainAssignment, left []int32) {
	order := make([]int32, 0, len(p.classes))
	for i := range p.classes {
		if len(p.classes[i].reasons) == 0 {
			order = append(order, int32(i))
		}
	}
	sizes := make([]float64, len(p.classes))
	for _, i := range order {
		sizes[i] = p.size(&p.classes[i].req)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if o := cmp.Compare(p.classes[b].priority, p.classes[a].priority); o != 0 {
			return o
		}
		return cmp.Compare(sizes[b], sizes[a])
	})
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Compare(p.classes[a].needsOthersOnHost(), p.classes[b].needsOthersOnHost())
	})
	groups := newHostBlocks(hosts)
	for _, c := range order {
		for g := range groups {
			if left[c] == 0 {
				break
			}
			if vec.Fits(&p.classes[c].req, &groups[g].maxFree, p.supply.Dims.N()) {
				left[c] -= p.fillHostBlock(&groups[g], of, c, left[c])
			}
		}
	}
}

// hostBlockSize is how many hosts are skipped at once when none of them has room.
const hostBlockSize = 32

// hostBlock is a run of hosts with the maximum of their free amounts per resource.
// from is the index of the first one.
type hostBlock struct {
	from    int
	hosts   []host
	maxFree vec.Vector
}

func newHostBlocks(hosts []host) []hostBlock {
	var out []hostBlock
	for part := range slices.Chunk(hosts, hostBlockSize) {
		g := hostBlock{from: len(out) * hostBlockSize, hosts: part}
		g.measure()
		out = append(out, g)
	}
	return out
}

func (g *hostBlock) measure() {
	g.maxFree = vec.Vector{}
	for h := range g.hosts {
		g.maxFree.Raise(&g.hosts[h].free)
	}
}

// fillHostBlock places up to n pods of a class on the hosts of a block and returns
// how many.
func (p *problem) fillHostBlock(g *hostBlock, of *domainAssignment, c, n int32) int32 {
	took := int32(0)
	for h := range g.hosts {
		if took == n {
			break
		}
		if of.admits(c, g.from+h) {
			took += p.placeOnHost(&g.hosts[h], c, n-took, p.classes[c].terms)
		}
	}
	g.measure()
	return took
}

// placeOnHost places up to n pods of a class on a host and returns how many. terms
// are those of its topology terms that must hold.
func (p *problem) placeOnHost(h *host, c, n int32, terms *constraint.Terms) int32 {
	cl := &p.classes[c]
	if !vec.Fits(&cl.req, &h.free, p.supply.Dims.N()) || p.ports.ConflictsWithAny(cl.ports, h.ports) || !h.admits(cl) {
		return 0
	}
	if n = h.counts.Allows(terms, n); n == 0 {
		return 0
	}
	n = vec.MaxCopies(&cl.req, &h.free, n, p.supply.Dims.N())
	if cl.ports >= 0 {
		n = 1
		h.ports = append(h.ports, cl.ports)
	}
	h.free.Add(&cl.req, -int64(n))
	h.placed = append(h.placed, classCount{c, n})
	h.counts.Add(cl.terms, n)
	return n
}

// needsOthersOnHost is 1 for pods with affinity to others on their own node, which
// must be placed first, 0 for the rest.
func (c *class) needsOthersOnHost() int {
	if c.terms.NeedsOthersOnHost() {
		return 1
	}
	return 0
}

// rejectUnmetAffinity sets the reasons of the classes whose host affinity was not
// met and returns their pods. They must be planned together with the pods they
// require.
func (p *problem) rejectUnmetAffinity(left []int32) []int32 {
	var out []int32
	for c := range p.classes {
		cl := &p.classes[c]
		if left[c] == 0 || len(cl.reasons) > 0 || cl.needsOthersOnHost() == 0 {
			continue
		}
		why := cl.noBundleReason
		if why == "" {
			why = "no node with the pods that it wants on its own node has room for it"
		}
		cl.reasons = []model.Reason{{Code: model.PodAffinity, Message: why}}
		out = append(out, cl.pods[(cl.n()-left[c])*max(1, cl.bundleSize):]...)
	}
	return out
}
