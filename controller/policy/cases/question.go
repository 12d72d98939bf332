package cases

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// Defaults for fields that a row leaves out.
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

// foreign returns an error for the parts of an input that belong to another hook.
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
	if in.Pool != nil {
		q.in.Pool = *in.Pool
		q.in.Pool.Name = cmp.Or(in.Pool.Name, defaultPool)
	}
	if len(in.Offerings) == 0 {
		return nil, fmt.Errorf("%s: input.offerings: name at least one", at)
	}
	for i := range in.Offerings {
		place := at.in("offerings", i)
		o := offeringYAML{RankRow: policy.RankRow{
			InstanceType: defaultType, Zone: defaultZone, CapacityType: model.OnDemand, Arch: "amd64",
			VCPU: defaultVCPU, MemoryGiB: defaultMemoryGiB, PodsFit: 1,
		}}
		given, err := place.row(&o)
		if err != nil {
			return nil, err
		}
		o.Family = cmp.Or(o.Family, family(o.InstanceType))
		o.RunningCluster = max(o.Running, o.RunningCluster)
		if !given["onDemand"] && o.CapacityType == model.OnDemand {
			o.OnDemand = o.Billed
		}
		id := cmp.Or(o.ID, o.InstanceType)
		if err := unique(q.ids, id, place); err != nil {
			return nil, err
		}
		tiers, err := o.costs(place, given["cost"])
		if err != nil {
			return nil, err
		}
		o.Cost = 0 // what the tiers say
		q.ids, q.in.Rows, q.tiers = append(q.ids, id), append(q.in.Rows, o.RankRow), append(q.tiers, tiers)
	}
	return q, nil
}

// costs returns the costs so far, as if earlier policies had set them.
func (o *offeringYAML) costs(at lines, given bool) ([]policy.Tier, error) {
	switch {
	case given && o.Tiers != nil:
		return nil, fmt.Errorf("%s: cost and tiers exclude each other", at)
	case o.Tiers == nil && given:
		return []policy.Tier{{Cost: o.Cost}}, nil
	case o.Tiers == nil:
		return []policy.Tier{{Cost: o.Billed}}, nil
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
		place := at.in("candidates", i)
		c := policy.Candidate{
			NodePool: defaultPool, Method: "Empty", Action: "delete", InstanceType: defaultType, Zone: defaultZone,
			CapacityType: onDemand, Price: defaultPrice, AgeSeconds: defaultAge, IdleSeconds: defaultIdle, SinceDisruption: never,
		}
		given, err := place.row(&c)
		if err != nil {
			return nil, err
		}
		if c.Node == "" {
			return nil, fmt.Errorf("%s: a candidate needs a node, its name in expect.verdicts", place)
		}
		if err := unique(q.ids, c.Node, place); err != nil {
			return nil, err
		}
		c.Claim = cmp.Or(c.Claim, c.Node)
		if !given["savings"] {
			c.Savings = c.Price
		}
		q.ids, q.in.Candidates = append(q.ids, c.Node), append(q.in.Candidates, c)
	}
	return q, nil
}

func (in *inputYAML) ceiling(at lines) (*ceilingQuestion, error) {
	if err := in.foreign(at, "spend", "launches"); err != nil {
		return nil, err
	}
	q := &ceilingQuestion{}
	spend := map[string]policy.ScopeSpend{"cluster": {}}
	maps.Copy(spend, in.Spend)
	for _, scope := range keys(spend) {
		s := spend[scope]
		s.Scope = scope
		q.in.Scopes = append(q.in.Scopes, s)
	}
	for i := range in.Launches {
		place := at.in("launches", i)
		l := launchYAML{Launch: policy.Launch{
			NodePool: defaultPool, InstanceType: defaultType, Zone: defaultZone, CapacityType: onDemand,
			Price: defaultPrice, VCPU: defaultVCPU, MemoryGiB: defaultMemoryGiB, Pods: 1, Namespaces: []string{"default"},
		}}
		given, err := place.row(&l)
		if err != nil {
			return nil, err
		}
		l.Family = cmp.Or(l.Family, family(l.InstanceType))
		if !given["worstPrice"] {
			l.WorstPrice = l.Price
		}
		if !given["onDemand"] && l.CapacityType == onDemand {
			l.OnDemand = l.Price
		}
		id := cmp.Or(l.ID, l.InstanceType)
		if err := unique(q.ids, id, place); err != nil {
			return nil, err
		}
		q.ids, q.in.Launches = append(q.ids, id), append(q.in.Launches, l.Launch)
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
