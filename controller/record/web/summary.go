package web

import (
	"cmp"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

// summary is what the views need to know of a snapshot, computed once for each: its
// nodes with their pods, requests and prices. Names stay in the snapshot.
type summary struct {
	snapshot *model.Snapshot
	uses     []spend.Use
	nodes    []nodeUse
	// pods are by node the pods on it, by index into the snapshot.
	pods [][]int32
	spot int
}

// nodeUse is what pods request of a node.
type nodeUse struct {
	// parts are by resource: see resources.
	parts [resourceCount]part
	// accelerator is the name of the accelerator that the node has, "" for none.
	accelerator string
}

// part is an amount of a resource: what the node has, and what pods of DaemonSets and
// other pods request of it.
type part struct{ has, daemons, pods int64 }

// The resources that the page shows, as indexes into nodeUse.parts.
const (
	cpu = iota
	memory
	slots
	accelerators
	resourceCount
)

// resourceNames are what the resources are called.
func resourceNames() [resourceCount]string {
	return [resourceCount]string{"CPU", "Memory", "Pods", "Accelerators"}
}

func (p part) share() float64 {
	if p.has <= 0 {
		return 0
	}
	return min(1, float64(p.daemons+p.pods)/float64(p.has))
}

// summarize reads every pod and node once.
func summarize(s *model.Snapshot) *summary {
	out := &summary{snapshot: s, uses: spend.Uses(s), nodes: make([]nodeUse, len(s.Nodes)), pods: podsByNode(s)}
	for i := range s.Nodes {
		n, use := &s.Nodes[i], &out.nodes[i]
		if n.CapacityType == model.Spot {
			out.spot++
		}
		use.accelerator = acceleratorOf(n.Allocatable)
		for r := range use.parts {
			use.parts[r].has = n.Allocatable[use.resource(r)]
		}
		for _, p := range out.pods[i] {
			use.add(&s.Pods[p], s.Specs[s.Pods[p].Spec].Requests)
		}
	}
	return out
}

// podsByNode lists the pods of each node in one array.
func podsByNode(s *model.Snapshot) [][]int32 {
	counts, total := make([]int32, len(s.Nodes)), 0
	for i := range s.Pods {
		if at := s.Pods[i].Node; at >= 0 {
			counts[at]++
			total++
		}
	}
	all, out := make([]int32, total), make([][]int32, len(s.Nodes))
	for i, n := range counts {
		out[i], all = all[:0:n], all[n:]
	}
	for i := range s.Pods {
		if at := s.Pods[i].Node; at >= 0 {
			out[at] = append(out[at], int32(i))
		}
	}
	return out
}

// resource is the name of a resource in the snapshot.
func (u *nodeUse) resource(r int) string {
	switch r {
	case cpu:
		return model.CPU
	case memory:
		return model.Memory
	case slots:
		return model.PodSlots
	default:
		return u.accelerator
	}
}

func (u *nodeUse) add(p *model.Pod, requests model.Resources) {
	for r := range u.parts {
		if name := u.resource(r); name != "" && p.Daemon {
			u.parts[r].daemons += requests[name]
		} else if name != "" {
			u.parts[r].pods += requests[name]
		}
	}
}

// acceleratorOf returns the name of the GPU, Neuron device or other accelerator that a
// node has; the first by name when it has several.
func acceleratorOf(has model.Resources) string {
	out := ""
	for name, n := range has {
		if n > 0 && accelerates(name) && (out == "" || name < out) {
			out = name
		}
	}
	return out
}

func accelerates(name string) bool {
	for _, kind := range []string{"/gpu", "/neuron", "/neurondevice", "/neuroncore", "/gaudi", "/mig-", "/gpu.shared"} {
		if strings.Contains(name, kind) {
			return true
		}
	}
	return false
}

// group is the nodes of a NodePool in a zone, or in all zones.
type group struct {
	pool, zone string
	// nodes are the fullest first.
	nodes []int32
	price model.Price
	// requested is the part of the price that pods request.
	requested model.Price
	parts     [resourceCount]part
}

// groups divides the nodes by a key, the dearest group first.
func (s *summary) groups(nodes []int32, key func(*model.Node) (pool, zone string)) []group {
	at, out := map[[2]string]int{}, []group{}
	for _, i := range nodes {
		pool, zone := key(&s.snapshot.Nodes[i])
		k, known := at[[2]string{pool, zone}]
		if !known {
			k = len(out)
			at[[2]string{pool, zone}] = k
			out = append(out, group{pool: pool, zone: zone})
		}
		g := &out[k]
		g.nodes = append(g.nodes, i)
		g.price += s.uses[i].Price
		g.requested += s.uses[i].Requested
		for r := range g.parts {
			p := &s.nodes[i].parts[r]
			g.parts[r].has += p.has
			g.parts[r].daemons += p.daemons
			g.parts[r].pods += p.pods
		}
	}
	slices.SortFunc(out, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.price, a.price), cmp.Compare(a.pool, b.pool), cmp.Compare(a.zone, b.zone))
	})
	return out
}

// poolOf is the name of a node's NodePool, "" for none.
func (s *summary) poolOf(n *model.Node) string {
	if n.Pool >= 0 {
		return s.snapshot.Pools[n.Pool].Name
	}
	return n.PoolName
}

// all are the indexes of all nodes.
func (s *summary) all() []int32 {
	out := make([]int32, len(s.snapshot.Nodes))
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// total is what runs, and what pods request of it.
func (s *summary) total() spend.Use {
	var out spend.Use
	for i := range s.uses {
		out.Price += s.uses[i].Price
		out.Requested += s.uses[i].Requested
	}
	return out
}
