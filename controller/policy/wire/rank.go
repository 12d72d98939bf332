package wire

import (
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/sdk/abi"
)

// Rank lays out a rank question and returns the size of its batch in bytes.
func (e *Encoder) Rank(in *policy.RankInput) (int, error) {
	if err := e.begin(abi.HookRank, &in.Call, 1, len(in.Rows), len(in.Rows)); err != nil {
		return 0, fmt.Errorf("rank %s: %w", in.Pool.Name, err)
	}
	for i := range in.Rows {
		r := &in.Rows[i]
		e.names.row(i, r.InstanceType, r.Family, r.Zone)
	}
	e.rank = in
	e.pool = abi.PoolRow{
		PendingCPU: in.Pool.PendingCPU, PendingMemoryGiB: in.Pool.PendingMemoryGiB,
		Name: e.names.call(in.Pool.Name), PendingPods: clamp(in.Pool.PendingPods), RunningNodes: clamp(in.Pool.RunningNodes),
		SpotNodes: clamp(in.Pool.SpotNodes), ClusterOnDemand: in.Pool.ClusterOnDemand,
	}
	e.pool.LabelsFirst, e.pool.LabelsCount = e.labels(in.Pool.Labels)
	return e.finish(), nil
}

// putRank writes the rows of a rank batch. Every score starts as the cost so far.
func (e *Encoder) putRank(b []byte) {
	e.pool.Put(b[e.head.Pool.Offset:])
	n := len(e.rank.Rows)
	rows := b[e.head.Rows.Offset:][:n*abi.RankStride]
	outs := b[e.head.Out.Offset:][:n*abi.RankOutStride]
	names := e.names.rows[:n]
	// The fields are set one by one, since a composite literal would be built
	// elsewhere and copied, which takes longer than everything else. Every byte is
	// written, because the guest may have left other data in the buffer.
	for i := range e.rank.Rows {
		r, ids := &e.rank.Rows[i], &names[i]
		row, out := rankRow(rows, i), rankOut(outs, i)
		row.Billed, row.Cost, row.OnDemand = r.Billed, r.Cost, r.OnDemand
		row.VCPU, row.MemoryGiB, row.Interruption = r.VCPU, r.MemoryGiB, r.Interruption
		row.PodsFit, row.GPUs, row.Running = r.PodsFit, r.GPUs, r.Running
		row.RunningCluster, row.FamilyOnDemand = r.RunningCluster, r.FamilyOnDemand
		row.Zone, row.Family, row.Type = ids.zoneID, ids.familyID, ids.typID
		row.CapacityType, row.Arch, row.Flags = capacity(r.CapacityType), arch(r.Arch), 0
		clearGaps(row)
		out.Score, out.MaxNodes, out.Flags, out.Reason, out.Group = r.Cost, 0, 0, 0, 0
	}
	e.rank = nil
}

// RankAnswers reads the reply to the last batch, which Rank must have encoded. It
// stores the answers in reuse as far as its capacity allows.
func (e *Encoder) RankAnswers(reply []byte, reuse []policy.RankAnswer) ([]policy.RankAnswer, error) {
	b, err := e.open(reply)
	if err != nil {
		return nil, err
	}
	reasons := reasons{area: e.messages(b)}
	answers := slices.Grow(reuse[:0], int(e.head.Out.Count))[:e.head.Out.Count]
	outs := b[e.head.Out.Offset:][:len(answers)*abi.RankOutStride]
	for i := range answers {
		out, a := rankOut(outs, i), &answers[i]
		a.Score, a.MaxNodes, a.Group, a.Shared, a.Exclude = 0, 0, 0, false, false // values of an earlier call
		switch {
		case out.Flags&^(abi.RankExclude|abi.RankShared) != 0:
			return nil, bad("row %d: unknown flags %#x", i, out.Flags)
		case out.Flags&abi.RankExclude != 0:
			a.Exclude = true
		case !amount(out.Score):
			return nil, bad("row %d: score %v is not a finite number of at least 0", i, out.Score)
		default:
			a.Score, a.MaxNodes = out.Score, out.MaxNodes
			a.Group, a.Shared = out.Group, out.Flags&abi.RankShared != 0
		}
		if a.Reason = ""; out.Reason == 0 {
			continue
		}
		if a.Reason, err = reasons.at(out.Reason); err != nil {
			return nil, bad("row %d: %v", i, err)
		}
	}
	return answers, nil
}

// reasons reads messages. It decodes a run of equal messages once.
type reasons struct {
	area   abi.Messages
	offset uint32
	text   string
}

func (r *reasons) at(offset uint32) (string, error) {
	if offset == r.offset {
		return r.text, nil
	}
	text, err := r.area.At(offset)
	if err != nil {
		return "", err
	}
	r.offset, r.text = offset, Clean(text)
	return r.text, nil
}
