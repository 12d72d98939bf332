package policytest

import (
	"testing"

	"spokeshave.dev/sdk/abi"
)

// Candidate is a node that could be disrupted. Method is "Empty",
// "Underutilized", "Drifted" or "Expired", Action "delete" or "replace".
//
// Size: the fields of a candidate in docs/spec/policy.md.
type Candidate struct {
	Node, NodePool, InstanceType, Zone, CapacityType, Method, Action string
	Labels, PoolLabels                                               map[string]string
	Price, Savings, AgeSeconds, IdleSeconds                          float64
	CPUUtilisation, MemoryUtilisation, Cost, MoveCost                float64
	Pods, JobPods, PoolEvictions, ClusterEvictions                   int
	// SinceDisruption is -1 for never.
	SinceDisruption float64
}

// Permission is the answer for one candidate. Verdict is "allow", "deny" or
// "hold".
type Permission struct {
	Verdict     string
	HoldSeconds float64
	Cost        float64
	Reason      string
}

// Consolidate asks the policy which nodes may be disrupted.
func Consolidate(tb testing.TB, candidates []Candidate) []Permission {
	tb.Helper()
	b := newBuilder(abi.HookConsolidate)
	rows, outs := make([]*abi.CandidateRow, len(candidates)), make([]*abi.ConsolidateOut, len(candidates))
	methods := map[string]uint8{
		"Empty": abi.MethodEmpty, "Underutilized": abi.MethodUnderutilized, "Drifted": abi.MethodDrifted, "Expired": abi.MethodExpired,
	}
	actions := map[string]uint8{"delete": abi.ActionDelete, "replace": abi.ActionReplace}
	for i, c := range candidates {
		rows[i] = &abi.CandidateRow{
			Price: c.Price, Savings: c.Savings, AgeSeconds: c.AgeSeconds, IdleSeconds: c.IdleSeconds,
			CPUUtilisation: c.CPUUtilisation, MemoryUtilisation: c.MemoryUtilisation, Cost: c.Cost,
			Node: b.id(c.Node), Pool: b.id(c.NodePool), Type: b.id(c.InstanceType), Zone: b.id(c.Zone), Pods: uint32(c.Pods),
			Method: methods[c.Method], Action: actions[c.Action], CapacityType: capacity(c.CapacityType),
			JobPods: uint32(c.JobPods), SinceDisruption: c.SinceDisruption,
			PoolEvictions: uint32(c.PoolEvictions), ClusterEvictions: uint32(c.ClusterEvictions), MoveCost: c.MoveCost,
		}
		rows[i].LabelsFirst, rows[i].LabelsCount = b.labels(c.Labels)
		rows[i].PoolLabelsFirst, rows[i].PoolLabelsCount = b.labels(c.PoolLabels)
		outs[i] = &abi.ConsolidateOut{Verdict: abi.VerdictDeny}
	}
	b.head.Rows = section(b, abi.CandidateStride, rows)
	b.head.Out = section(b, abi.ConsolidateOutStride, outs)
	v, messages := b.ask(tb)
	permissions := make([]Permission, len(candidates))
	for i := range permissions {
		var out abi.ConsolidateOut
		out.Get(v.Row(v.Out, uint32(i)))
		permissions[i] = Permission{
			Verdict:     map[uint32]string{abi.VerdictAllow: "allow", abi.VerdictDeny: "deny", abi.VerdictHold: "hold"}[out.Verdict],
			HoldSeconds: out.HoldSeconds, Cost: out.Cost, Reason: reason(tb, messages, out.Reason),
		}
	}
	return permissions
}
