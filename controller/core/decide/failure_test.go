package decide

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/controller/core/solver/parallel"
)

// places returns the pods that a decision finds a place for, and those that it does not
// by the code of their first reason.
func places(d *Decision) (placed []int32, unplaced map[model.ReasonCode][]int32) {
	unplaced = map[model.ReasonCode][]int32{}
	for i := range d.Plan.Nodes {
		placed = append(placed, d.Plan.Nodes[i].Pods...)
	}
	for i := range d.Plan.Existing {
		placed = append(placed, d.Plan.Existing[i].Pods...)
	}
	for i := range d.Plan.Unplaced {
		u := &d.Plan.Unplaced[i]
		unplaced[u.Reasons[0].Code] = append(unplaced[u.Reasons[0].Code], u.Pod)
	}
	slices.Sort(placed)
	return placed, unplaced
}

// TestKeepsWhatIsProven: a plan that the checker rejects loses the pods on which it
// fails, and no others.
func TestKeepsWhatIsProven(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		spoil  func(*model.Snapshot, *model.Plan)
		placed []int32
		lost   []int32
	}{
		"another pod's selector": {
			reason: "of a node with four pods, the one whose selector the node does not meet is left out",
			spoil: func(s *model.Snapshot, _ *model.Plan) {
				s.Specs = append(s.Specs, s.Specs[0])
				s.Specs[1].NodeSelector = map[string]string{"example.com/disk": "fast"}
				s.Pods[2].Spec = 1
			},
			placed: []int32{0, 1, 3, 4, 5, 6, 7, 8}, lost: []int32{2},
		},
		"too many pods": {
			reason: "a node that is too full keeps what it has room for",
			spoil: func(_ *model.Snapshot, p *model.Plan) {
				p.Nodes[0].Pods = append(p.Nodes[0].Pods, p.Nodes[1].Pods...)
				p.Nodes = slices.Delete(p.Nodes, 1, 2)
			},
			placed: []int32{0, 1, 2, 3, 8}, lost: []int32{4, 5, 6, 7},
		},
		"forgotten": {
			reason: "a pod that the plan forgets is reported",
			spoil:  func(_ *model.Snapshot, p *model.Plan) { p.Nodes[0].Pods = p.Nodes[0].Pods[1:] },
			placed: []int32{1, 2, 3, 4, 5, 6, 7, 8}, lost: []int32{0},
		},
		"twice": {
			reason: "a pod cannot be on two nodes",
			spoil:  func(_ *model.Snapshot, p *model.Plan) { p.Nodes[2].Pods = append(p.Nodes[2].Pods, 0) },
			placed: []int32{1, 2, 3, 4, 5, 6, 7, 8}, lost: []int32{0},
		},
		"no such node": {
			reason: "an index out of range loses the pods that it was for",
			spoil: func(_ *model.Snapshot, p *model.Plan) {
				p.Existing = append(p.Existing, model.Assignment{Node: 99, Pods: p.Nodes[2].Pods})
				p.Nodes = p.Nodes[:2]
			},
			placed: []int32{0, 1, 2, 3, 4, 5, 6, 7}, lost: []int32{8},
		},
		"beyond the limit": {
			reason: "a rule about all nodes names no pod: a search by halves finds what may stay",
			spoil:  func(s *model.Snapshot, _ *model.Plan) { s.Pools[0].Limits = model.Resources{model.NodeCount: 2} },
			placed: []int32{0, 1, 2, 3, 4, 5, 6, 7}, lost: []int32{8},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(9)
			d := decideOn(t, s, Options{solve: func(in solver.Input) (model.Plan, solver.Stats) {
				plan := model.Plan{}
				for _, pods := range [][]int32{{0, 1, 2, 3}, {4, 5, 6, 7}, {8}} {
					plan.Nodes = append(plan.Nodes, model.PlannedNode{Pods: pods, Requests: model.Resources{model.CPU: 4000, model.Memory: 4 << 30}, Options: []model.Option{
						{InstanceType: "c.large", Zone: "a", CapacityType: model.OnDemand, Price: 180_000, Effective: 0.18},
					}})
				}
				tc.spoil(in.Snapshot, &plan)
				return plan, solver.Stats{}
			}})
			placed, unplaced := places(&d)
			if diff := cmp.Diff(tc.placed, placed); diff != "" {
				t.Errorf("%s: placed (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(map[model.ReasonCode][]int32{model.NotProven: tc.lost}, unplaced); diff != "" {
				t.Errorf("%s: unplaced (-want +got)\n%s", tc.reason, diff)
			}
			if len(d.Failures) != 1 || d.Failures[0].Kind != Unproven || !slices.Equal(d.Failures[0].Pods, tc.lost) {
				t.Errorf("failures %+v", d.Failures)
			}
			if d.ID == "" || len(d.Warnings) != 1 {
				t.Errorf("decision %q, warnings %v", d.ID, d.Warnings)
			}
		})
	}
}

// defective is a solver that panics when it is asked about some pods.
func defective(bad func(*model.Pod) bool) func(solver.Input) (model.Plan, solver.Stats) {
	return func(in solver.Input) (model.Plan, solver.Stats) {
		for _, p := range in.Pods {
			if bad(&in.Snapshot.Pods[p]) {
				var g parallel.Group
				g.Go(func() { panic("index out of range") })
				g.Wait()
			}
		}
		return solver.Solve(in)
	}
}

// TestPanicCostsOnePart: a decision that panics is made without the part that panics: the
// pods at fault, the search, or all disruption. The input decides what is left out.
func TestPanicCostsOnePart(t *testing.T) {
	kinds := func(s *model.Snapshot) { // a spec for each pod
		for i := range s.Pods {
			s.Pods[i].Spec = int32(len(s.Specs))
			s.Specs = append(s.Specs, s.Specs[0])
		}
	}
	consolidate := func(panics bool) policy.Policy {
		return &scripted{
			info: policy.Info{Name: "keep", Hooks: []policy.Hook{policy.HookConsolidate}},
			consolidate: func(in *policy.ConsolidateInput) []policy.ConsolidateAnswer {
				if panics {
					panic("no such candidate")
				}
				return make([]policy.ConsolidateAnswer, len(in.Candidates))
			},
		}
	}
	for name, tc := range map[string]struct {
		reason   string
		bad      func(*model.Pod) bool
		policies []policy.Policy
		placed   []int32
		held     []int32
		failures []Failure
	}{
		"sound": {
			reason: "nothing fails", bad: func(*model.Pod) bool { return false },
			placed: []int32{0, 1, 2, 3, 4, 5}, policies: []policy.Policy{consolidate(false)},
		},
		"two pods": {
			reason: "the others get their nodes", bad: func(p *model.Pod) bool { return p.Name == "web-b" || p.Name == "web-e" },
			placed: []int32{0, 2, 3, 5}, held: []int32{1, 4},
			failures: []Failure{{Kind: Panicked, Part: Provisioning, Message: "panic: index out of range", Pods: []int32{1, 4}}},
		},
		"every pod": {
			reason: "a decision without pods is one, too", bad: func(*model.Pod) bool { return true },
			held:     []int32{0, 1, 2, 3, 4, 5},
			failures: []Failure{{Kind: Panicked, Part: Provisioning, Message: "panic: index out of range", Pods: []int32{0, 1, 2, 3, 4, 5}}},
		},
		"disruption": {
			reason: "pods get their nodes when the part about disruption panics", bad: func(*model.Pod) bool { return false },
			policies: []policy.Policy{consolidate(true)}, placed: []int32{0, 1, 2, 3, 4, 5},
			failures: []Failure{{Kind: Panicked, Part: Disrupting, Message: "panic: no such candidate"}, {Kind: Panicked, Part: Disrupting, Message: "panic: no such candidate"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(6)
			kinds(s)
			s.Nodes = []model.Node{idleNode()}
			opts := Options{Disrupt: true, Search: true, solve: defective(tc.bad)}
			d := Try(t.Context(), s, tc.policies, opts)
			placed, unplaced := places(&d)
			if diff := cmp.Diff(tc.placed, placed); diff != "" {
				t.Errorf("%s: placed (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.held, unplaced[model.HeldBack]); diff != "" {
				t.Errorf("%s: held back (-want +got)\n%s", tc.reason, diff)
			}
			for i := range d.Failures {
				if !strings.Contains(d.Failures[i].Stack, "failure_test.go") {
					t.Errorf("the stack does not show the defect:\n%s", d.Failures[i].Stack)
				}
				d.Failures[i].Stack = ""
			}
			if diff := cmp.Diff(tc.failures, d.Failures); diff != "" {
				t.Errorf("%s: failures (-want +got)\n%s", tc.reason, diff)
			}
			again := Try(t.Context(), s, tc.policies, opts)
			one, err := json.Marshal(&d)
			two, err2 := json.Marshal(&again)
			if err != nil || err2 != nil || !cmp.Equal(one, two) || d.ID == "" {
				t.Errorf("a second decision differs, %v, %v:\n%s\n%s", err, err2, one, two)
			}
			for i := range s.Pods {
				if s.Pods[i].Held != nil {
					t.Error("the snapshot was changed")
				}
			}
		})
	}
}

// idleNode is an empty node that may be removed.
func idleNode() model.Node {
	return model.Node{
		Name: "idle", Claim: "idle", State: model.Initialized, Pool: 0, InstanceType: "c.large", Zone: "a", CapacityType: model.OnDemand,
		Price: 180_000, LaunchedAt: time.Date(2026, 3, 11, 8, 0, 0, 0, time.UTC), Allocatable: model.Resources{model.CPU: 10},
	}
}

// TestNothingCanBeDecided: when a decision fails without any pods, there is none, and the
// failure says why.
func TestNothingCanBeDecided(t *testing.T) {
	s := snapshot(2)
	s.Pools[0].Catalog = 7 // there is no such catalogue
	d := Try(t.Context(), s, nil, Options{Disrupt: true})
	if d.ID != "" || len(d.Failures) != 1 || d.Failures[0].Kind != Panicked {
		t.Errorf("decision %q, failures %+v", d.ID, d.Failures)
	}
}

// TestHeldPods: a pod that is held back is not planned for, and reported with the reason.
func TestHeldPods(t *testing.T) {
	s := snapshot(3)
	s.Pods[1].Held = &model.Reason{Code: model.HeldBack, Pool: "general", Message: "the API server refuses its NodeClaim"}
	d := decideOn(t, s, Options{})
	placed, unplaced := places(&d)
	if !slices.Equal(placed, []int32{0, 2}) || !slices.Equal(unplaced[model.HeldBack], []int32{1}) {
		t.Errorf("placed %v, unplaced %v", placed, unplaced)
	}
}

// TestUnprovenReplacement: a node whose replacement's plan fails its proof is kept, and
// the decision goes on.
func TestUnprovenReplacement(t *testing.T) {
	s := used()
	d := newDecider(s, nil, Options{})
	j := &disrupter{decider: d, survey: disrupt.NewSurvey(s, nil), disrupting: make([]int, len(s.Pools))}
	j.input(t.Context())
	projection := (&searchStep{j}).projection(t.Context(), nil)
	p := projection.Consolidate([]int32{1})
	if p == nil {
		t.Fatal("nothing to replace")
	}
	p.Sim.Plan = model.Plan{Existing: []model.Assignment{{Node: 0, Pods: []int32{2}}}} // node full has no room
	if refused := (&searchStep{j}).start(t.Context(), projection, p); !slices.Equal(refused, []int32{1}) {
		t.Errorf("refused %v", refused)
	}
	if len(d.out.Failures) != 1 || d.out.Failures[0].Part != Disrupting || len(d.out.Commands) != 0 || len(d.out.Disruptions) != 1 {
		t.Errorf("failures %+v, commands %+v, disruptions %+v", d.out.Failures, d.out.Commands, d.out.Disruptions)
	}
}
