package wire

import (
	"fmt"

	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/policy"
	"spokeshave.dev/sdk/abi"
)

// Ceiling lays out a ceiling question, a row for every scope, then a row for
// every launch, and gives the size of its batch. Scopes start without a cap,
// launches as allowed.
func (e *Encoder) Ceiling(in *policy.CeilingInput) (int, error) {
	scopes, launches := len(in.Scopes), len(in.Launches)
	if err := e.begin(abi.HookCeiling, &in.Call, scopes, launches, scopes+launches); err != nil {
		return 0, fmt.Errorf("ceiling: %w", err)
	}
	ids := make([][3]uint32, launches)
	for i := range in.Launches { // catalogue strings first
		l := &in.Launches[i]
		ids[i] = [3]uint32{e.names.catalogue(l.InstanceType), e.names.catalogue(l.Family), e.names.catalogue(l.Zone)}
	}
	e.scopes = e.scopes[:0]
	for i := range in.Scopes {
		s := &in.Scopes[i]
		row := abi.ScopeRow{
			Running: s.RunningUSD, InFlight: s.InFlightUSD, MonthToDate: s.MonthToDateUSD,
			Scope: e.names.call(s.Scope), Nodes: clamp(s.Nodes),
		}
		row.Put(e.row(e.head.Pool, i))
		e.scopes = append(e.scopes, s.Scope)
	}
	for i := range in.Launches {
		e.launch(&in.Launches[i], ids[i], e.row(e.head.Rows, i))
	}
	e.verdict = 0
	return e.finish(), nil
}

func (e *Encoder) launch(l *policy.Launch, ids [3]uint32, to []byte) {
	row := abi.LaunchRow{
		Price: l.Price, WorstPrice: l.WorstPrice, OnDemand: l.OnDemand, VCPU: l.VCPU, MemoryGiB: l.MemoryGiB,
		Pool: e.names.call(l.NodePool), Type: ids[0], Family: ids[1], Zone: ids[2],
		GPUs: clamp(l.GPUs), Pods: clamp(l.Pods), CapacityType: capacityName(l.CapacityType),
	}
	row.PoolLabelsFirst, row.PoolLabelsCount = e.labels(l.PoolTags)
	row.NamespacesFirst = uint32(len(e.pairs) / abi.PairStride)
	row.NamespacesCount = uint32(len(l.Namespaces))
	for _, ns := range l.Namespaces {
		e.pair(ns, "")
	}
	row.Put(to)
}

// CeilingAnswers reads the reply to the last batch, which Ceiling has encoded.
func (e *Encoder) CeilingAnswers(reply []byte) (policy.CeilingAnswer, error) {
	answer := policy.CeilingAnswer{Caps: map[string]policy.Cap{}, Deny: map[int][]string{}}
	b, err := e.open(reply)
	if err != nil {
		return answer, err
	}
	reasons := reasons{area: e.messages(b)}
	var out abi.CeilingOut
	for i := range int(e.head.Out.Count) {
		out.Get(e.out(b, i))
		reason, err := reasons.at(out.Reason)
		if err != nil {
			return answer, bad("answer %d: %v", i, err)
		}
		if launch := i - len(e.scopes); launch >= 0 {
			err = verdict(&answer, launch, &out, reason)
		} else {
			err = limit(&answer, e.scopes[i], &out)
		}
		if err != nil {
			return answer, err
		}
	}
	return answer, nil
}

func limit(answer *policy.CeilingAnswer, scope string, out *abi.CeilingOut) error {
	if out.Flags&^(abi.CeilingHourly|abi.CeilingMonthly|abi.CeilingSoft) != 0 {
		return bad("scope %s: unknown flags %#x", scope, out.Flags)
	}
	c := policy.Cap{Soft: out.Flags&abi.CeilingSoft != 0}
	for _, bound := range []struct {
		flag uint32
		usd  float64
		to   **float64
	}{{abi.CeilingHourly, out.HourlyUSD, &c.HourlyUSD}, {abi.CeilingMonthly, out.MonthlyUSD, &c.MonthlyUSD}} {
		if out.Flags&bound.flag == 0 {
			continue
		}
		if !amount(bound.usd) {
			return bad("scope %s: cap %v is not a finite number of at least 0", scope, bound.usd)
		}
		*bound.to = &bound.usd
	}
	if c.HourlyUSD != nil || c.MonthlyUSD != nil {
		answer.Caps[scope] = c
	}
	return nil
}

func verdict(answer *policy.CeilingAnswer, launch int, out *abi.CeilingOut, reason string) error {
	switch out.Flags {
	case 0:
	case abi.CeilingDeny:
		answer.Deny[launch] = []string{reason}
	default:
		return bad("launch %d: unknown flags %#x", launch, out.Flags)
	}
	return nil
}

func capacityName(s string) uint8 { return capacity(model.CapacityType(s)) }
