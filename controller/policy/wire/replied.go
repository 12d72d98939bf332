package wire

import (
	"encoding/binary"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/sdk/abi"
)

// RankReplied reads the answers to a rank question of n rows from a reply. It stores
// them in reuse as far as its capacity allows. The error is a policy.Fault, or
// policy.ErrNoOpinion.
func RankReplied(b []byte, n int, reuse []policy.RankAnswer) ([]policy.RankAnswer, error) {
	r, err := openReply(b, abi.RankOutStride)
	if err != nil {
		return nil, err
	}
	if r.rows != n {
		return nil, bad("%d answers to %d rows", r.rows, n)
	}
	if cap(reuse) < n {
		reuse = make([]policy.RankAnswer, n)
	}
	answers, reasons := reuse[:n], reasonTable{r.texts, map[uint32]string{}}
	var out abi.RankOut
	for i := range answers {
		out.Get(r.records[i*abi.RankOutStride:])
		if out.Flags&^(abi.RankExclude|abi.RankShared) != 0 {
			return nil, bad("row %d: unknown flags %#x", i, out.Flags)
		}
		exclude := out.Flags&abi.RankExclude != 0
		if !exclude && !amount(out.Score) {
			return nil, bad("row %d: score %v is not a finite number of at least 0", i, out.Score)
		}
		reason, err := reasons.at(out.Reason)
		if err != nil {
			return nil, bad("row %d: %v", i, err)
		}
		answers[i] = policy.RankAnswer{
			Score: out.Score, MaxNodes: out.MaxNodes, Group: out.Group, Shared: out.Flags&abi.RankShared != 0,
			Exclude: exclude, Reason: reason,
		}
	}
	return answers, nil
}

// ConsolidateReplied reads the answers to a consolidate question of n candidates.
func ConsolidateReplied(b []byte, n int) ([]policy.ConsolidateAnswer, error) {
	r, err := openReply(b, abi.ConsolidateOutStride)
	if err != nil {
		return nil, err
	}
	if r.rows != n {
		return nil, bad("%d answers to %d candidates", r.rows, n)
	}
	answers, reasons := make([]policy.ConsolidateAnswer, n), reasonTable{r.texts, map[uint32]string{}}
	var out abi.ConsolidateOut
	for i := range answers {
		out.Get(r.records[i*abi.ConsolidateOutStride:])
		if answers[i], err = judged(i, &out); err != nil {
			return nil, err
		}
		if answers[i].Reason, err = reasons.at(out.Reason); err != nil {
			return nil, bad("candidate %d: %v", i, err)
		}
	}
	return answers, nil
}

// CeilingReplied reads the answer to a ceiling question of n launches.
func CeilingReplied(b []byte, n int) (policy.CeilingAnswer, error) {
	var answer policy.CeilingAnswer
	r, err := openReply(b, 0)
	if err != nil {
		return answer, err
	}
	reasons := reasonTable{r.texts, map[uint32]string{}}
	switch {
	case r.status != statusNoCaps:
		answer.Caps = make(map[string]policy.Cap, r.caps)
	case r.caps > 0:
		return answer, bad("%d caps in an answer without caps", r.caps)
	}
	var hard, soft abi.CeilingOut
	records := r.records
	for range r.caps {
		hard.Get(records)
		soft.Get(records[abi.CeilingOutStride:])
		records = records[2*abi.CeilingOutStride:]
		scope, err := reasons.at(hard.Reason)
		if err != nil || scope == "" {
			return policy.CeilingAnswer{}, bad("a cap without a scope")
		}
		c := policy.Cap{Soft: hard.Flags&abi.CeilingSoft != 0}
		if c.HourlyUSD, c.MonthlyUSD, err = bounds(scope, &hard, abi.CeilingSoft); err == nil {
			c.SoftHourlyUSD, c.SoftMonthlyUSD, err = bounds(scope, &soft, 0)
		}
		if err != nil {
			return policy.CeilingAnswer{}, err
		}
		answer.Caps[scope] = c
	}
	for range r.denied {
		launch := int(binary.LittleEndian.Uint32(records))
		reason, err := reasons.at(binary.LittleEndian.Uint32(records[4:]))
		records = records[deniedStride:]
		if err != nil || launch >= n {
			return policy.CeilingAnswer{}, bad("launch %d of %d is denied", launch, n)
		}
		if answer.Deny == nil {
			answer.Deny = map[int][]string{}
		}
		answer.Deny[launch] = append(answer.Deny[launch], reason)
	}
	return answer, nil
}
