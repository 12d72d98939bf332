package wire

import (
	"bytes"
	"fmt"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/sdk/abi"
)

// Decoder reads the questions that an Encoder has laid out: the other end of a pipe to
// a process of this program. Numbers and texts come out as they went in, except that
// counts below 0 are 0 and names outside the contract's lists (capacity types,
// architectures, methods, actions) are empty. It is not safe for concurrent use.
type Decoder struct {
	batch abi.Batch
	// texts are the strings of the batch by id. They are kept while the next batch has
	// the same, as the batches of one decision do.
	texts       []string
	index, area []byte
	rows        []policy.RankRow
}

// Open reads the header and the strings of a batch. b must not change until the
// question has been read.
func (d *Decoder) Open(b []byte) error {
	if err := d.batch.Open(b); err != nil {
		return fmt.Errorf("read the question: %w", err)
	}
	index := d.batch.Area(abi.Span{Offset: d.batch.Index.Offset, Size: d.batch.Index.Size})
	area := d.batch.Area(d.batch.Bytes)
	if bytes.Equal(index, d.index) && bytes.Equal(area, d.area) {
		return nil
	}
	d.index, d.area = append(d.index[:0], index...), append(d.area[:0], area...)
	d.texts = d.texts[:0]
	for id := range d.batch.Index.Count {
		d.texts = append(d.texts, string(d.batch.Text(id)))
	}
	return nil
}

// Hook returns the question's hook.
func (d *Decoder) Hook() policy.Hook {
	switch d.batch.Hook {
	case abi.HookRank:
		return policy.HookRank
	case abi.HookConsolidate:
		return policy.HookConsolidate
	case abi.HookCeiling:
		return policy.HookCeiling
	}
	return ""
}

func (d *Decoder) call() policy.Call {
	return policy.Call{Time: time.Unix(0, d.batch.Time).UTC(), Seed: d.batch.Seed, Generation: d.batch.Generation}
}

func (d *Decoder) text(id uint32) string {
	if int(id) >= len(d.texts) {
		return ""
	}
	return d.texts[id]
}

// labels reads pairs into a map; nil when there are none.
func (d *Decoder) labels(first, count uint32) map[string]string {
	if count == 0 {
		return nil
	}
	out := map[string]string{}
	for i := range count {
		if key, value, ok := d.batch.Pair(first + i); ok {
			out[d.text(key)] = d.text(value)
		}
	}
	return out
}

// Rank reads a rank question. Its rows are valid until the next call.
func (d *Decoder) Rank() *policy.RankInput {
	in := &policy.RankInput{Call: d.call()}
	if b := d.batch.Row(d.batch.Pool, 0); b != nil {
		var pool abi.PoolRow
		pool.Get(b)
		in.Pool = policy.PoolFacts{
			Name: d.text(pool.Name), Labels: d.labels(pool.LabelsFirst, pool.LabelsCount),
			PendingPods: int(pool.PendingPods), PendingCPU: pool.PendingCPU, PendingMemoryGiB: pool.PendingMemoryGiB,
			RunningNodes: int(pool.RunningNodes), SpotNodes: int(pool.SpotNodes), ClusterOnDemand: pool.ClusterOnDemand,
		}
	}
	d.rows = d.rows[:0]
	var r abi.RankRow
	for i := range d.batch.Rows.Count {
		r.Get(d.batch.Row(d.batch.Rows, i))
		d.rows = append(d.rows, policy.RankRow{
			InstanceType: d.text(r.Type), Family: d.text(r.Family), Zone: d.text(r.Zone),
			CapacityType: capacityOf(r.CapacityType), Arch: archOf(r.Arch),
			Billed: r.Billed, Cost: r.Cost, OnDemand: r.OnDemand, VCPU: r.VCPU, MemoryGiB: r.MemoryGiB, Interruption: r.Interruption,
			PodsFit: r.PodsFit, GPUs: r.GPUs, Running: r.Running, RunningCluster: r.RunningCluster, FamilyOnDemand: r.FamilyOnDemand,
		})
	}
	in.Rows = d.rows
	return in
}

// Consolidate reads a consolidate question.
func (d *Decoder) Consolidate() *policy.ConsolidateInput {
	in := &policy.ConsolidateInput{Call: d.call(), Candidates: make([]policy.Candidate, d.batch.Rows.Count)}
	var r abi.CandidateRow
	for i := range in.Candidates {
		r.Get(d.batch.Row(d.batch.Rows, uint32(i)))
		in.Candidates[i] = policy.Candidate{
			Node: d.text(r.Node), Claim: d.text(r.Claim), NodePool: d.text(r.Pool),
			PoolTags: d.labels(r.PoolLabelsFirst, r.PoolLabelsCount), Labels: d.labels(r.LabelsFirst, r.LabelsCount),
			Method: methodOf(r.Method), Action: actionOf(r.Action),
			InstanceType: d.text(r.Type), Zone: d.text(r.Zone), CapacityType: string(capacityOf(r.CapacityType)),
			Price: r.Price, Savings: r.Savings, Pods: int(r.Pods), AgeSeconds: r.AgeSeconds, IdleSeconds: r.IdleSeconds,
			CPUUtilisation: r.CPUUtilisation, MemoryUtilisation: r.MemoryUtilisation, Cost: r.Cost,
			JobPods: int(r.JobPods), SinceDisruption: r.SinceDisruption,
			PoolEvictions: int(r.PoolEvictions), ClusterEvictions: int(r.ClusterEvictions), MoveCost: r.MoveCost,
		}
	}
	return in
}

// Ceiling reads a ceiling question.
func (d *Decoder) Ceiling() *policy.CeilingInput {
	in := &policy.CeilingInput{Call: d.call(), Scopes: make([]policy.ScopeSpend, d.batch.Pool.Count)}
	var s abi.ScopeRow
	for i := range in.Scopes {
		s.Get(d.batch.Row(d.batch.Pool, uint32(i)))
		in.Scopes[i] = policy.ScopeSpend{
			Scope: d.text(s.Scope), RunningUSD: s.Running, InFlightUSD: s.InFlight, MonthToDateUSD: s.MonthToDate, Nodes: int(s.Nodes),
		}
	}
	if d.batch.Rows.Count == 0 {
		return in
	}
	in.Launches = make([]policy.Launch, d.batch.Rows.Count)
	var l abi.LaunchRow
	for i := range in.Launches {
		l.Get(d.batch.Row(d.batch.Rows, uint32(i)))
		in.Launches[i] = policy.Launch{
			NodePool: d.text(l.Pool), PoolTags: d.labels(l.PoolLabelsFirst, l.PoolLabelsCount),
			InstanceType: d.text(l.Type), Family: d.text(l.Family), Zone: d.text(l.Zone), CapacityType: string(capacityOf(l.CapacityType)),
			Price: l.Price, WorstPrice: l.WorstPrice, OnDemand: l.OnDemand, VCPU: l.VCPU, MemoryGiB: l.MemoryGiB,
			GPUs: int(l.GPUs), Pods: int(l.Pods), Namespaces: d.keys(l.NamespacesFirst, l.NamespacesCount),
		}
	}
	return in
}

// keys reads the keys of pairs, in order; nil when there are none.
func (d *Decoder) keys(first, count uint32) []string {
	var out []string
	for i := range count {
		if key, _, ok := d.batch.Pair(first + i); ok {
			out = append(out, d.text(key))
		}
	}
	return out
}

func capacityOf(n uint8) model.CapacityType {
	for _, c := range []model.CapacityType{model.OnDemand, model.Spot, model.Reserved} {
		if n == capacity(c) {
			return c
		}
	}
	return ""
}

func archOf(n uint8) string {
	switch n {
	case abi.ArchAMD64:
		return "amd64"
	case abi.ArchARM64:
		return "arm64"
	}
	return ""
}

func methodOf(n uint8) string {
	for _, s := range []string{"Empty", "Underutilized", "Drifted", "Expired"} {
		if n == method(s) {
			return s
		}
	}
	return ""
}

func actionOf(n uint8) string {
	for _, s := range []string{"delete", "replace"} {
		if n == action(s) {
			return s
		}
	}
	return ""
}
