// Package savings compares what consolidation saves with what the method that
// users of Karpenter know would save on the same clusters: candidates in the
// order of their disruption cost, empty nodes first, then the longest prefix of
// the first hundred that one cheaper node can stand for, found by bisection,
// then single nodes, one command at a time. That method is written here anew,
// with a packing of its own.
package savings

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

// cluster is a snapshot that is changed as commands are carried out.
type cluster struct {
	*model.Snapshot

	rng  *rand.Rand
	made int
}

var start = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

func catalog(r *rand.Rand) model.Catalog {
	out := instancetype.Catalog()
	for _, family := range []struct {
		name  string
		ratio int64 // GiB for each cpu
		price float64
	}{{"c5", 2, 0.0425}, {"c6", 2, 0.040}, {"m5", 4, 0.048}, {"m6", 4, 0.0462}, {"r5", 8, 0.063}} {
		for _, cpus := range []int64{1, 2, 4, 8, 16, 32} {
			name := fmt.Sprintf("%s.%d", family.name, cpus)
			room := model.Resources{model.CPU: cpus*1000 - 80, model.Memory: (cpus*family.ratio<<10 - 300 - 20*cpus) << 20, model.PodSlots: min(110, 10+8*cpus)}
			t := instancetype.Of(name, room)
			for _, zone := range []string{"a", "b", "c"} {
				usd := family.price * float64(cpus) * (1 + 0.04*r.Float64())
				o := instancetype.OnDemand(zone, model.PriceOf(usd))
				o.Available = r.IntN(20) > 0
				t.Offerings = append(t.Offerings, o)
			}
			out.Types = append(out.Types, t)
		}
	}
	return out
}

// newCluster draws a cluster: nodes as they came over time, filled to some
// level with pods of some Deployments.
func newCluster(seed uint64) *cluster {
	r := rand.New(rand.NewPCG(seed, 11))
	s := &model.Snapshot{Time: start, Seed: seed, Settings: model.Settings{MoveCost: model.DefaultMoveCost}, Catalogs: []model.Catalog{catalog(r)}}
	s.Pools = []model.Pool{{Name: "general", NodeClass: "default", Disruption: model.Disruption{
		Policy: "WhenEmptyOrUnderutilized", AllowedEmpty: math.MaxInt32, AllowedUnderutilized: math.MaxInt32,
	}}}
	c := &cluster{Snapshot: s, rng: r}
	for i := range 3 + r.IntN(20) {
		c.Specs = append(c.Specs, c.spec(i))
	}
	level := 0.2 + 0.7*r.Float64()
	types := s.Catalogs[0].Types
	for range 2 + r.IntN(40) {
		t := &types[r.IntN(len(types))]
		zone := t.Offerings[r.IntN(len(t.Offerings))].Zone
		at := c.add(t, zone)
		c.Nodes[at].LaunchedAt = start.Add(-time.Duration(r.IntN(20*24)) * time.Hour)
		c.fill(at, min(1, level*(0.5+r.Float64())))
	}
	return c
}

func (c *cluster) spec(i int) model.PodSpec {
	spec := model.PodSpec{
		Namespace: "shop", Labels: map[string]string{"app": fmt.Sprint("app-", i)},
		Requests: model.Resources{
			model.CPU: int64(1+c.rng.IntN(20)) * 50, model.Memory: int64(1+c.rng.IntN(24)) << 27, model.PodSlots: 1,
		},
	}
	if c.rng.IntN(8) == 0 {
		spec.NodeSelector = map[string]string{"topology.kubernetes.io/zone": string(rune('a' + c.rng.IntN(3)))}
	}
	if c.rng.IntN(10) == 0 {
		spec.Requests[model.CPU] *= 6
	}
	if c.rng.IntN(6) == 0 {
		spec.Priority = int32(c.rng.IntN(3)) * 1_000_000
	}
	return spec
}

// add makes a node of a type.
func (c *cluster) add(t *model.InstanceType, zone string) int32 {
	c.made++
	n := model.Node{
		Name: fmt.Sprintf("node-%05d", c.made), State: model.Initialized, InstanceType: t.Name, Zone: zone, CapacityType: model.OnDemand,
		Allocatable: t.Allocatable, LaunchedAt: c.Time,
		Labels: map[string]string{"topology.kubernetes.io/zone": zone, "node.kubernetes.io/instance-type": t.Name, "karpenter.sh/nodepool": "general"},
	}
	n.Claim = n.Name
	for _, o := range t.Offerings {
		if o.Zone == zone {
			n.Price = o.Price
		}
	}
	c.Nodes = append(c.Nodes, n)
	return int32(len(c.Nodes) - 1)
}

// fill puts pods on a node until that share of it is taken.
func (c *cluster) fill(at int32, level float64) {
	free := c.Nodes[at].Allocatable.Clone()
	for range 200 {
		spec := int32(c.rng.IntN(len(c.Specs)))
		if !room(free, c.Specs[spec].Requests) || !selects(&c.Specs[spec], &c.Nodes[at]) {
			continue
		}
		if used := 1 - float64(free[model.CPU])/float64(c.Nodes[at].Allocatable[model.CPU]); used >= level {
			return
		}
		c.made++
		name := fmt.Sprintf("pod-%05d", c.made)
		c.Pods = append(c.Pods, model.Pod{UID: name, Namespace: "shop", Name: name, Spec: spec, Node: at, DoNotDisrupt: c.rng.IntN(60) == 0})
		take(free, c.Specs[spec].Requests)
	}
}

func take(free, want model.Resources) {
	for name, n := range want {
		free[name] -= n
	}
}

// free is what every node has left.
func (c *cluster) free() []model.Resources {
	out := make([]model.Resources, len(c.Nodes))
	for i := range c.Nodes {
		out[i] = c.Nodes[i].Allocatable.Clone()
	}
	for i := range c.Pods {
		if at := c.Pods[i].Node; at >= 0 {
			take(out[at], c.Specs[c.Pods[i].Spec].Requests)
		}
	}
	return out
}

func room(free, want model.Resources) bool {
	for name, n := range want {
		if n > free[name] {
			return false
		}
	}
	return true
}

func selects(s *model.PodSpec, n *model.Node) bool {
	for key, value := range s.NodeSelector {
		if n.Labels[key] != value {
			return false
		}
	}
	return true
}

// cost is what the nodes cost per hour.
func (c *cluster) cost() model.Price {
	var sum model.Price
	for i := range c.Nodes {
		sum += c.Nodes[i].Price
	}
	return sum
}

// drop takes nodes away; their pods have no place then.
func (c *cluster) drop(nodes []int32) {
	to := make([]int32, len(c.Nodes))
	var kept []model.Node
	for i := range c.Nodes {
		to[i] = -1
		if !slices.Contains(nodes, int32(i)) {
			to[i] = int32(len(kept))
			kept = append(kept, c.Nodes[i])
		}
	}
	c.Nodes = kept
	for i := range c.Pods {
		if at := c.Pods[i].Node; at >= 0 {
			c.Pods[i].Node = to[at]
		}
	}
}

// typeOf finds an instance type.
func (c *cluster) typeOf(name string) *model.InstanceType {
	types := c.Catalogs[0].Types
	return &types[slices.IndexFunc(types, func(t model.InstanceType) bool { return t.Name == name })]
}

// clone is a copy that may be changed.
func (c *cluster) clone() *cluster {
	s := *c.Snapshot
	s.Nodes, s.Pods = slices.Clone(s.Nodes), slices.Clone(s.Pods)
	return &cluster{Snapshot: &s, rng: rand.New(rand.NewPCG(s.Seed, 12)), made: c.made}
}
