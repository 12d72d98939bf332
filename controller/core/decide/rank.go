package decide

import (
	"context"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/solver"
)

// offeringRef is the index of a type in a catalogue and of an offering in the type.
type offeringRef struct{ typ, offering int }

// rankStep asks the rank policies what the offerings cost.
type rankStep struct{ *decider }

// rankPool asks the rank policies about a pool's offerings. rows is nil when no rank
// policy applies; the billed price is then the cost and no question is built.
func (d *rankStep) rankPool(ctx context.Context, pool int) (rows []offeringRef, out policy.RankOutcome) {
	p := &d.s.Pools[pool]
	if p.Catalog < 0 || !d.ranked(p) {
		return nil, policy.RankOutcome{}
	}
	rows, in := d.question(pool, d.used())
	out = d.panel.Rank(ctx, p, in)
	d.out.Ranked = append(d.out.Ranked, Ranked{Pool: int32(pool), Rows: in.Rows, Outcome: out})
	return rows, out
}

// question is what the rank policies are asked about a pool with a catalogue, where so much
// is in use.
func (d *rankStep) question(pool int, use *usage) (rows []offeringRef, in *policy.RankInput) {
	p := &d.s.Pools[pool]
	in = &policy.RankInput{Call: d.call(d.s.Catalogs[p.Catalog].Generation), Pool: d.facts(pool, use)}
	types := d.s.Catalogs[p.Catalog].Types
	for t := range types {
		if !admits(p, &types[t], nil) {
			continue
		}
		for o := range types[t].Offerings {
			of := &types[t].Offerings[o]
			if !admits(p, &types[t], of) {
				continue
			}
			rows = append(rows, offeringRef{t, o})
			row := rowOf(&types[t], of)
			use.fill(&row, pool)
			row.PodsFit = podsFit(&in.Pool, &types[t])
			in.Rows = append(in.Rows, row)
		}
	}
	return rows, in
}

func (d *rankStep) ranked(p *model.Pool) bool {
	for _, each := range d.policies {
		info := each.Info()
		if info.Answers(policy.HookRank) && info.Match.Pool(p) {
			return true
		}
	}
	return false
}

func rowOf(t *model.InstanceType, of *model.Offering) policy.RankRow {
	row := policy.RankRow{
		InstanceType: t.Name,
		Family:       t.Labels[labelFamily],
		Zone:         of.Zone,
		CapacityType: of.CapacityType,
		Arch:         t.Arch,
		Billed:       of.Price.USD(),
		VCPU:         float64(t.Capacity[model.CPU]) / 1000,
		MemoryGiB:    float64(t.Capacity[model.Memory]) / (1 << 30),
		Interruption: of.Interruption,
		OnDemand:     onDemand(t, of.Zone).USD(),
		GPUs:         uint32(gpus(t)),
	}
	return row
}

func onDemand(t *model.InstanceType, zone string) model.Price {
	for i := range t.Offerings {
		if o := &t.Offerings[i]; o.CapacityType == model.OnDemand && o.Zone == zone {
			return o.Price
		}
	}
	return 0
}

func gpus(t *model.InstanceType) int64 {
	return t.Capacity["nvidia.com/gpu"] + t.Capacity["amd.com/gpu"]
}

// podsFit returns how many pods of the mean pending pod's size fit the type.
func podsFit(f *policy.PoolFacts, t *model.InstanceType) uint32 {
	if f.PendingPods == 0 {
		return 0
	}
	fit := float64(t.Allocatable[model.PodSlots])
	mean := func(total float64) float64 { return total / float64(f.PendingPods) }
	if cpu := mean(f.PendingCPU); cpu > 0 {
		fit = min(fit, float64(t.Allocatable[model.CPU])/1000/cpu)
	}
	if mem := mean(f.PendingMemoryGiB); mem > 0 {
		fit = min(fit, float64(t.Allocatable[model.Memory])/(1<<30)/mem)
	}
	return uint32(max(0, fit))
}

// admits reports whether the pool's requirements allow the type, and the offering
// when of is not nil. A requirement on a label that neither of them has is ignored
// here: the pool's template sets that label.
func admits(p *model.Pool, t *model.InstanceType, of *model.Offering) bool {
	for i := range p.Requirements {
		r := &p.Requirements[i]
		value, present := t.Labels[r.Key]
		if of != nil {
			switch r.Key {
			case labelZone:
				value, present = of.Zone, true
			case labelZoneID:
				value, present = of.ZoneID, of.ZoneID != ""
			case labelCapacityType:
				value, present = string(of.CapacityType), true
			}
			if v, ours := of.Label(r.Key); ours && !r.Matches(v, v != "") {
				return false
			}
		}
		if present && !r.Matches(value, true) {
			return false
		}
	}
	return true
}

// poolsWithoutOfferings returns the pools whose requirements no offering meets,
// available or not. A pool with an empty catalogue is skipped: it has not been read
// yet.
func (d *decider) poolsWithoutOfferings() []int32 {
	var out []int32
	for i := range d.s.Pools {
		p := &d.s.Pools[i]
		if p.Catalog < 0 || p.NotReady != "" || len(d.s.Catalogs[p.Catalog].Types) == 0 {
			continue
		}
		if !slices.ContainsFunc(d.s.Catalogs[p.Catalog].Types, func(t model.InstanceType) bool { return sells(p, &t) }) {
			out = append(out, int32(i))
		}
	}
	return out
}

// sells reports whether the type and one of its offerings meet the pool's
// requirements.
func sells(p *model.Pool, t *model.InstanceType) bool {
	return admits(p, t, nil) && slices.ContainsFunc(t.Offerings, func(o model.Offering) bool { return admits(p, t, &o) })
}

func (d *rankStep) facts(pool int, use *usage) policy.PoolFacts {
	p := &d.s.Pools[pool]
	f := policy.PoolFacts{
		Name: p.Name, Labels: p.Labels, RunningNodes: use.nodes[pool], SpotNodes: use.spot[pool], ClusterOnDemand: use.total,
	}
	for _, i := range d.pending {
		requests := d.s.Specs[d.s.Pods[i].Spec].Requests
		f.PendingPods++
		f.PendingCPU += float64(requests[model.CPU]) / 1000
		f.PendingMemoryGiB += float64(requests[model.Memory]) / (1 << 30)
	}
	return f
}

// rank fills in the effective costs of every pool, and blocks the pools whose
// fail-closed rank policy gave no answer.
func (d *rankStep) rank(ctx context.Context, in *solver.Input) {
	for i := range d.s.Pools {
		p := &d.s.Pools[i]
		if p.NotReady != "" {
			in.Blocked[i] = &model.Reason{Code: model.PoolNotReady, Pool: p.Name, Message: p.NotReady}
			continue
		}
		rows, out := d.rankPool(ctx, i)
		if out.Refused != nil {
			in.Blocked[i] = &model.Reason{
				Code: model.PolicyUnavailable, Pool: p.Name, Policy: out.Refused.Policy,
				Message: "rank policy " + out.Refused.Policy + " fails closed: " + out.Refused.Reason,
			}
			continue
		}
		if rows != nil {
			in.Costs[i] = d.costs(&d.s.Catalogs[p.Catalog], rows, &out)
		}
	}
}

// costs converts the rank policies' answer into the solver's cost table. An offering
// that is not among the rows has an empty entry; the pool's requirements exclude it.
func (d *rankStep) costs(c *model.Catalog, rows []offeringRef, out *policy.RankOutcome) solver.Costs {
	table := make(solver.Costs, len(c.Types))
	for t := range c.Types {
		table[t] = make([]solver.Effective, len(c.Types[t].Offerings))
	}
	for i, ref := range rows {
		e := &table[ref.typ][ref.offering]
		if x, excluded := out.Excluded[i]; excluded {
			*e = solver.Effective{Excluded: true, Policy: x.Policy, Reason: x.Reason}
			continue
		}
		for _, tier := range out.Tiers[i] {
			e.Tiers = append(e.Tiers, d.tier(tier))
		}
	}
	return table
}

// tier converts a tier; the group numbers are the same for all pools.
func (d *rankStep) tier(t policy.Tier) solver.Tier {
	out := solver.Tier{Until: t.Until, Cost: t.Cost}
	for _, s := range t.Shares {
		id, known := d.groups[s.Group]
		if !known {
			if d.groups == nil {
				d.groups = map[policy.GroupKey]int32{}
			}
			id = int32(len(d.groups))
			d.groups[s.Group] = id
		}
		out.Shares = append(out.Shares, solver.Share{Group: id, Part: s.Part})
	}
	return out
}
