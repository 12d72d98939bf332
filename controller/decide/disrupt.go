package decide

import (
	"context"
	"maps"
	"time"

	"spokeshave.dev/controller/disrupt"
	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/policy"
)

// Method is the kind of a voluntary disruption.
type Method string

// MethodEmpty removes a node that runs nothing but DaemonSet pods.
const MethodEmpty Method = "Empty"

// Disruption is the judgement over one node that could go.
type Disruption struct {
	// Node indexes Snapshot.Nodes.
	Node   int32  `json:"node"`
	Method Method `json:"method"`
	// Go says that the node may be deleted now.
	Go bool `json:"go"`
	// Policy and Reason say what keeps it otherwise.
	Policy string `json:"policy,omitempty"`
	Reason string `json:"reason,omitempty"`
	// RetryAt is when to ask again, where that is known.
	RetryAt time.Time `json:"retryAt,omitzero"`
}

// disrupt judges the empty nodes: what their annotations and pools say, then
// the policies, then the budgets.
func (d *decider) disrupt(ctx context.Context) {
	var asked []disrupt.Candidate
	taken := map[int32]bool{} // by this very plan
	for i := range d.out.Plan.Existing {
		taken[d.out.Plan.Existing[i].Node] = true
	}
	for _, c := range disrupt.Empty(d.s) {
		switch {
		case taken[c.Node]:
			d.keep(c.Node, "", "pods that need a place are planned here", time.Time{})
		case c.Block != "":
			d.keep(c.Node, "", string(c.Block), time.Time{})
		case c.Due.After(d.s.Time):
			d.keep(c.Node, "", "consolidateAfter has not passed", c.Due)
		default:
			asked = append(asked, c)
		}
	}
	if len(asked) == 0 {
		return
	}
	question := policy.ConsolidateInput{Call: d.call(0)}
	for _, c := range asked {
		question.Candidates = append(question.Candidates, d.candidate(c))
	}
	verdicts := d.panel.Consolidate(ctx, &question, func(m *policy.Match, i int) bool {
		return m.Pool(&d.s.Pools[d.s.Nodes[asked[i].Node].Pool])
	})
	budget := map[int32]int{}
	for i := range d.s.Pools {
		budget[int32(i)] = d.s.Pools[i].Disruption.AllowedEmpty
	}
	for i, c := range asked {
		v := &verdicts[i]
		pool := d.s.Nodes[c.Node].Pool
		switch {
		case v.Verdict == policy.Hold:
			d.keep(c.Node, v.Policy, v.Reason, d.s.Time.Add(time.Duration(v.HoldSeconds*float64(time.Second))))
		case v.Verdict == policy.Deny:
			d.keep(c.Node, v.Policy, v.Reason, time.Time{})
		case budget[pool] <= 0:
			d.keep(c.Node, "", "the disruption budgets of NodePool "+d.s.Pools[pool].Name+" allow no more", time.Time{})
		default:
			budget[pool]--
			d.out.Disruptions = append(d.out.Disruptions, Disruption{Node: c.Node, Method: MethodEmpty, Go: true})
		}
	}
}

func (d *decider) keep(node int32, name, reason string, retry time.Time) {
	d.out.Disruptions = append(d.out.Disruptions, Disruption{
		Node: node, Method: MethodEmpty, Policy: name, Reason: reason, RetryAt: retry,
	})
}

func (d *decider) candidate(c disrupt.Candidate) policy.Candidate {
	n := &d.s.Nodes[c.Node]
	p := &d.s.Pools[n.Pool]
	since := func(t time.Time) float64 {
		if t.IsZero() {
			return 0
		}
		return max(0, d.s.Time.Sub(t).Seconds())
	}
	used, jobs := model.Resources{}, 0
	for i := range d.s.Pods {
		if d.s.Pods[i].Node == c.Node {
			used.Add(d.s.Specs[d.s.Pods[i].Spec].Requests)
			if d.s.Pods[i].Job {
				jobs++
			}
		}
	}
	share := func(name string) float64 {
		if n.Allocatable[name] == 0 {
			return 0
		}
		return float64(used[name]) / float64(n.Allocatable[name])
	}
	idle := since(n.LastPodEvent)
	if n.LastPodEvent.IsZero() {
		idle = since(n.LaunchedAt)
	}
	past := d.past(p.Name)
	return policy.Candidate{
		JobPods: jobs, SinceDisruption: past.since, PoolEvictions: past.pool, ClusterEvictions: past.cluster,
		Node: n.Name, Claim: n.Claim, NodePool: p.Name, PoolTags: p.Labels, Labels: maps.Clone(n.Labels),
		Method: string(MethodEmpty), Action: "delete",
		InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: string(n.CapacityType),
		Price: n.Price.USD(), Savings: n.Price.USD(),
		AgeSeconds: since(n.LaunchedAt), IdleSeconds: idle,
		CPUUtilisation: share(model.CPU), MemoryUtilisation: share(model.Memory),
	}
}
