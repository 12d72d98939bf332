package wire

import (
	"fmt"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/sdk/abi"
)

// Ceiling lays out a ceiling question, one row per scope and then one per launch,
// and returns the size of its batch in bytes. Scopes start without a cap and
// launches as allowed. After the answers of the launches, each scope has a second
// answer for its soft cap.
func (e *Encoder) Ceiling(in *policy.CeilingInput) (int, error) {
	scopes, launches := len(in.Scopes), len(in.Launches)
	if err := e.begin(abi.HookCeiling, &in.Call, scopes, launches, scopes+launches+scopes); err != nil {
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

// CeilingAnswers reads the reply to the last batch, which Ceiling must have encoded.
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
		scopes, launches := len(e.scopes), int(e.head.Rows.Count)
		switch {
		case i < scopes:
			err = limit(&answer, e.scopes[i], &out)
		case i < scopes+launches:
			err = verdict(&answer, i-scopes, &out, reason)
		default:
			err = softLimit(&answer, e.scopes[i-scopes-launches], &out)
		}
		if err != nil {
			return answer, err
		}
	}
	return answer, nil
}

func limit(answer *policy.CeilingAnswer, scope string, out *abi.CeilingOut) error {
	hourly, monthly, err := bounds(scope, out, abi.CeilingSoft)
	if hourly != nil || monthly != nil {
		answer.Caps[scope] = policy.Cap{HourlyUSD: hourly, MonthlyUSD: monthly, Soft: out.Flags&abi.CeilingSoft != 0}
	}
	return err
}

// softLimit reads the soft cap of a scope from its second answer.
func softLimit(answer *policy.CeilingAnswer, scope string, out *abi.CeilingOut) error {
	hourly, monthly, err := bounds(scope, out, 0)
	if hourly != nil || monthly != nil {
		c := answer.Caps[scope]
		c.SoftHourlyUSD, c.SoftMonthlyUSD = hourly, monthly
		answer.Caps[scope] = c
	}
	return err
}

// bounds returns the caps that an answer sets, in USD. also is a mask of further
// flags that the answer may have.
func bounds(scope string, out *abi.CeilingOut, also uint32) (hourly, monthly *float64, err error) {
	if out.Flags&^(abi.CeilingHourly|abi.CeilingMonthly|also) != 0 {
		return nil, nil, bad("scope %s: unknown flags %#x", scope, out.Flags)
	}
	for _, bound := range []struct {
		flag uint32
		usd  float64
		to   **float64
	}{{abi.CeilingHourly, out.HourlyUSD, &hourly}, {abi.CeilingMonthly, out.MonthlyUSD, &monthly}} {
		if out.Flags&bound.flag == 0 {
			continue
		}
		if !amount(bound.usd) {
			return nil, nil, bad("scope %s: cap %v is not a finite number of at least 0", scope, bound.usd)
		}
		*bound.to = &bound.usd
	}
	return hourly, monthly, nil
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
