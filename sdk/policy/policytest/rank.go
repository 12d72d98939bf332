package policytest

import (
	"testing"

	"spokeshave.dev/sdk/abi"
)

// Pool is the NodePool that a rank question is about.
type Pool struct {
	Name             string
	Labels           map[string]string
	PendingPods      int
	PendingCPU       float64
	PendingMemoryGiB float64
	RunningNodes     int
	SpotNodes        int
	ClusterOnDemand  float64
}

// Offering is an offering to price. A Cost of 0 stands for Price, the billed
// one. CapacityType is "spot", "on-demand" or "reserved", Arch "amd64" or
// "arm64".
//
// Size: the fields of an offering in docs/spec/policy.md.
type Offering struct {
	InstanceType, Family, Zone, CapacityType, Arch string
	Price, Cost, OnDemand                          float64
	VCPU, MemoryGiB, Interruption                  float64
	PodsFit, GPUs, Running, RunningCluster         int
	FamilyOnDemand                                 float64
}

// Verdict is the answer for one offering.
type Verdict struct {
	Score    float64
	MaxNodes int
	Group    int
	Shared   bool
	Excluded bool
	Reason   string
}

// Rank asks the policy for the effective cost of offerings.
func Rank(tb testing.TB, pool Pool, offerings []Offering) []Verdict {
	tb.Helper()
	b := newBuilder(abi.HookRank)
	rows, outs := make([]*abi.RankRow, len(offerings)), make([]*abi.RankOut, len(offerings))
	for i, o := range offerings {
		if o.Cost == 0 {
			o.Cost = o.Price
		}
		rows[i] = &abi.RankRow{
			Billed: o.Price, Cost: o.Cost, OnDemand: o.OnDemand, VCPU: o.VCPU, MemoryGiB: o.MemoryGiB,
			Interruption: o.Interruption, PodsFit: uint32(o.PodsFit), GPUs: uint32(o.GPUs), Running: uint32(o.Running),
			RunningCluster: uint32(o.RunningCluster), FamilyOnDemand: o.FamilyOnDemand,
			Zone: b.id(o.Zone), Family: b.id(o.Family), Type: b.id(o.InstanceType), CapacityType: capacity(o.CapacityType),
		}
		switch o.Arch {
		case "amd64":
			rows[i].Arch = abi.ArchAMD64
		case "arm64":
			rows[i].Arch = abi.ArchARM64
		}
		outs[i] = &abi.RankOut{Score: o.Cost}
	}
	row := &abi.PoolRow{
		Name: b.id(pool.Name), PendingPods: uint32(pool.PendingPods), RunningNodes: uint32(pool.RunningNodes),
		PendingCPU: pool.PendingCPU, PendingMemoryGiB: pool.PendingMemoryGiB,
		SpotNodes: uint32(pool.SpotNodes), ClusterOnDemand: pool.ClusterOnDemand,
	}
	row.LabelsFirst, row.LabelsCount = b.labels(pool.Labels)
	b.head.Pool = section(b, abi.PoolStride, []*abi.PoolRow{row})
	b.head.Rows = section(b, abi.RankStride, rows)
	b.head.Out = section(b, abi.RankOutStride, outs)
	v, messages := b.ask(tb)
	verdicts := make([]Verdict, len(offerings))
	for i := range verdicts {
		var out abi.RankOut
		out.Get(v.Row(v.Out, uint32(i)))
		verdicts[i] = Verdict{
			Score: out.Score, MaxNodes: int(out.MaxNodes), Group: int(out.Group), Shared: out.Flags&abi.RankShared != 0,
			Excluded: out.Flags&abi.RankExclude != 0,
			Reason:   reason(tb, messages, out.Reason),
		}
	}
	return verdicts
}
