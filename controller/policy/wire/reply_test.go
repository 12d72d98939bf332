package wire

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// TestQuestionsComeBack: what a Decoder reads is what an Encoder was given, also when
// one of each serves question after question.
func TestQuestionsComeBack(t *testing.T) {
	var e Encoder
	var d Decoder
	opened := func(b []byte, err error) {
		t.Helper()
		if err := errors.Join(err, d.Open(b)); err != nil {
			t.Fatal(err)
		}
	}
	consolidate := &policy.ConsolidateInput{Call: call(), Candidates: []policy.Candidate{
		{
			Node: "n", Claim: "c", NodePool: "p", PoolTags: map[string]string{"team": "ml"}, Labels: map[string]string{"a": "b", "c": "d"},
			Method: "Drifted", Action: "replace", InstanceType: "m5.large", Zone: "z", CapacityType: "spot", Price: 1, Savings: 2, Pods: 3,
			AgeSeconds: 4, IdleSeconds: 5, CPUUtilisation: 6, MemoryUtilisation: 7, Cost: 8, JobPods: 9, SinceDisruption: -1, PoolEvictions: 10, ClusterEvictions: 11,
		},
		{Node: "m", Method: "Empty", Action: "delete", CapacityType: "reserved"},
	}}
	ceiling := &policy.CeilingInput{
		Call:   call(),
		Scopes: []policy.ScopeSpend{{Scope: "cluster", RunningUSD: 1, InFlightUSD: 2, MonthToDateUSD: 3, Nodes: 4}, {Scope: "nodepool/p"}},
		Launches: []policy.Launch{{
			NodePool: "p", PoolTags: map[string]string{"x": "y"}, InstanceType: "m5.large", Family: "m5", Zone: "z", CapacityType: "on-demand",
			Price: 1, WorstPrice: 2, OnDemand: 3, VCPU: 4, MemoryGiB: 5, GPUs: 6, Pods: 7, Namespaces: []string{"a", "b"},
		}, {NodePool: "q"}},
	}
	for _, in := range []*policy.RankInput{rankInput(20), rankInput(0), rankInput(7)} {
		opened(e.rankBatch(in))
		got := d.Rank()
		in.Time = in.Time.UTC()
		if diff := cmp.Diff(in, got, cmp.Transformer("rows", func(r []policy.RankRow) []policy.RankRow { return append([]policy.RankRow{}, r...) })); diff != "" || d.Hook() != policy.HookRank {
			t.Errorf("rank: -want +got\n%s", diff)
		}
		opened(e.consolidateBatch(consolidate))
		consolidate.Time = consolidate.Time.UTC()
		if diff := cmp.Diff(consolidate, d.Consolidate()); diff != "" || d.Hook() != policy.HookConsolidate {
			t.Errorf("consolidate: -want +got\n%s", diff)
		}
		opened(e.ceilingBatch(ceiling))
		ceiling.Time = ceiling.Time.UTC()
		if diff := cmp.Diff(ceiling, d.Ceiling()); diff != "" || d.Hook() != policy.HookCeiling {
			t.Errorf("ceiling: -want +got\n%s", diff)
		}
	}
}

// TestNames: every name of the contract survives.
func TestNames(t *testing.T) {
	for _, c := range []model.CapacityType{model.OnDemand, model.Spot, model.Reserved, ""} {
		if got := capacityOf(capacity(c)); got != c {
			t.Errorf("capacity type %q became %q", c, got)
		}
	}
	for _, s := range []string{"Empty", "Underutilized", "Drifted", "Expired", ""} {
		if got := methodOf(method(s)); got != s {
			t.Errorf("method %q became %q", s, got)
		}
	}
	for _, s := range []string{"delete", "replace", ""} {
		if got := actionOf(action(s)); got != s {
			t.Errorf("action %q became %q", s, got)
		}
	}
	for _, s := range []string{"amd64", "arm64", ""} {
		if got := archOf(arch(s)); got != s {
			t.Errorf("architecture %q became %q", s, got)
		}
	}
}

// TestAnswersComeBack: what a reply says is what the Replier was given.
func TestAnswersComeBack(t *testing.T) {
	var r Replier
	rank := []policy.RankAnswer{
		{Score: 1, MaxNodes: 2, Group: 3, Shared: true, Reason: "a"}, {Exclude: true, Reason: "b"}, {Score: 2, Reason: "a"}, {},
	}
	got, err := RankReplied(r.Rank(rank), len(rank), nil)
	if diff := cmp.Diff(rank, got); diff != "" || err != nil {
		t.Errorf("rank: %v\n%s", err, diff)
	}
	consolidate := []policy.ConsolidateAnswer{
		{Verdict: policy.Allow, Cost: 1}, {Verdict: policy.Deny, Reason: "no"}, {Verdict: policy.Hold, HoldSeconds: 60, Reason: "later"},
	}
	judged, err := ConsolidateReplied(r.Consolidate(consolidate), len(consolidate))
	if diff := cmp.Diff(consolidate, judged); diff != "" || err != nil {
		t.Errorf("consolidate: %v\n%s", err, diff)
	}
	one, two := 1.5, 0.0
	for name, want := range map[string]policy.CeilingAnswer{
		"nothing": {}, "no caps": {Caps: map[string]policy.Cap{}},
		"all": {
			Caps: map[string]policy.Cap{
				"cluster": {HourlyUSD: &one, Soft: true}, "namespace/x": {MonthlyUSD: &two, SoftHourlyUSD: &two, SoftMonthlyUSD: &one}, "nodepool/p": {},
			},
			Deny: map[int][]string{0: {"a", "b"}, 3: {""}},
		},
	} {
		got, err := CeilingReplied(r.Ceiling(&want), 4)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// TestErrorsComeBack: a fault keeps its kind and its text, with what stands before it.
func TestErrorsComeBack(t *testing.T) {
	var r Replier
	trap := &policy.Fault{Kind: policy.FaultTrap, Message: "p.rego:3:1: divide by zero"}
	for name, want := range map[string]error{
		"fault":      trap,
		"with place": fmt.Errorf("spot m5.large in a: %w", trap),
		"none":       policy.ErrNoOpinion,
	} {
		_, err := RankReplied(r.Error(want), 3, nil)
		if err == nil || err.Error() != want.Error() || errors.Is(want, policy.ErrNoOpinion) != errors.Is(err, policy.ErrNoOpinion) {
			t.Errorf("%s: %v became %v", name, want, err)
		}
	}
	var fault *policy.Fault
	if _, err := CeilingReplied(r.Error(errors.New("x")), 0); !errors.As(err, &fault) || fault.Kind != policy.FaultInternal {
		t.Errorf("an error that is no fault became %v", err)
	}
}

// FuzzReplied: no bytes make the reading of a reply panic, or give answers that were not
// asked for.
func FuzzReplied(f *testing.F) {
	var r Replier
	one := 1.0
	f.Add(r.Rank([]policy.RankAnswer{{Score: 1, Reason: "a"}, {Exclude: true}}), 2)
	f.Add(r.Ceiling(&policy.CeilingAnswer{Caps: map[string]policy.Cap{"cluster": {HourlyUSD: &one}}, Deny: map[int][]string{1: {"x"}}}), 2)
	f.Add(r.Error(&policy.Fault{Kind: policy.FaultTrap, Message: "m"}), 2)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		n &= 0xff
		if got, err := RankReplied(b, n, nil); err == nil && len(got) != n {
			t.Errorf("%d answers to %d rows", len(got), n)
		}
		if got, err := ConsolidateReplied(b, n); err == nil && len(got) != n {
			t.Errorf("%d answers to %d candidates", len(got), n)
		}
		got, err := CeilingReplied(b, n)
		for launch := range got.Deny {
			if err == nil && (launch < 0 || launch >= n) {
				t.Errorf("launch %d of %d", launch, n)
			}
		}
	})
}
