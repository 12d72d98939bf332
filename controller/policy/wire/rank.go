package wire

import (
	"fmt"

	"spokeshave.dev/controller/policy"
	"spokeshave.dev/sdk/abi"
)

// Rank encodes a rank question. Every score starts at the cost so far.
func (e *Encoder) Rank(in *policy.RankInput) ([]byte, error) {
	if err := e.begin(abi.HookRank, &in.Call, 1, len(in.Rows), len(in.Rows)); err != nil {
		return nil, fmt.Errorf("rank %s: %w", in.Pool.Name, err)
	}
	rows, outs := e.buf[e.head.Rows.Offset:], e.buf[e.head.Out.Offset:]
	for i := range in.Rows {
		r := &in.Rows[i]
		ids := e.names.row(i, r.InstanceType, r.Family, r.Zone)
		row := abi.RankRow{
			Billed: r.Billed, Cost: r.Cost, OnDemand: r.OnDemand,
			VCPU: r.VCPU, MemoryGiB: r.MemoryGiB, Interruption: r.Interruption,
			PodsFit: r.PodsFit, GPUs: r.GPUs, Running: r.Running,
			RunningCluster: r.RunningCluster, FamilyOnDemand: r.FamilyOnDemand,
			Zone: ids.zoneID, Family: ids.familyID, Type: ids.typID,
			CapacityType: capacity(r.CapacityType), Arch: arch(r.Arch),
		}
		row.Put(rows[i*abi.RankStride:])
		out := abi.RankOut{Score: r.Cost}
		out.Put(outs[i*abi.RankOutStride:])
	}
	pool := abi.PoolRow{
		PendingCPU: in.Pool.PendingCPU, PendingMemoryGiB: in.Pool.PendingMemoryGiB,
		Name: e.names.call(in.Pool.Name), PendingPods: clamp(in.Pool.PendingPods), RunningNodes: clamp(in.Pool.RunningNodes),
		SpotNodes: clamp(in.Pool.SpotNodes), ClusterOnDemand: in.Pool.ClusterOnDemand,
	}
	pool.LabelsFirst, pool.LabelsCount = e.labels(in.Pool.Labels)
	pool.Put(e.buf[e.head.Pool.Offset:])
	return e.finish(), nil
}

// RankAnswers reads the reply to the last batch, which Rank has encoded.
func (e *Encoder) RankAnswers(reply []byte) ([]policy.RankAnswer, error) {
	b, err := e.open(reply)
	if err != nil {
		return nil, err
	}
	reasons := reasons{area: e.messages(b)}
	answers := make([]policy.RankAnswer, e.head.Out.Count)
	var out abi.RankOut
	for i := range answers {
		out.Get(e.out(b, i))
		a := &answers[i]
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
		if a.Reason, err = reasons.at(out.Reason); err != nil {
			return nil, bad("row %d: %v", i, err)
		}
	}
	return answers, nil
}

// reasons reads messages, and reads a run of equal ones once.
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
