package random

import "spokeshave.dev/controller/core/model"

// Kinds are the kinds of scenarios, in the order in which seeds go through them.
func Kinds() []string {
	return []string{"plain", "policies", "topology", "everything", "sizes", "settled", "running", "running-policies"}
}

// Scenario is a question with answers of policies.
type Scenario struct {
	// Kind is one of Kinds.
	Kind     string
	Question Question
	Policies Policies
	// Running says that the snapshot has nodes whose disruption is worth a
	// search.
	Running bool
}

// NewScenario makes the scenario of a seed. Of 16 scenarios, 11 have up to 60
// pods, 4 up to 160 and one up to 400; one in 128 has up to 1,000.
//
//   - plain: nodes, pool limits and weights, host ports, priorities
//   - policies: the same with costs, tiers, headroom and denials
//   - topology: spread constraints, pod affinity, preferences, minValues
//   - everything: topology with policies
//   - sizes: every pod has a size of its own
//   - settled: ready nodes that run pods, and topology without preferences
//   - running, running-policies: a cluster whose nodes run pods, for disruption
func NewScenario(seed uint64) Scenario {
	g := New(seed)
	kinds := Kinds()
	s := Scenario{Kind: kinds[seed%uint64(len(kinds))]}
	s.Question = g.Question(g.size(seed / uint64(len(kinds))))
	g.settings()
	topology, policies := false, false
	switch s.Kind {
	case "policies":
		policies = true
	case "topology":
		topology = true
	case "everything":
		topology, policies = true, true
	case "sizes":
		g.resize()
		policies = g.Chance(0.3)
	case "settled":
		topology = true
		g.settle(&s.Question)
	case "running", "running-policies":
		s.Running = true
		topology, policies = g.Chance(0.5), s.Kind == "running-policies"
		g.run(&s.Question)
	}
	if topology {
		g.Topology()
	}
	if policies {
		s.Policies = g.Policies()
	}
	return s
}

// size draws the number of pods of the n-th scenario of a kind.
func (g *Generator) size(n uint64) int {
	switch {
	case n%128 == 77:
		return 600 + g.IntN(401)
	case n%16 == 5:
		return 160 + g.IntN(241)
	case n%4 == 1:
		return 60 + g.IntN(101)
	}
	return 1 + g.IntN(60)
}

// settings draws the operator's choices.
func (g *Generator) settings() {
	g.Snapshot.Settings = model.Settings{
		IgnorePreferences: g.Chance(0.1), RelaxMinValues: g.Chance(0.1), SpotToSpot: g.Chance(0.5),
	}
	if g.Chance(0.2) {
		for c := range g.Snapshot.Catalogs {
			g.Snapshot.Catalogs[c].NodeCost = model.Price(g.IntN(3) * 2500)
		}
	}
}

// resize gives every pod a spec and a size of its own.
func (g *Generator) resize() {
	base := g.Snapshot.Specs
	g.Snapshot.Specs = nil
	for i := range g.Snapshot.Pods {
		p := &g.Snapshot.Pods[i]
		s := base[p.Spec]
		s.Requests = s.Requests.Clone()
		s.Requests[model.CPU] += int64(g.IntN(900))
		s.Requests[model.Memory] += int64(g.IntN(2 * gib))
		p.Spec = int32(len(g.Snapshot.Specs))
		g.Snapshot.Specs = append(g.Snapshot.Specs, s)
	}
}
