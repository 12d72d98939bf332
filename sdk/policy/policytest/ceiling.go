package policytest

import (
	"testing"

	"spokeshave.dev/sdk/abi"
)

// Scope is what a scope spends, in USD per hour and USD this month.
type Scope struct {
	Name                           string
	Running, InFlight, MonthToDate float64
	Nodes                          int
}

// Launch is a node that the plan would launch.
type Launch struct {
	NodePool, InstanceType, Family, Zone, CapacityType string
	PoolLabels                                         map[string]string
	Namespaces                                         []string
	Price, WorstPrice, OnDemand, VCPU, MemoryGiB       float64
	GPUs, Pods                                         int
}

// Cap is the cap of one scope; a nil bound is none. Soft is of Hourly and
// Monthly; the others are soft anyway.
type Cap struct {
	Hourly, Monthly         *float64
	Soft                    bool
	SoftHourly, SoftMonthly *float64
}

// Refusal is the answer for one launch.
type Refusal struct {
	Denied bool
	Reason string
}

// Ceiling asks the policy for caps and for a review of launches.
func Ceiling(tb testing.TB, scopes []Scope, launches []Launch) ([]Cap, []Refusal) {
	tb.Helper()
	b := newBuilder(abi.HookCeiling)
	spend, rows := make([]*abi.ScopeRow, len(scopes)), make([]*abi.LaunchRow, len(launches))
	for i, s := range scopes {
		spend[i] = &abi.ScopeRow{Running: s.Running, InFlight: s.InFlight, MonthToDate: s.MonthToDate, Scope: b.id(s.Name), Nodes: uint32(s.Nodes)}
	}
	for i, l := range launches {
		rows[i] = &abi.LaunchRow{
			Price: l.Price, WorstPrice: l.WorstPrice, OnDemand: l.OnDemand, VCPU: l.VCPU, MemoryGiB: l.MemoryGiB,
			Pool: b.id(l.NodePool), Type: b.id(l.InstanceType), Family: b.id(l.Family), Zone: b.id(l.Zone),
			GPUs: uint32(l.GPUs), Pods: uint32(l.Pods), CapacityType: capacity(l.CapacityType),
			NamespacesCount: uint32(len(l.Namespaces)),
		}
		rows[i].PoolLabelsFirst, rows[i].PoolLabelsCount = b.labels(l.PoolLabels)
		rows[i].NamespacesFirst = uint32(len(b.pairs) / abi.PairStride)
		for _, ns := range l.Namespaces {
			b.pair(ns, "")
		}
	}
	outs := make([]*abi.CeilingOut, len(scopes)+len(launches)+len(scopes))
	for i := range outs {
		outs[i] = &abi.CeilingOut{}
	}
	b.head.Pool = section(b, abi.ScopeStride, spend)
	b.head.Rows = section(b, abi.LaunchStride, rows)
	b.head.Out = section(b, abi.CeilingOutStride, outs)
	v, messages := b.ask(tb)
	caps, refusals := make([]Cap, len(scopes)), make([]Refusal, len(launches))
	for i := range outs {
		var out abi.CeilingOut
		out.Get(v.Row(v.Out, uint32(i)))
		launch := i - len(scopes)
		switch again := launch - len(launches); {
		case launch < 0:
			caps[i].Soft = out.Flags&abi.CeilingSoft != 0
			caps[i].Hourly, caps[i].Monthly = bounds(&out)
		case again < 0:
			refusals[launch] = Refusal{Denied: out.Flags&abi.CeilingDeny != 0, Reason: reason(tb, messages, out.Reason)}
		default:
			caps[again].SoftHourly, caps[again].SoftMonthly = bounds(&out)
		}
	}
	return caps, refusals
}

func bounds(out *abi.CeilingOut) (hourly, monthly *float64) {
	if out.Flags&abi.CeilingHourly != 0 {
		hourly = &out.HourlyUSD
	}
	if out.Flags&abi.CeilingMonthly != 0 {
		monthly = &out.MonthlyUSD
	}
	return hourly, monthly
}
