package web

import (
	"fmt"
	"maps"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/record/journal"
	page "spokeshave.dev/controller/record/web"
	"spokeshave.dev/controller/rehearse/scenario"
)

// cluster carries decisions out at once: what is launched runs, what may go is
// gone. The decisions, their journal and the policies are the controller's.
type cluster struct {
	t      *testing.T
	base   model.Snapshot
	nodes  []model.Node
	places map[string]string // of pods
	loader *load.Loader
	// daemon indexes base.Specs: the pod that every node runs.
	daemon int32
	ledger spend.Ledger

	board   page.Board
	journal *journal.Journal
}

// newCluster is the quickstart's with a namespace for each team, the budget of the
// examples, a policy in Shadow mode and one that is broken.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	objects, err := scenario.Read("../../../examples/quickstart", "../../../examples/rego-budget/configmap.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, places: map[string]string{}, journal: journal.New(200, 32<<20)}
	if c.base, err = objects.Snapshot(scenario.Options{Time: time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC), Seed: 1}); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(c.base.Pods) // the databases come last
	c.teams()
	for i := range c.base.Pools {
		each := &c.base.Pools[i].Disruption
		each.AllowedEmpty, each.AllowedUnderutilized = 2, 2
	}
	c.loader = load.New(load.Config{Namespace: "spokeshave", Engines: engine.All(), Now: time.Now})
	budget := objects.Policies[0]
	for key, text := range budget.Data {
		if key == "policy.yaml" {
			budget.Data[key] = text[:len(text)-2] + "0.40\n" // a cap that the afternoon reaches
		}
	}
	delete(budget.Data, "budget_test.rego")
	if _, err := c.loader.Apply(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	trial := budget.DeepCopy()
	trial.Name, trial.Data = "trial-limits", map[string]string{
		"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [ceiling, consolidate]\nmode: Shadow\n",
		"ceiling.rego": "package spokeshave.ceiling\n\ncap[\"namespace/data\"] := {\"hourly_usd\": 0.1}\n\n" +
			"deny contains \"two vCPU at least cost less to operate\" if input.launch.vcpu < 2\n",
		"consolidate.rego": "package spokeshave.consolidate\n\ndeny contains \"no disruption during trading hours\" if input.candidate.method != \"Expired\"\n",
	}
	if _, err := c.loader.Apply(t.Context(), trial); err != nil {
		t.Fatal(err)
	}
	broken := budget.DeepCopy()
	broken.Name, broken.Data = "prefer-arm", map[string]string{
		"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\n",
		"rank.rego":   "package spokeshave.rank\n\nmultiplier[\"arm\"] := {\n",
	}
	if _, err := c.loader.Apply(t.Context(), broken); err == nil {
		t.Fatal("a policy that is broken is taken")
	}
	return c
}

// teams gives each workload the namespace of its team.
func (c *cluster) teams() {
	of := map[string]string{"web": "shop", "api": "shop", "db": "data", "nightly": "reports"}
	for i := range c.base.Pods {
		p := &c.base.Pods[i]
		if _, name, _ := strings.Cut(p.Workload, "/"); of[name] != "" {
			p.Namespace = of[name]
			c.base.Specs[p.Spec].Namespace = of[name]
		}
	}
	c.base.Specs = append(slices.Clone(c.base.Specs), c.base.Daemons[0].Spec)
	c.daemon = int32(len(c.base.Specs) - 1)
}

// round decides at a time, with so many of the pods, and carries it out.
func (c *cluster) round(at time.Time, pods int) {
	c.t.Helper()
	s := c.base
	s.Time, s.Nodes = at, slices.Clone(c.nodes)
	s.Pods = slices.Clone(c.base.Pods[:min(pods, len(c.base.Pods))])
	for i := pods; i < len(c.base.Pods); i++ {
		delete(c.places, c.base.Pods[i].Key())
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		p.Node = int32(slices.IndexFunc(s.Nodes, func(n model.Node) bool { return n.Name == c.places[p.Key()] }))
	}
	for i := range s.Nodes {
		s.Pods = append(s.Pods, model.Pod{
			UID: "agent-" + s.Nodes[i].Name, Namespace: "kube-system", Name: "node-agent-" + s.Nodes[i].Name[len(s.Nodes[i].Name)-5:],
			Workload: "DaemonSet/node-agent", Spec: c.daemon, Node: int32(i), Daemon: true,
		})
	}
	if c.ledger.Month.IsZero() {
		c.ledger = spend.New(&s)
	} else {
		c.ledger = c.ledger.Advance(&s)
	}
	d, err := decide.Decide(c.t.Context(), &s, c.loader.Policies(), decide.Options{Disrupt: true, Search: true, Explain: true})
	if err != nil {
		c.t.Fatal(err)
	}
	c.journal.Add(c.t.Context(), &s, &d)
	c.board.Add(&s, &d)
	for i := range d.Plan.Existing {
		for _, p := range d.Plan.Existing[i].Pods {
			c.places[s.Pods[p].Key()] = s.Nodes[d.Plan.Existing[i].Node].Name
		}
	}
	for i := range d.Plan.Nodes {
		n := c.launch(&s, &d, &d.Plan.Nodes[i], i)
		for _, p := range d.Plan.Nodes[i].Pods {
			c.places[s.Pods[p].Key()] = n
		}
	}
	for i := range d.Disruptions {
		if each := &d.Disruptions[i]; each.Go {
			c.remove(&s.Nodes[each.Node])
		}
	}
	c.carryOut(&s, &d)
}

func (c *cluster) remove(node *model.Node) {
	c.nodes = slices.DeleteFunc(c.nodes, func(n model.Node) bool { return n.Name == node.Name })
}

// carryOut does what the decision says of disruptions of several nodes.
func (c *cluster) carryOut(s *model.Snapshot, d *decide.Decision) {
	at := len(d.Plan.Nodes)
	for i := range d.Commands {
		cmd := &d.Commands[i]
		switch cmd.Stage {
		case decide.Start:
			mark := &model.Command{ID: fmt.Sprint(d.ID[:8], "-", i), Method: string(cmd.Method), Started: s.Time, Removed: cmd.Removed, Billed: cmd.Billed}
			for k := range cmd.Replacements {
				mark.Replacements = append(mark.Replacements, c.launch(s, d, &cmd.Replacements[k], at))
				at++
			}
			for _, n := range cmd.Nodes {
				mark.Nodes = append(mark.Nodes, s.Nodes[n].Claim)
			}
			for k := range c.nodes {
				if n := &c.nodes[k]; slices.Contains(mark.Nodes, n.Claim) {
					n.Command, n.Taints = mark, append(slices.Clone(n.Taints), model.Taint{Key: "karpenter.sh/disrupted", Effect: model.NoSchedule})
				}
			}
		case decide.Finish:
			for _, n := range cmd.Nodes {
				c.remove(&s.Nodes[n])
			}
		case decide.Wait, decide.Undo:
		}
	}
}

// launch makes a planned node, the decision's at-th, and gives its name.
func (c *cluster) launch(s *model.Snapshot, d *decide.Decision, n *model.PlannedNode, at int) string {
	best := n.Options[0]
	pool := &s.Pools[n.Pool]
	types := s.Catalogs[pool.Catalog].Types
	typ := &types[slices.IndexFunc(types, func(t model.InstanceType) bool { return t.Name == best.InstanceType })]
	name := model.ClaimName(pool.Name, d.ID, at)
	labels := maps.Clone(typ.Labels)
	labels["topology.kubernetes.io/zone"], labels["karpenter.sh/capacity-type"] = best.Zone, string(best.CapacityType)
	labels["node.kubernetes.io/instance-type"], labels["karpenter.sh/nodepool"] = best.InstanceType, pool.Name
	c.nodes = append(c.nodes, model.Node{
		Name: name, Claim: name, Pool: n.Pool, State: model.Initialized, InstanceType: best.InstanceType, Zone: best.Zone, CapacityType: best.CapacityType,
		Allocatable: typ.Allocatable, Labels: labels, Price: best.Price, Extra: s.Catalogs[pool.Catalog].NodeCost,
		LaunchedAt: s.Time, InitializedAt: s.Time, LastPodEvent: s.Time,
	})
	return name
}

// day runs eight hours of a shop, up to a time.
func (c *cluster) day() time.Time {
	at := c.base.Time
	for step := range 49 {
		busy := 18 + 32*math.Pow(math.Sin(math.Pi*float64(step)/52), 2)
		if step > 44 {
			busy = 50
		}
		c.round(at.Add(time.Duration(10*step)*time.Minute), int(busy))
	}
	return at.Add(8 * time.Hour)
}

// url is where the page is served, on a loopback port.
func (c *cluster) url() string {
	c.t.Helper()
	handler, err := c.page().Handler()
	if err != nil {
		c.t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	c.t.Cleanup(server.Close)
	return server.URL + "/"
}

func (c *cluster) page() *page.Server {
	return &page.Server{Board: &c.board, Journal: c.journal.Entries, Policies: c.loader.Status, Ledger: func() *spend.Ledger { return &c.ledger }}
}
