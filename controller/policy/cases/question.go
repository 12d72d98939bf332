package cases

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/policy"
)

// What is assumed of a row that does not say.
const (
	defaultType = "m7g.large"
	defaultZone = "us-east-1a"
	defaultPool = "default"
	onDemand    = "on-demand"

	defaultPrice     = 0.1 // USD/hour
	defaultVCPU      = 2
	defaultMemoryGiB = 8
	defaultAge       = 3600 // seconds
	defaultIdle      = 600  // seconds
	never            = -1
)

type rankQuestion struct {
	in    policy.RankInput
	ids   []string
	tiers [][]policy.Tier // of the costs so far
}

type consolidateQuestion struct {
	in  policy.ConsolidateInput
	ids []string
}

type ceilingQuestion struct {
	in  policy.CeilingInput
	ids []string // of the launches
}

func (q *rankQuestion) stamp(c *Case) {
	if q != nil {
		q.in.Call = c.call()
	}
}

func (q *consolidateQuestion) stamp(c *Case) {
	if q != nil {
		q.in.Call = c.call()
	}
}

func (q *ceilingQuestion) stamp(c *Case) {
	if q != nil {
		q.in.Call = c.call()
	}
}

func (c *Case) call() policy.Call { return policy.Call{Time: c.Time.UTC(), Seed: c.Seed} }

// foreign names the parts of an input that belong to another hook.
func (in *inputYAML) foreign(at lines, own ...string) error {
	for _, part := range []struct {
		name string
		set  bool
	}{
		{"pool", in.Pool != nil},
		{"offerings", in.Offerings != nil},
		{"candidates", in.Candidates != nil},
		{"spend", in.Spend != nil},
		{"launches", in.Launches != nil},
	} {
		if part.set && !slices.Contains(own, part.name) {
			return fmt.Errorf("%s: input.%s is not for this hook; it has %s", at.in(part.name), part.name, strings.Join(own, " and "))
		}
	}
	return nil
}

func (in *inputYAML) rank(at lines) (*rankQuestion, error) {
	if err := in.foreign(at, "pool", "offerings"); err != nil {
		return nil, err
	}
	q := &rankQuestion{in: policy.RankInput{Pool: policy.PoolFacts{Name: defaultPool}}}
	if p := in.Pool; p != nil {
		q.in.Pool = policy.PoolFacts{
			Name: cmp.Or(p.Name, defaultPool), Labels: p.Labels, PendingPods: p.PendingPods, PendingCPU: p.PendingCPU,
			PendingMemoryGiB: p.PendingMemoryGiB, RunningNodes: p.RunningNodes,
			SpotNodes: p.SpotNodes, ClusterOnDemand: p.ClusterOnDemand,
		}
	}
	if len(in.Offerings) == 0 {
		return nil, fmt.Errorf("%s: input.offerings: name at least one", at)
	}
	for i := range in.Offerings {
		o := &in.Offerings[i]
		capacity := cmp.Or(o.CapacityType, onDemand)
		row := policy.RankRow{
			InstanceType: cmp.Or(o.InstanceType, defaultType), Zone: cmp.Or(o.Zone, defaultZone),
			CapacityType: model.CapacityType(capacity), Arch: cmp.Or(o.Arch, "amd64"),
			Billed: o.Billed, VCPU: or(o.VCPU, defaultVCPU), MemoryGiB: or(o.MemoryGiB, defaultMemoryGiB),
			Interruption: o.Interruption, PodsFit: or(o.PodsFit, 1), GPUs: o.GPUs, Running: o.Running,
			RunningCluster: max(o.Running, o.RunningCluster), FamilyOnDemand: o.FamilyOnDemand,
		}
		row.Family = cmp.Or(o.Family, family(row.InstanceType))
		if capacity == onDemand {
			row.OnDemand = o.Billed
		}
		row.OnDemand = or(o.OnDemand, row.OnDemand)
		id := cmp.Or(o.ID, row.InstanceType)
		if err := unique(q.ids, id, at.in("offerings", i)); err != nil {
			return nil, err
		}
		tiers, err := o.costs(at.in("offerings", i))
		if err != nil {
			return nil, err
		}
		q.ids, q.in.Rows, q.tiers = append(q.ids, id), append(q.in.Rows, row), append(q.tiers, tiers)
	}
	return q, nil
}

// costs are the costs so far, which policies before this one would have left.
func (o *offeringYAML) costs(at lines) ([]policy.Tier, error) {
	switch {
	case o.Cost != nil && o.Tiers != nil:
		return nil, fmt.Errorf("%s: cost and tiers exclude each other", at)
	case o.Tiers == nil:
		return []policy.Tier{{Cost: or(o.Cost, o.Billed)}}, nil
	}
	out, until := make([]policy.Tier, 0, len(o.Tiers)), uint32(0)
	for i, t := range o.Tiers {
		last := i == len(o.Tiers)-1
		if last != (t.Until == 0) || !last && t.Until <= until {
			return nil, fmt.Errorf("%s: tiers: until must rise, and the last tier have none", at.in("tiers", i))
		}
		until = t.Until
		out = append(out, policy.Tier{Until: t.Until, Cost: t.Cost})
	}
	return out, nil
}

func (in *inputYAML) consolidate(at lines) (*consolidateQuestion, error) {
	if err := in.foreign(at, "candidates"); err != nil {
		return nil, err
	}
	if len(in.Candidates) == 0 {
		return nil, fmt.Errorf("%s: input.candidates: name at least one", at)
	}
	q := &consolidateQuestion{}
	for i := range in.Candidates {
		c := &in.Candidates[i]
		if c.Node == "" {
			return nil, fmt.Errorf("%s: a candidate needs a node, its name in expect.verdicts", at.in("candidates", i))
		}
		if err := unique(q.ids, c.Node, at.in("candidates", i)); err != nil {
			return nil, err
		}
		price := or(c.Price, defaultPrice)
		q.ids = append(q.ids, c.Node)
		q.in.Candidates = append(q.in.Candidates, policy.Candidate{
			Node: c.Node, Claim: cmp.Or(c.Claim, c.Node), NodePool: cmp.Or(c.NodePool, defaultPool),
			PoolTags: c.NodePoolLabels, Labels: c.Labels, Method: cmp.Or(c.Method, "Empty"), Action: cmp.Or(c.Action, "delete"),
			InstanceType: cmp.Or(c.InstanceType, defaultType), Zone: cmp.Or(c.Zone, defaultZone),
			CapacityType: cmp.Or(c.CapacityType, onDemand), Price: price, Savings: or(c.Savings, price), Pods: c.Pods,
			AgeSeconds: or(c.AgeSeconds, defaultAge), IdleSeconds: or(c.IdleSeconds, defaultIdle),
			CPUUtilisation: c.CPUUtilisation, MemoryUtilisation: c.MemoryUtilisation, Cost: c.Cost,
			JobPods: c.JobPods, SinceDisruption: or(c.SinceDisruption, never),
			PoolEvictions: c.PoolEvictions, ClusterEvictions: c.ClusterEvictions,
		})
	}
	return q, nil
}

func (in *inputYAML) ceiling(at lines) (*ceilingQuestion, error) {
	if err := in.foreign(at, "spend", "launches"); err != nil {
		return nil, err
	}
	q := &ceilingQuestion{}
	spend := map[string]spendYAML{"cluster": {}}
	maps.Copy(spend, in.Spend)
	for _, scope := range keys(spend) {
		s := spend[scope]
		q.in.Scopes = append(q.in.Scopes, policy.ScopeSpend{
			Scope: scope, RunningUSD: s.RunningUSD, InFlightUSD: s.InFlightUSD, MonthToDateUSD: s.MonthToDateUSD, Nodes: s.Nodes,
		})
	}
	for i := range in.Launches {
		l := &in.Launches[i]
		capacity, price := cmp.Or(l.CapacityType, onDemand), or(l.Price, defaultPrice)
		regular := 0.0
		if capacity == onDemand {
			regular = price
		}
		row := policy.Launch{
			NodePool: cmp.Or(l.NodePool, defaultPool), PoolTags: l.NodePoolLabels,
			InstanceType: cmp.Or(l.InstanceType, defaultType), Zone: cmp.Or(l.Zone, defaultZone), CapacityType: capacity,
			Price: price, WorstPrice: or(l.WorstPrice, price), OnDemand: or(l.OnDemand, regular),
			VCPU: or(l.VCPU, defaultVCPU), MemoryGiB: or(l.MemoryGiB, defaultMemoryGiB),
			GPUs: l.GPUs, Pods: or(l.Pods, 1), Namespaces: l.Namespaces,
		}
		row.Family = cmp.Or(l.Family, family(row.InstanceType))
		if row.Namespaces == nil {
			row.Namespaces = []string{"default"}
		}
		id := cmp.Or(l.ID, row.InstanceType)
		if err := unique(q.ids, id, at.in("launches", i)); err != nil {
			return nil, err
		}
		q.ids, q.in.Launches = append(q.ids, id), append(q.in.Launches, row)
	}
	return q, nil
}

func family(instanceType string) string {
	f, _, _ := strings.Cut(instanceType, ".")
	return f
}

func unique(ids []string, id string, at lines) error {
	if slices.Contains(ids, id) {
		return fmt.Errorf("%s: %q is there already: give each an id of its own", at, id)
	}
	return nil
}

func or[T any](given *T, otherwise T) T {
	if given != nil {
		return *given
	}
	return otherwise
}
