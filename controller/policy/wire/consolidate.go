package wire

import (
	"fmt"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/sdk/abi"
)

// Consolidate lays out a consolidate question and returns the size of its batch in
// bytes. Every verdict starts as deny.
func (e *Encoder) Consolidate(in *policy.ConsolidateInput) (int, error) {
	n := len(in.Candidates)
	if err := e.begin(abi.HookConsolidate, &in.Call, 0, n, n); err != nil {
		return 0, fmt.Errorf("consolidate: %w", err)
	}
	ids := make([][2]uint32, n)
	for i := range in.Candidates { // catalogue strings first
		c := &in.Candidates[i]
		ids[i] = [2]uint32{e.names.catalogue(c.InstanceType), e.names.catalogue(c.Zone)}
	}
	for i := range in.Candidates {
		c := &in.Candidates[i]
		row := abi.CandidateRow{
			Price: c.Price, Savings: c.Savings, AgeSeconds: c.AgeSeconds, IdleSeconds: c.IdleSeconds,
			CPUUtilisation: c.CPUUtilisation, MemoryUtilisation: c.MemoryUtilisation, Cost: c.Cost,
			Node: e.names.call(c.Node), Claim: e.names.call(c.Claim), Pool: e.names.call(c.NodePool),
			Type: ids[i][0], Zone: ids[i][1], Pods: clamp(c.Pods),
			Method: method(c.Method), Action: action(c.Action), CapacityType: capacityName(c.CapacityType),
			JobPods: clamp(c.JobPods), SinceDisruption: c.SinceDisruption,
			PoolEvictions: clamp(c.PoolEvictions), ClusterEvictions: clamp(c.ClusterEvictions),
			MoveCost: c.MoveCost,
		}
		row.LabelsFirst, row.LabelsCount = e.labels(c.Labels)
		row.PoolLabelsFirst, row.PoolLabelsCount = e.labels(c.PoolTags)
		row.Put(e.row(e.head.Rows, i))
	}
	e.verdict = abi.VerdictDeny
	return e.finish(), nil
}

// ConsolidateAnswers reads the reply to the last batch, which Consolidate must have
// encoded.
func (e *Encoder) ConsolidateAnswers(reply []byte) ([]policy.ConsolidateAnswer, error) {
	b, err := e.open(reply)
	if err != nil {
		return nil, err
	}
	reasons := reasons{area: e.messages(b)}
	answers := make([]policy.ConsolidateAnswer, e.head.Out.Count)
	var out abi.ConsolidateOut
	for i := range answers {
		out.Get(e.out(b, i))
		if answers[i], err = judged(i, &out); err != nil {
			return nil, err
		}
		if answers[i].Reason, err = reasons.at(out.Reason); err != nil {
			return nil, bad("candidate %d: %v", i, err)
		}
	}
	return answers, nil
}

// judged reads the answer about candidate i, without its reason.
func judged(i int, out *abi.ConsolidateOut) (policy.ConsolidateAnswer, error) {
	a := policy.ConsolidateAnswer{Cost: out.Cost}
	if !amount(out.Cost) || !amount(out.HoldSeconds) {
		return a, bad("candidate %d: cost %v, hold %v: not finite numbers of at least 0", i, out.Cost, out.HoldSeconds)
	}
	switch out.Verdict {
	case abi.VerdictAllow:
		a.Verdict = policy.Allow
	case abi.VerdictDeny:
		a.Verdict = policy.Deny
	case abi.VerdictHold:
		a.Verdict, a.HoldSeconds = policy.Hold, out.HoldSeconds
	default:
		return a, bad("candidate %d: unknown verdict %d", i, out.Verdict)
	}
	return a, nil
}

func method(s string) uint8 {
	switch s {
	case "Empty":
		return abi.MethodEmpty
	case "Underutilized":
		return abi.MethodUnderutilized
	case "Drifted":
		return abi.MethodDrifted
	case "Expired":
		return abi.MethodExpired
	}
	return abi.MethodUnknown
}

func action(s string) uint8 {
	switch s {
	case "delete":
		return abi.ActionDelete
	case "replace":
		return abi.ActionReplace
	}
	return abi.ActionUnknown
}
