package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/sdk/abi"
)

func call() policy.Call { return policy.Call{Time: time.Unix(1700000000, 5), Seed: 9, Generation: 4} }

func rankInput(n int) *policy.RankInput {
	in := &policy.RankInput{Call: call(), Pool: policy.PoolFacts{
		Name: "batch", Labels: map[string]string{"team": "ml", "env": "prod"},
		PendingPods: 7, PendingCPU: 3.5, PendingMemoryGiB: 12, RunningNodes: 2, SpotNodes: 1, ClusterOnDemand: 4.5,
	}}
	for i := range n { // in runs of a type, as catalogues are
		family := fmt.Sprintf("m%di", i/6%5+3)
		in.Rows = append(in.Rows, policy.RankRow{
			InstanceType: family + ".large", Family: family, Zone: "us-west-2" + string(rune('a'+i%3)),
			CapacityType: model.Spot, Arch: "arm64",
			Billed: 0.1 * float64(i+1), Cost: 0.2 * float64(i+1), OnDemand: 0.3, VCPU: 2, MemoryGiB: 8,
			Interruption: 0.05, PodsFit: 3, GPUs: 1, Running: uint32(i), RunningCluster: uint32(2 * i), FamilyOnDemand: 0.7,
		})
	}
	return in
}

// batch writes the question that was laid out, over whatever was there before.
func batch(e *Encoder, size int, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	b := bytes.Repeat([]byte{0xa5}, size)
	e.Put(b)
	return b, nil
}

func (e *Encoder) rankBatch(in *policy.RankInput) ([]byte, error) {
	size, err := e.Rank(in)
	return batch(e, size, err)
}

func (e *Encoder) consolidateBatch(in *policy.ConsolidateInput) ([]byte, error) {
	size, err := e.Consolidate(in)
	return batch(e, size, err)
}

func (e *Encoder) ceilingBatch(in *policy.CeilingInput) ([]byte, error) {
	size, err := e.Ceiling(in)
	return batch(e, size, err)
}

func open(t *testing.T, b []byte) *abi.Batch {
	t.Helper()
	var v abi.Batch
	if err := v.Open(b); err != nil {
		t.Fatal(err)
	}
	return &v
}

func pairs(t *testing.T, v *abi.Batch, first, count uint32) map[string]string {
	t.Helper()
	set := map[string]string{}
	for i := first; i < first+count; i++ {
		key, value, ok := v.Pair(i)
		if !ok {
			t.Fatalf("no pair %d", i)
		}
		set[string(v.Text(key))] = string(v.Text(value))
	}
	return set
}

func TestRankEncoding(t *testing.T) {
	var e Encoder
	in := rankInput(7)
	b, err := e.rankBatch(in)
	if err != nil {
		t.Fatal(err)
	}
	v := open(t, b)
	if v.Time != in.Time.UnixNano() || v.Seed != 9 || v.Generation != 4 || v.Hook != abi.HookRank || int(v.Total) != len(b) {
		t.Errorf("header %+v", v.Header)
	}
	var pool abi.PoolRow
	pool.Get(v.Row(v.Pool, 0))
	if diff := cmp.Diff(in.Pool.Labels, pairs(t, v, pool.LabelsFirst, pool.LabelsCount)); diff != "" {
		t.Error(diff)
	}
	if string(v.Text(pool.Name)) != "batch" || pool.PendingPods != 7 || pool.PendingCPU != 3.5 || pool.RunningNodes != 2 || pool.SpotNodes != 1 || pool.ClusterOnDemand != 4.5 {
		t.Errorf("pool %+v", pool)
	}
	for i, want := range in.Rows {
		var r abi.RankRow
		r.Get(v.Row(v.Rows, uint32(i)))
		got := policy.RankRow{
			InstanceType: string(v.Text(r.Type)), Family: string(v.Text(r.Family)), Zone: string(v.Text(r.Zone)),
			CapacityType: model.Spot, Arch: "arm64", Billed: r.Billed, Cost: r.Cost, OnDemand: r.OnDemand,
			VCPU: r.VCPU, MemoryGiB: r.MemoryGiB, Interruption: r.Interruption, PodsFit: r.PodsFit, GPUs: r.GPUs, Running: r.Running, RunningCluster: r.RunningCluster, FamilyOnDemand: r.FamilyOnDemand,
		}
		if diff := cmp.Diff(want, got); diff != "" || r.CapacityType != abi.CapacitySpot || r.Arch != abi.ArchARM64 {
			t.Errorf("row %d: %s", i, diff)
		}
	}
	answers, err := e.RankAnswers(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range answers {
		if diff := cmp.Diff(policy.RankAnswer{Score: in.Rows[i].Cost}, answers[i]); diff != "" {
			t.Errorf("preset of row %d: %s", i, diff)
		}
	}
}

// TestIDs: catalogue ids last as long as the generation, equal questions give
// equal bytes, and what a call brought along is forgotten.
func TestIDs(t *testing.T) {
	var e Encoder
	first, err := e.rankBatch(rankInput(40))
	if err != nil {
		t.Fatal(err)
	}
	first = bytes.Clone(first)
	small := rankInput(3)
	small.Rows[0].Zone = "us-west-2z"
	if _, err := e.rankBatch(small); err != nil {
		t.Fatal(err)
	}
	if n := len(e.names.ids); n != e.names.stable || n != 1+5+5+3+1 { // empty, types, families, zones, the new zone
		t.Errorf("%d strings kept, %d stable: %v", n, e.names.stable, e.names.ids)
	}
	family := func(b []byte) uint32 {
		v := open(t, b)
		var r abi.RankRow
		r.Get(v.Row(v.Rows, 1))
		return r.Family
	}
	again, err := e.rankBatch(rankInput(40))
	if err != nil {
		t.Fatal(err)
	}
	if family(first) != family(again) {
		t.Error("a family's id changed within the generation")
	}
	var fresh Encoder
	other, err := fresh.rankBatch(rankInput(40))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, other) {
		t.Error("a fresh encoder encodes the same question differently")
	}
}

func TestRankReplies(t *testing.T) {
	cases := map[string]struct {
		reason string
		out    abi.RankOut
		want   policy.RankAnswer
		fault  string
	}{
		"score":     {"a good answer", abi.RankOut{Score: 1.5, MaxNodes: 3}, policy.RankAnswer{Score: 1.5, MaxNodes: 3}, ""},
		"zero":      {"free is allowed", abi.RankOut{}, policy.RankAnswer{}, ""},
		"exclude":   {"no score is read", abi.RankOut{Score: math.NaN(), Flags: 1}, policy.RankAnswer{Exclude: true}, ""},
		"nan":       {"NaN", abi.RankOut{Score: math.NaN()}, policy.RankAnswer{}, "row 1: score NaN"},
		"infinite":  {"infinity", abi.RankOut{Score: math.Inf(1)}, policy.RankAnswer{}, "score +Inf"},
		"negative":  {"below zero", abi.RankOut{Score: -1}, policy.RankAnswer{}, "score -1"},
		"flags":     {"unknown flags", abi.RankOut{Flags: 8}, policy.RankAnswer{}, "unknown flags 0x8"},
		"reason":    {"a reason outside", abi.RankOut{Reason: 1 << 30}, policy.RankAnswer{}, "reason outside"},
		"text":      {"a reason", abi.RankOut{Reason: 4}, policy.RankAnswer{Reason: "a b?c"}, ""},
		"no reason": {"a reason before the first", abi.RankOut{Reason: 2}, policy.RankAnswer{}, "reason outside"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var e Encoder
			b, err := e.rankBatch(rankInput(3))
			if err != nil {
				t.Fatal(err)
			}
			e.messages(b).Append("a\x00b\xffc\n")
			tc.out.Put(e.out(b, 1))
			// A guest may write what it likes over the header.
			clear(b[:abi.HeaderSize])
			answers, err := e.RankAnswers(b, nil)
			if tc.fault != "" {
				var f *policy.Fault
				if !errors.As(err, &f) || f.Kind != policy.FaultBadReply || !strings.Contains(f.Message, tc.fault) {
					t.Fatalf("%s: %v, want a fault with %q", tc.reason, err, tc.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, answers[1]); diff != "" {
				t.Error(tc.reason, diff)
			}
		})
	}
}

func TestShortReply(t *testing.T) {
	var e Encoder
	b, err := e.rankBatch(rankInput(3))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.RankAnswers(b[:len(b)-1], nil); err == nil {
		t.Error("a short reply was read")
	}
}

func TestConsolidate(t *testing.T) {
	var e Encoder
	in := &policy.ConsolidateInput{Call: call(), Candidates: []policy.Candidate{
		{Node: "a", NodePool: "p", Labels: map[string]string{"team": "ml"}, Method: "Empty", Action: "delete", Price: 1},
		{Node: "b", NodePool: "p", PoolTags: map[string]string{"x": "y"}, Method: "Drifted", Action: "replace", Pods: 3},
		{Node: "c"},
	}}
	b, err := e.consolidateBatch(in)
	if err != nil {
		t.Fatal(err)
	}
	v := open(t, b)
	var r abi.CandidateRow
	r.Get(v.Row(v.Rows, 1))
	if string(v.Text(r.Node)) != "b" || r.Method != abi.MethodDrifted || r.Action != abi.ActionReplace || r.Pods != 3 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(in.Candidates[1].PoolTags, pairs(t, v, r.PoolLabelsFirst, r.PoolLabelsCount)); diff != "" {
		t.Error(diff)
	}
	(&abi.ConsolidateOut{Verdict: abi.VerdictAllow, Cost: 2}).Put(e.out(b, 0))
	(&abi.ConsolidateOut{Verdict: abi.VerdictHold, HoldSeconds: 60, Reason: e.messages(b).Append("young")}).Put(e.out(b, 1))
	got, err := e.ConsolidateAnswers(b)
	if err != nil {
		t.Fatal(err)
	}
	want := []policy.ConsolidateAnswer{
		{Verdict: policy.Allow, Cost: 2},
		{Verdict: policy.Hold, HoldSeconds: 60, Reason: "young"},
		{Verdict: policy.Deny}, // the guest forgot it
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, out := range []abi.ConsolidateOut{{Verdict: 3}, {Cost: math.Inf(1)}, {HoldSeconds: -1}, {Reason: 3}} {
		out.Put(e.out(b, 2))
		if _, err := e.ConsolidateAnswers(b); err == nil {
			t.Errorf("%+v was accepted", out)
		}
	}
}

func TestCeiling(t *testing.T) {
	var e Encoder
	in := &policy.CeilingInput{
		Call:   call(),
		Scopes: []policy.ScopeSpend{{Scope: "cluster", RunningUSD: 1, InFlightUSD: 2, MonthToDateUSD: 3, Nodes: 4}, {Scope: "nodepool/x"}, {Scope: "label/a=b"}},
		Launches: []policy.Launch{
			{NodePool: "x", InstanceType: "m7i.large", Family: "m7i", Zone: "z", CapacityType: "spot", Namespaces: []string{"n1", "n2"}, Price: 5, GPUs: 1},
			{NodePool: "x"},
		},
	}
	b, err := e.ceilingBatch(in)
	if err != nil {
		t.Fatal(err)
	}
	v := open(t, b)
	var s abi.ScopeRow
	s.Get(v.Row(v.Pool, 0))
	if s.Running != 1 || s.InFlight != 2 || s.MonthToDate != 3 || s.Nodes != 4 || string(v.Text(s.Scope)) != "cluster" {
		t.Errorf("%+v", s)
	}
	var l abi.LaunchRow
	l.Get(v.Row(v.Rows, 0))
	if diff := cmp.Diff(map[string]string{"n1": "", "n2": ""}, pairs(t, v, l.NamespacesFirst, l.NamespacesCount)); diff != "" {
		t.Error(diff)
	}
	(&abi.CeilingOut{HourlyUSD: 2, MonthlyUSD: math.NaN(), Flags: abi.CeilingHourly}).Put(e.out(b, 0))
	(&abi.CeilingOut{MonthlyUSD: 30, Flags: abi.CeilingMonthly | abi.CeilingSoft}).Put(e.out(b, 2))
	(&abi.CeilingOut{Flags: abi.CeilingDeny, Reason: e.messages(b).Append("no")}).Put(e.out(b, 4))
	(&abi.CeilingOut{HourlyUSD: 1.5, Flags: abi.CeilingHourly}).Put(e.out(b, 5))
	(&abi.CeilingOut{MonthlyUSD: 40, Flags: abi.CeilingMonthly}).Put(e.out(b, 6))
	got, err := e.CeilingAnswers(b)
	if err != nil {
		t.Fatal(err)
	}
	less, two, thirty, forty := 1.5, 2.0, 30.0, 40.0
	want := policy.CeilingAnswer{
		Caps: map[string]policy.Cap{
			"cluster":    {HourlyUSD: &two, SoftHourlyUSD: &less},
			"nodepool/x": {SoftMonthlyUSD: &forty},
			"label/a=b":  {MonthlyUSD: &thirty, Soft: true},
		},
		Deny: map[int][]string{1: {"no"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	refused := map[int]abi.CeilingOut{
		0: {Flags: abi.CeilingDeny}, 1: {Flags: abi.CeilingHourly, HourlyUSD: math.NaN()}, 3: {Flags: abi.CeilingHourly}, 4: {Reason: 1},
		5: {Flags: abi.CeilingHourly, HourlyUSD: -1}, 6: {Flags: abi.CeilingSoft}, 7: {Flags: abi.CeilingDeny},
	}
	for i, out := range refused {
		again, err := e.ceilingBatch(in)
		if err != nil {
			t.Fatal(err)
		}
		out.Put(e.out(again, i))
		if _, err := e.CeilingAnswers(again); err == nil {
			t.Errorf("%+v was accepted for answer %d", out, i)
		}
	}
}

func BenchmarkRankEncoding(b *testing.B) {
	var e Encoder
	in := rankInput(1000)
	room := make([]byte, 1<<20)
	b.ReportAllocs()
	for b.Loop() {
		size, err := e.Rank(in)
		if err != nil {
			b.Fatal(err)
		}
		e.Put(room[:size])
		if in.Reuse, err = e.RankAnswers(room[:size], in.Reuse); err != nil {
			b.Fatal(err)
		}
	}
}
