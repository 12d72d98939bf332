// Package simulation runs decisions for virtual days on a cluster in memory:
// machines of provider/sim boot and stop by its clock, a scheduler spreads
// pods, drains obey disruption budgets, Deployments replace what was evicted.
package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/test/kit/instancetype"
)

// deployment keeps its pods at a number; at most missing of them may be away.
type deployment struct {
	name    string
	spec    int32
	want    int
	missing int
}

type pod struct {
	name  string
	of    *deployment
	node  string // bound to
	plan  string // claim it waits for
	since time.Time
	// evicted says that it was made to leave its node and has no other yet,
	// refused when a decision last said that it may not have one.
	evicted bool
	refused time.Time
}

type machine struct {
	model.Node
	id       string // provider ID
	deleting bool
	// stuck says that the instance never becomes a node.
	stuck bool
}

// simulatedCluster is a cluster in memory whose time is moved in steps.
type simulatedCluster struct {
	t       *testing.T
	clock   *sim.Clock
	cloud   *sim.Provider
	rng     *rand.Rand
	catalog model.Catalog
	pools   []model.Pool
	specs   []model.PodSpec
	deploys []*deployment
	pods    []*pod
	nodes   []*machine
	// policies take part in the decisions.
	policies []policy.Policy
	settings model.Settings
	made     int
	searched time.Time
	// departed are the nodes disrupted within an hour.
	departed []model.Departure
	// moves counts nodes disrupted, last is when one was.
	moves int
	last  time.Time
	// boot is how long a machine takes to become a node.
	boot time.Duration
	// budget is the share of nodes that may be away at once.
	budget int
	// faults has what goes wrong, nil for nothing; down says that the controller
	// has died, until the next decision.
	faults *faults
	down   bool
	// committed is what the ceiling counted when the last decision was made.
	committed model.Price
}

func size(name string, cpu, gib int64, price model.Price) model.InstanceType {
	return instancetype.New(name, cpu, gib, 50,
		instancetype.OnDemand("a", price), instancetype.OnDemand("b", price+price/50), instancetype.Spot("a", price/3))
}

// newCluster makes a cluster with so many Deployments.
func newCluster(t *testing.T, seed uint64, deploys int) *simulatedCluster {
	t.Helper()
	w := &simulatedCluster{t: t, clock: sim.NewClock(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)), rng: rand.New(rand.NewPCG(seed, 7)), boot: 45 * time.Second, budget: 20}
	w.catalog = instancetype.Catalog(
		size("c.1", 2000, 4, 80_000), size("c.2", 4000, 8, 158_000), size("c.4", 8000, 16, 315_000), size("c.8", 16000, 32, 640_000),
		size("m.1", 2000, 8, 96_000), size("m.2", 4000, 16, 190_000), size("m.4", 8000, 32, 380_000),
		size("r.2", 4000, 32, 250_000),
	)
	var err error
	w.cloud, err = sim.New(sim.Config{Catalogs: map[string]model.Catalog{"default": w.catalog}, Clock: w.clock})
	if err != nil {
		t.Fatal(err)
	}
	capacity := []string{"on-demand"}
	if w.rng.IntN(3) == 0 {
		capacity = []string{"spot", "on-demand"}
	}
	w.pools = []model.Pool{{
		Name: "general", NodeClass: "default",
		Requirements: []model.Requirement{{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: capacity}},
		Disruption:   model.Disruption{Policy: "WhenEmptyOrUnderutilized", ConsolidateAfter: time.Duration(w.rng.IntN(3)) * 30 * time.Second},
	}}
	for i := range deploys {
		spec := model.PodSpec{
			Namespace: "shop", Labels: map[string]string{"app": fmt.Sprint("app-", i)},
			Requests: model.Resources{model.CPU: int64(100 * (1 + w.rng.IntN(20))), model.Memory: int64(128<<20) * int64(1+w.rng.IntN(40)), model.PodSlots: 1},
		}
		if w.rng.IntN(5) == 0 {
			spec.NodeSelector = map[string]string{"topology.kubernetes.io/zone": string(rune('a' + w.rng.IntN(2)))}
		}
		w.specs = append(w.specs, spec)
		w.deploys = append(w.deploys, &deployment{name: fmt.Sprint("app-", i), spec: int32(i), want: 1 + w.rng.IntN(12), missing: 1 + w.rng.IntN(3)})
	}
	return w
}

func (w *simulatedCluster) find(claim string) *machine {
	i := slices.IndexFunc(w.nodes, func(m *machine) bool { return m.Claim == claim })
	if i < 0 {
		return nil
	}
	return w.nodes[i]
}

// snapshot is the cluster as a decision sees it.
func (w *simulatedCluster) snapshot() *model.Snapshot {
	now := w.clock.Now()
	s := &model.Snapshot{
		Time: now, Seed: uint64(now.Unix()), Settings: w.settings, Pools: slices.Clone(w.pools),
		Catalogs: []model.Catalog{w.catalog}, Specs: w.specs,
	}
	at := map[string]int32{}
	total, leaving := 0, 0
	for i, m := range w.nodes {
		n := m.Node
		n.Taints = slices.Clone(n.Taints)
		at[n.Claim] = int32(i)
		s.Nodes = append(s.Nodes, n)
		total++
		if m.deleting {
			leaving++
		}
	}
	allowed := max(0, (w.budget*total+99)/100-leaving)
	d := &s.Pools[0].Disruption
	d.AllowedEmpty, d.AllowedDrifted, d.AllowedUnderutilized = allowed, allowed, allowed
	for _, p := range w.pods {
		mp := model.Pod{UID: p.name, Namespace: "shop", Name: p.name, Spec: p.of.spec, Node: -1, Created: p.since}
		if i, ok := at[p.node]; ok && p.node != "" {
			mp.Node = i
		} else if i, ok := at[p.plan]; ok && p.plan != "" {
			mp.Node = i
			s.Nodes[i].Nominated = true
		}
		s.Pods = append(s.Pods, mp)
	}
	w.departed = slices.DeleteFunc(w.departed, func(d model.Departure) bool { return now.Sub(d.Time) >= time.Hour })
	s.Departed = slices.Clone(w.departed)
	for _, dep := range w.deploys {
		s.Budgets = append(s.Budgets, model.PodBudget{
			Namespace: "shop", Name: dep.name, Allowed: int32(w.spare(dep)),
			Selector: model.PodSelector{Namespaces: []string{"shop"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{dep.name}}}},
		})
	}
	return s
}

// spare is how many pods of a Deployment may be evicted now.
func (w *simulatedCluster) spare(d *deployment) int {
	up := 0
	for _, p := range w.pods {
		if p.of == d && p.node != "" {
			up++
		}
	}
	return max(0, up-(d.want-d.missing))
}

// name is one for a new claim.
func (w *simulatedCluster) name() string {
	w.made++
	return fmt.Sprintf("n%05d", w.made)
}

// launch starts a machine for a planned node.
func (w *simulatedCluster) launch(n *model.PlannedNode, name string, replaces []string, moved bool) {
	attempt, err := w.cloud.Prepare(w.t.Context(), provider.LaunchSpec{Claim: name, NodePool: "general", NodeClass: "default", Options: n.Options})
	if err != nil {
		w.t.Fatal(err)
	}
	in, err := w.cloud.Launch(w.t.Context(), attempt)
	if err != nil {
		w.t.Fatal(err)
	}
	i := slices.IndexFunc(w.catalog.Types, func(t model.InstanceType) bool { return t.Name == in.InstanceType })
	m := &machine{id: in.ProviderID, stuck: w.strikes(stuck), Node: model.Node{
		Name: name, Claim: name, Pool: n.Pool, State: model.InFlight, InstanceType: in.InstanceType, Zone: in.Zone, CapacityType: in.CapacityType,
		Allocatable: w.catalog.Types[i].Allocatable, LaunchedAt: w.clock.Now(), Replaces: replaces, ForMoved: moved,
		Bought: model.BoughtAs(n.Options, in.InstanceType, in.Zone, in.CapacityType),
		Labels: map[string]string{"topology.kubernetes.io/zone": in.Zone, "node.kubernetes.io/instance-type": in.InstanceType, "karpenter.sh/capacity-type": string(in.CapacityType), "karpenter.sh/nodepool": "general"},
	}}
	for _, o := range w.catalog.Types[i].Offerings {
		if o.Zone == in.Zone && o.CapacityType == in.CapacityType {
			m.Price = o.Price
		}
	}
	w.nodes = append(w.nodes, m)
	w.affordable(m)
}

// decide makes a decision and carries it out.
func (w *simulatedCluster) decide() {
	w.t.Helper()
	w.down = false
	s := w.snapshot()
	w.committed = w.counted()
	away := w.away()
	opts := decide.Options{Disrupt: true}
	if s.Time.Sub(w.searched) >= 10*time.Second {
		opts.Search, w.searched = true, s.Time
	}
	d, err := decide.Decide(w.t.Context(), s, w.policies, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, u := range d.Plan.Unplaced {
		w.pods[u.Pod].refused = s.Time
	}
	for i := range d.Plan.Nodes {
		if w.dies() {
			return
		}
		name := w.name()
		w.launch(&d.Plan.Nodes[i], name, nil, s.PodsMove())
		for _, p := range d.Plan.Nodes[i].Pods {
			w.pods[p].plan = name
		}
	}
	going := map[string]bool{}
	for i := range d.Disruptions {
		each := &d.Disruptions[i]
		m := w.find(s.Nodes[each.Node].Claim)
		switch {
		case !each.Go:
		case w.dies():
			return
		case tainted(&m.Node):
			w.delete(m)
		default:
			m.Taints = append(m.Taints, taint)
			going[m.Claim] = true
		}
	}
	for i := range d.Commands {
		w.command(s, &d.Commands[i], going)
	}
	for _, m := range w.nodes {
		if m.Command == nil && !m.deleting && tainted(&m.Node) && !going[m.Claim] {
			m.Taints = nil
		}
	}
	w.withinBudget(away, len(s.Nodes))
}

var taint = model.Taint{Key: "karpenter.sh/disrupted", Effect: model.NoSchedule}

func tainted(n *model.Node) bool { return slices.Contains(n.Taints, taint) }

// command takes a step, in the order in which actuate writes; the controller
// may die between any two writes.
func (w *simulatedCluster) command(s *model.Snapshot, c *decide.Command, going map[string]bool) {
	switch c.Stage {
	case decide.Start:
		w.begin(s, c, going)
	case decide.Finish:
		for _, i := range c.Nodes {
			if w.dies() {
				return
			}
			w.delete(w.find(s.Nodes[i].Claim))
		}
	case decide.Undo:
		for _, i := range c.Nodes {
			m := w.find(s.Nodes[i].Claim)
			if w.dies() {
				return
			}
			if m.Taints = nil; w.dies() {
				return
			}
			m.Command, m.UndoneAt = nil, s.Time
		}
		w.committed = w.counted() // both nodes stay, and both count from now on
	case decide.Wait:
	}
}

func (w *simulatedCluster) begin(s *model.Snapshot, c *decide.Command, going map[string]bool) {
	mark := &model.Command{ID: fmt.Sprint("c", w.made, "-", c.Nodes[0]), Method: string(c.Method), Started: s.Time, Removed: c.Removed, Billed: c.Billed}
	for _, i := range c.Nodes {
		mark.Nodes = append(mark.Nodes, s.Nodes[i].Claim)
	}
	for range c.Replacements {
		mark.Replacements = append(mark.Replacements, w.name())
	}
	for _, claim := range mark.Nodes {
		if w.dies() {
			return
		}
		w.find(claim).Command = mark
		going[claim] = true
	}
	for _, claim := range mark.Nodes {
		if w.dies() {
			return
		}
		m := w.find(claim)
		m.Taints = append(slices.Clone(m.Taints), taint)
	}
	for k := range c.Replacements {
		if w.dies() {
			return
		}
		w.launch(&c.Replacements[k], mark.Replacements[k], mark.Nodes, s.ForMoved(c.Nodes))
	}
}

func (w *simulatedCluster) delete(m *machine) {
	m.deleting, m.State = true, model.Deleting
	pods := 0
	for _, p := range w.pods {
		if p.node == m.Claim {
			pods++
		}
	}
	w.departed = append(w.departed, model.Departure{Claim: m.Claim, Pool: "general", Time: w.clock.Now(), Pods: pods})
	w.moves++
	w.last = w.clock.Now()
}

// away is how many nodes are disrupted.
func (w *simulatedCluster) away() int {
	n := 0
	for _, m := range w.nodes {
		if m.deleting || tainted(&m.Node) {
			n++
		}
	}
	return n
}

// withinBudget fails when a decision has more nodes disrupted than the pool
// allows of those that there were. Nodes that are on their way are not called back
// when others have gone since. What a controller that died in the middle leaves
// behind is for the next one to tidy up.
func (w *simulatedCluster) withinBudget(before, total int) {
	w.t.Helper()
	now, most := w.away(), (w.budget*total+99)/100
	if now > most && now > before && !w.down {
		w.t.Fatalf("%s: %d of %d nodes are disrupted, %d were before, %d are allowed", w.clock.Now(), now, total, before, most)
	}
}
