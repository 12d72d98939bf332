package contrast

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/tools/reference/oracle"
)

// Case is a cluster in both forms.
type Case struct {
	Name     string
	Snapshot *model.Snapshot
	World    *oracle.World
}

// Result is the comparison of a case.
type Result struct {
	Name        string       `json:"name"`
	Asked       int          `json:"asked"`
	Ours        Summary      `json:"ours"`
	Theirs      Summary      `json:"reference"`
	Differences []Difference `json:"differences,omitempty"`
}

// Summary sums a plan up.
type Summary struct {
	Placed int `json:"placed"`
	Nodes  int `json:"nodes"`
	// USD is the hourly price of the new nodes, each as its cheapest option.
	USD float64 `json:"usd"`
	// Preferences counts those that are met, of pods that both plans place.
	Preferences int `json:"preferences"`
}

// Run plans the case both ways and compares.
func Run(ctx context.Context, c *Case) (*Result, error) {
	s := c.Snapshot
	decision, err := decide.Decide(ctx, s, nil, decide.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: decide: %w", c.Name, err)
	}
	answer, err := oracle.Schedule(ctx, c.World)
	if err != nil {
		return nil, fmt.Errorf("%s: reference: %w", c.Name, err)
	}
	pods := asked(s)
	theirs, err := plan(s, pods, answer)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	violations := broken(s, pods, theirs)
	valid(s, pods, theirs, violations)
	a, b := newView(s, pods, &decision.Plan), newView(s, pods, theirs)
	out := &Result{Name: c.Name, Asked: len(pods)}
	out.Ours, out.Theirs = a.summary(b), b.summary(a)
	out.Differences = differences(s, violations, a, b, out)
	return out, nil
}

// asked are the pods that need a place.
func asked(s *model.Snapshot) []int32 {
	var out []int32
	for i := range s.Pods {
		if s.NeedsPlace(&s.Pods[i]) {
			out = append(out, int32(i))
		}
	}
	return out
}

// plan is the reference's answer as a plan for the snapshot.
func plan(s *model.Snapshot, pods []int32, a *oracle.Answer) (*model.Plan, error) {
	at := map[string]int32{}
	for _, i := range pods {
		at[s.Pods[i].Key()] = i
	}
	indexes := func(keys []string) ([]int32, error) {
		var out []int32
		for _, key := range keys {
			i, ok := at[key]
			if !ok {
				return nil, fmt.Errorf("the reference plans for pod %s, which nobody asked about", key)
			}
			out = append(out, i)
			delete(at, key)
		}
		slices.Sort(out)
		return out, nil
	}
	out := &model.Plan{}
	var err error
	for i := range s.Nodes {
		if keys := a.Existing[s.Nodes[i].Name]; len(keys) > 0 {
			x := model.Assignment{Node: int32(i)}
			if x.Pods, err = indexes(keys); err != nil {
				return nil, err
			}
			out.Existing = append(out.Existing, x)
		}
	}
	for i := range a.Nodes {
		n := &a.Nodes[i]
		x := model.PlannedNode{Pool: int32(slices.IndexFunc(s.Pools, func(p model.Pool) bool { return p.Name == n.Pool })), Labels: userLabels(s, n)}
		if x.Pods, err = indexes(n.Pods); err != nil {
			return nil, err
		}
		for _, o := range n.Options {
			x.Options = append(x.Options, model.Option{
				InstanceType: o.Type, Zone: o.Zone, CapacityType: model.CapacityType(o.CapacityType), Price: model.PriceOf(o.USD), Effective: o.USD,
			})
		}
		out.Nodes = append(out.Nodes, x)
	}
	for key, i := range at {
		why := a.Unplaced[key]
		if why == "" {
			why = "not considered"
		}
		out.Unplaced = append(out.Unplaced, model.Unplaced{Pod: i, Reasons: []model.Reason{{Code: model.NoInstanceType, Message: why}}})
	}
	slices.SortFunc(out.Unplaced, func(a, b model.Unplaced) int { return cmp.Compare(a.Pod, b.Pod) })
	return out, nil
}

// userLabels are the claim's labels for keys that only the pool's requirements define.
func userLabels(s *model.Snapshot, n *oracle.Node) map[string]string {
	out := map[string]string{}
	for i := range s.Pools {
		p := &s.Pools[i]
		if p.Name != n.Pool {
			continue
		}
		for _, r := range p.Requirements {
			if v, ok := n.Labels[r.Key]; ok && p.NodeLabels[r.Key] == "" && !offered(s, p, r.Key) {
				out[r.Key] = v
			}
		}
	}
	return out
}

// offered reports whether instance types or offerings set the label.
func offered(s *model.Snapshot, p *model.Pool, key string) bool {
	switch key {
	case "topology.kubernetes.io/zone", "karpenter.sh/capacity-type", "topology.k8s.aws/zone-id", "karpenter.sh/nodepool", "topology.kubernetes.io/region":
		return true
	}
	if p.Catalog < 0 {
		return false
	}
	for i := range s.Catalogs[p.Catalog].Types {
		if _, ok := s.Catalogs[p.Catalog].Types[i].Labels[key]; ok {
			return true
		}
	}
	return false
}

// valid takes the pods out of the reference's plan that it puts where a rule is broken,
// until no rule is: what remains could be carried out. When a rule is broken that names no
// pods, nothing remains.
func valid(s *model.Snapshot, pods []int32, p *model.Plan, violations []check.Violation) {
	for len(violations) > 0 && len(p.Existing)+len(p.Nodes) > 0 {
		var out []int32
		for i := range violations {
			out = append(out, violations[i].Pods...)
		}
		if len(out) == 0 {
			out = pods
		}
		takeOut(p, out)
		violations = broken(s, pods, p)
	}
}

// takeOut makes pods unplaced. Nodes without pods are not launched.
func takeOut(p *model.Plan, pods []int32) {
	gone := map[int32]bool{}
	for _, i := range pods {
		gone[i] = true
	}
	drop := func(list []int32) []int32 {
		return slices.DeleteFunc(list, func(i int32) bool {
			if gone[i] {
				p.Unplaced = append(p.Unplaced, model.Unplaced{Pod: i, Reasons: []model.Reason{{Code: model.NoInstanceType, Message: "the reference's plan breaks a rule there"}}})
			}
			return gone[i]
		})
	}
	for i := range p.Existing {
		p.Existing[i].Pods = drop(p.Existing[i].Pods)
	}
	for i := range p.Nodes {
		p.Nodes[i].Pods = drop(p.Nodes[i].Pods)
	}
	p.Existing = slices.DeleteFunc(p.Existing, func(x model.Assignment) bool { return len(x.Pods) == 0 })
	p.Nodes = slices.DeleteFunc(p.Nodes, func(n model.PlannedNode) bool { return len(n.Pods) == 0 })
	slices.SortFunc(p.Unplaced, func(a, b model.Unplaced) int { return cmp.Compare(a.Pod, b.Pod) })
}

// broken are the rules that the reference's plan breaks. It does not state requests as
// our plans do.
func broken(s *model.Snapshot, pods []int32, p *model.Plan) []check.Violation {
	return check.Plan(s, p, check.Constraints{Pods: pods, Skip: []check.Kind{check.Requests}})
}
