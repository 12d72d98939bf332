package decide

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/test/kit/instancetype"
)

// mixed wants a share of the pool's nodes on demand, and so many of them at least. What is
// missing costs next to nothing.
func mixed(floor int, share float64) *scripted {
	return &scripted{
		info: policy.Info{Name: "mixed", Hooks: []policy.Hook{policy.HookRank}},
		rank: func(in *policy.RankInput) []policy.RankAnswer {
			missing := max(floor, int(math.Ceil(share*float64(in.Pool.RunningNodes)))) - (in.Pool.RunningNodes - in.Pool.SpotNodes)
			out := make([]policy.RankAnswer, len(in.Rows))
			for i := range in.Rows {
				out[i].Score = in.Rows[i].Cost
				if in.Rows[i].CapacityType == model.OnDemand && missing > 0 {
					out[i] = policy.RankAnswer{Score: in.Rows[i].Cost / 1000, MaxNodes: uint32(missing), Group: 1}
				}
			}
			return out
		},
	}
}

// paid has so many instances of m.small on demand paid for.
func paid(instances uint32) *scripted {
	return &scripted{
		info: policy.Info{Name: "paid", Hooks: []policy.Hook{policy.HookRank}},
		rank: func(in *policy.RankInput) []policy.RankAnswer {
			out := make([]policy.RankAnswer, len(in.Rows))
			for i := range in.Rows {
				r := &in.Rows[i]
				out[i].Score = r.Cost
				if r.InstanceType == "m.small" && r.CapacityType == model.OnDemand && r.RunningCluster < instances {
					out[i] = policy.RankAnswer{Score: r.Cost / 1000, MaxNodes: instances - r.RunningCluster}
				}
			}
			return out
		},
	}
}

// singles has nodes of a type for each capacity type, with a pod each that fills an m.small.
func singles(typ string, onDemand, spot int) *model.Snapshot {
	s := snapshot(0)
	s.Catalogs[0] = instancetype.Catalog(instancetype.New("m.small", 1000, 4, 50, instancetype.OnDemand("a", 70_000), instancetype.Spot("a", 10_000)))
	if typ == "m.large" {
		large := instancetype.New("m.large", 4000, 16, 50, instancetype.OnDemand("a", 280_000), instancetype.Spot("a", 40_000))
		s.Catalogs[0].Types = append(s.Catalogs[0].Types, large)
	}
	s.Pools[0].Disruption = model.Disruption{Policy: "WhenEmptyOrUnderutilized", AllowedEmpty: 50, AllowedUnderutilized: 50, AllowedDrifted: 50}
	for i := range onDemand + spot {
		o := model.Option{InstanceType: typ, Zone: "a", CapacityType: model.OnDemand}
		if i >= onDemand {
			o.CapacityType = model.Spot
		}
		addSingle(s, &o, []model.Pod{{UID: fmt.Sprint("p", i), Namespace: "shop", Name: fmt.Sprint("web-", i)}})
	}
	return s
}

func addSingle(s *model.Snapshot, o *model.Option, pods []model.Pod) {
	n := model.Node{
		Name: fmt.Sprint("n", len(s.Nodes), "-", s.Time.Unix()), State: model.Initialized, LaunchedAt: s.Time.Add(-time.Hour),
		InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: o.CapacityType, Labels: map[string]string{labelZone: o.Zone, labelCapacityType: string(o.CapacityType)},
	}
	n.Claim = n.Name
	for t := range s.Catalogs[0].Types {
		if typ := &s.Catalogs[0].Types[t]; typ.Name == o.InstanceType {
			n.Allocatable = typ.Allocatable.Clone()
			for _, of := range typ.Offerings {
				if of.CapacityType == o.CapacityType {
					n.Price = of.Price
				}
			}
		}
	}
	for _, p := range pods {
		p.Node = int32(len(s.Nodes))
		s.Pods = append(s.Pods, p)
	}
	s.Nodes = append(s.Nodes, n)
}

// carriedOut is the snapshot after the decision's commands, an hour later.
func carriedOut(t *testing.T, s *model.Snapshot, d *Decision) *model.Snapshot {
	t.Helper()
	next := *s
	next.Time, next.Seed, next.Nodes, next.Pods = s.Time.Add(time.Hour), s.Seed+1, nil, nil
	var gone []int32
	at := map[int32]*model.Option{} // by pod, what it moves to
	for i := range d.Commands {
		gone = append(gone, d.Commands[i].Nodes...)
		for k := range d.Commands[i].Replacements {
			for _, p := range d.Commands[i].Replacements[k].Pods {
				at[p] = &d.Commands[i].Replacements[k].Options[0]
			}
		}
	}
	for p := range s.Pods {
		pod, o := s.Pods[p], at[int32(p)]
		n := &s.Nodes[pod.Node]
		if slices.Contains(gone, pod.Node) != (o != nil) {
			t.Fatalf("pod %s of node %s moves to %v", pod.Name, n.Name, o)
		}
		if o == nil {
			o = &model.Option{InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: n.CapacityType}
		}
		addSingle(&next, o, []model.Pod{pod})
	}
	return &next
}

// TestCountingPolicies has rank policies that count what runs. Consolidation brings the
// cluster to what they want, and then leaves it alone: what a node is worth is what it would
// cost in the cluster without it.
func TestCountingPolicies(t *testing.T) {
	for name, tc := range map[string]struct {
		reason         string
		typ            string
		onDemand, spot int
		policy         policy.Policy
		want           string
		moves          int
	}{
		"as wanted":         {reason: "half are on demand", onDemand: 3, spot: 3, policy: mixed(2, 0.5), want: "3 m.small/on-demand, 3 m.small/spot"},
		"too few on demand": {reason: "one is missing", onDemand: 2, spot: 4, policy: mixed(2, 0.5), want: "3 m.small/on-demand, 3 m.small/spot", moves: 1},
		"too many":          {reason: "all beyond the half are bought as spot", onDemand: 6, spot: 0, policy: mixed(2, 0.5), want: "3 m.small/on-demand, 3 m.small/spot", moves: 3},
		"floor":             {reason: "two, whatever the share", onDemand: 2, spot: 9, policy: mixed(2, 0), want: "2 m.small/on-demand, 9 m.small/spot"},
		"below the floor":   {reason: "three are missing, and no more are bought", onDemand: 0, spot: 12, policy: mixed(3, 0), want: "3 m.small/on-demand, 9 m.small/spot", moves: 3},
		"too large":         {reason: "a node that counts may be replaced by a smaller one that counts", typ: "m.large", onDemand: 1, policy: mixed(1, 0), want: "1 m.small/on-demand", moves: 1},
		"paid":              {reason: "what is paid for is not replaced by spot", onDemand: 2, spot: 3, policy: paid(2), want: "2 m.small/on-demand, 3 m.small/spot"},
		"paid, not used":    {reason: "what is paid for is used", onDemand: 1, spot: 4, policy: paid(2), want: "2 m.small/on-demand, 3 m.small/spot", moves: 1},
		"beyond":            {reason: "the third is not paid for", onDemand: 3, spot: 2, policy: paid(2), want: "2 m.small/on-demand, 3 m.small/spot", moves: 1},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.typ == "" {
				tc.typ = "m.small"
			}
			s, moves := singles(tc.typ, tc.onDemand, tc.spot), 0
			for round := range 12 {
				d := decideOn(t, s, Options{Disrupt: true, Search: true}, tc.policy)
				if len(d.Commands) == 0 && round > 3 { // some are tried in turn
					break
				}
				for i := range d.Commands {
					moves += len(d.Commands[i].Nodes)
				}
				s = carriedOut(t, s, &d)
			}
			if diff := cmp.Diff(tc.want, composition(s)); diff != "" || moves != tc.moves {
				t.Errorf("%s: %d nodes were replaced, want %d; the cluster -want +got\n%s", tc.reason, moves, tc.moves, diff)
			}
		})
	}
}

func composition(s *model.Snapshot) string {
	counts := map[string]int{}
	for i := range s.Nodes {
		counts[s.Nodes[i].InstanceType+"/"+string(s.Nodes[i].CapacityType)]++
	}
	var out []string
	for what, n := range counts {
		out = append(out, fmt.Sprint(n, " ", what))
	}
	slices.Sort(out)
	slices.SortStableFunc(out, func(a, b string) int {
		return strings.Compare(a[strings.Index(a, " "):], b[strings.Index(b, " "):])
	})
	return strings.Join(out, ", ")
}

// TestCountingPolicyFails: a policy that counts what runs fails when it is asked about a
// smaller cluster. Costs with and without it are not compared: the nodes of its NodePools stay,
// and say why, until it answers. Other NodePools are consolidated.
func TestCountingPolicyFails(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		first   int // so many times it fails
		answers int // then so many answers, and then it fails
		failure policy.FailurePolicy
		want    string
		says    string
	}{
		"answers":        {reason: "three are replaced by spot, and the other pool's", answers: 1000, want: "general other"},
		"ignored":        {reason: "without its answers the rest would be replaced, and bought again", answers: 1, want: "other", says: "policy mixed did not say"},
		"fails closed":   {reason: "the same", answers: 1, failure: policy.Fail, want: "other", says: "policy mixed did not say"},
		"in the middle":  {reason: "what one node fewer costs was said before", answers: 3, want: "general other", says: "policy mixed did not say"},
		"failed already": {reason: "it has no part in the costs of the decision either", want: "general other"},
		"failed before":  {reason: "it has a part in these costs, and none in the decision's", answers: 1000, first: 1, want: "other", says: "policy mixed failed when this decision's costs were asked"},
	} {
		t.Run(name, func(t *testing.T) {
			s := singles("m.small", 6, 0)
			s.Pools[0].Name = "general"
			other := s.Pools[0]
			other.Name = "other"
			s.Pools = append(s.Pools, other)
			addSingle(s, &model.Option{InstanceType: "m.small", Zone: "a", CapacityType: model.OnDemand}, []model.Pod{{UID: "o", Namespace: "shop", Name: "o"}})
			s.Nodes[len(s.Nodes)-1].Pool = 1
			p, asked := mixed(2, 0.5), 0
			answer := p.rank
			p.info.Match, p.info.Failure = policy.Match{NodePools: []string{"general"}}, tc.failure
			p.rank = func(in *policy.RankInput) []policy.RankAnswer {
				if asked++; asked <= tc.first || asked > tc.first+tc.answers {
					return nil // a fault: an answer for each row is wanted
				}
				return answer(in)
			}
			d := decideOn(t, s, Options{Disrupt: true, Search: true, Explain: true, SearchEffort: disrupt.Effort{Replaces: 100, Deletes: 100, Starts: 10}}, p)
			pools, goes := map[string]bool{}, map[int32]bool{}
			for i := range d.Commands {
				for _, n := range d.Commands[i].Nodes {
					goes[n] = true
					pools[s.Pools[s.Nodes[n].Pool].Name] = true
				}
			}
			if got := strings.Join(slices.Sorted(maps.Keys(pools)), " "); got != tc.want {
				t.Errorf("%s: nodes go of %q, want %q (asked %d times)", tc.reason, got, tc.want, asked)
			}
			told := map[int32]bool{}
			for _, x := range d.Disruptions {
				told[x.Node] = told[x.Node] || tc.says != "" && !x.Go && strings.Contains(x.Reason, tc.says)
			}
			for i := range s.Nodes {
				if want := s.Nodes[i].Pool == 0 && tc.says != "" && !goes[int32(i)]; told[int32(i)] != want {
					t.Errorf("%s: whether node %s says why it stays is %v", tc.reason, s.Nodes[i].Name, told[int32(i)])
				}
			}
		})
	}
}
