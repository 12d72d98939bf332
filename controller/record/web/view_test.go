package web

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/record/journal"
)

// history are two decisions with one action of each kind.
func history() []journal.Entry {
	at := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	best := model.Option{InstanceType: "c7g.large", Zone: "us-west-2a", CapacityType: model.OnDemand, Price: 72_500}
	return []journal.Entry{
		{
			ID: "d1", Time: at, Nodes: []journal.Node{{Claim: "general-1", NodePool: "general", Best: best, Pods: []string{"shop/web-1", "shop/web-2"}}},
			Existing: []journal.Placed{{Node: "ip-1", Pods: []string{"shop/web-3"}}}, Warnings: []string{"soft cap is reached"},
		},
		{
			ID: "d2", Time: at.Add(time.Minute),
			Unplaced: []journal.Waiting{{Pod: "ml/train", Reasons: []model.Reason{{Pool: "gpu", Message: "limit reached"}}}, {Pod: "ml/train-2", Reasons: []model.Reason{{Pool: "gpu", Message: "limit reached"}}}},
			Disruptions: []journal.Candidate{
				{Node: "ip-2", Claim: "general-2", Method: "Empty", Go: true}, {Node: "ip-3", Claim: "general-3", Policy: "keep", Reason: "month end"},
			},
			Commands: []journal.Command{{Method: "Underutilized", Stage: "Finish", Nodes: []string{"ip-4", "ip-5"}, Savings: 50_000}},
		},
	}
}

func TestFilter(t *testing.T) {
	const launch, place, warn = "d1 launch c7g.large (on-demand) in us-west-2a at 0.0725 $/h in NodePool general, for shop/web-1, shop/web-2", "d1 place 1 pod: shop/web-3", "d1 warn soft cap is reached"
	const command, remove, wait, keep = "d2 consolidate and ip-5: Underutilized, ends, its nodes are deleted, saves 0.0500 $/h", "d2 remove Empty", "d2 wait and 1 other pod: limit reached", "d2 keep policy keep says: month end"
	for name, tc := range map[string]struct {
		reason string
		at     address
		want   []string
	}{
		"all":     {"without a filter, nodes that stay are left out", address{}, []string{command, remove, wait, launch, place, warn}},
		"pod":     {"a launch names its pods", address{Pod: "shop/web-2"}, []string{launch}},
		"waiting": {"pods that wait for one reason are one action", address{Pod: "ml/train-2"}, []string{wait}},
		"node":    {"by its name", address{Node: "ip-5"}, []string{command}},
		"claim":   {"by that of its claim, and then why it stays too", address{Node: "general-3"}, []string{keep}},
		"pool":    {"launches and what waits for it", address{Pool: "gpu"}, []string{wait}},
		"kind":    {"one kind", address{Kind: kept}, []string{keep}},
		"text":    {"in any case of letters, in all that is said", address{Query: "MONTH"}, []string{keep}},
		"both":    {"all parts have to match", address{Query: "shop", Kind: placements}, []string{place}},
		"none":    {"nothing is made up", address{Query: "nothing like it"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := decisionsView{&view{at: &tc.at}}
			var got []string
			for _, f := range v.search(history(), 10) {
				for _, a := range f.actions {
					got = append(got, f.entry.ID+" "+a.kind+" "+a.text)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFinished: what a decision carries out counts once, and in mode Observe not at all.
func TestFinished(t *testing.T) {
	s := &model.Snapshot{Time: time.Unix(0, 0), Pools: []model.Pool{{Name: "general"}}, Nodes: []model.Node{{Name: "a", Claim: "ca", Price: 10}, {Name: "b", Claim: "cb", Price: 20}, {Name: "c", Claim: "cc", Price: 40}}}
	d := &decide.Decision{
		Disruptions: []decide.Disruption{{Node: 0, Method: decide.MethodEmpty, Go: true}, {Node: 1, Method: decide.MethodEmpty}},
		Commands: []decide.Command{
			{ID: "1", Method: decide.MethodUnderutilized, Stage: decide.Finish, Nodes: []int32{2}, Savings: 15},
			{ID: "2", Method: decide.MethodUnderutilized, Stage: decide.Wait, Nodes: []int32{1}, Savings: 100},
			{ID: "3", Method: "Drifted", Stage: decide.Finish, Nodes: []int32{1}, Savings: 100},
		},
	}
	for observe, want := range map[bool][]model.Price{true: nil, false: {10, 15}} {
		b := Board{Observe: observe}
		b.Add(s, d)
		b.Add(s, d)
		var got []model.Price
		for _, each := range b.latest().Finished.Last {
			got = append(got, each.Savings)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("observe %v (-want +got):\n%s", observe, diff)
		}
	}
}

// TestDecisionObserved: in mode Observe a decision has done nothing, and the page does not say so.
func TestDecisionObserved(t *testing.T) {
	for observe, want := range map[bool]string{false: "What it did", true: "What it would do"} {
		s := server(t, 1)
		s.Board.Observe = observe
		if _, _, text := get(t, s, "localhost", "/?view=decision&name=d0"); !strings.Contains(text, ">"+want+"<") {
			t.Errorf("observe %t: the page lacks %q:\n%s", observe, want, text)
		}
	}
}

// TestSavedByDay: the page shows what all leaders have saved, by day, and the sum of the
// last 30 days.
func TestSavedByDay(t *testing.T) {
	s := server(t, 1)
	today := s.Board.latest().Snapshot.Time.UTC().Truncate(24 * time.Hour)
	s.Ledger = func() *spend.Ledger {
		return &spend.Ledger{Saved: []spend.Saved{
			{Day: today.AddDate(0, 0, -30), Count: 50, Rate: 9_000_000},
			{Day: today.AddDate(0, 0, -29), Count: 2, Rate: 250_000},
			{Day: today, Count: 1, Rate: 500_000},
		}}
	}
	for path, want := range map[string][]string{
		"/":              {"0.7500", "by 3 consolidations in 30 days"},
		"/?view=savings": {"0.7500", "3 consolidations in the last 30 days", today.Format("2 January 2006"), today.AddDate(0, 0, -30).Format("2 January 2006"), "9.000", "0.2500", "0.5000"},
	} {
		_, _, text := get(t, s, "localhost", path)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q:\n%s", path, w, text)
			}
		}
	}
}

// TestSpendByNamespace: the ledger's amounts, the forecast and what is no namespace's.
func TestSpendByNamespace(t *testing.T) {
	month := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	ledger := &spend.Ledger{
		Month: month, Since: month, Through: month.AddDate(0, 1, 0).Add(-10 * time.Hour),
		Holders: []spend.HeldSpend{
			{Holder: spend.Holder{Kind: spend.Idle}, Amount: spend.Amount{Micro: 9_000_000}, Rate: 1_000_000},
			{Holder: spend.Holder{Kind: spend.Workload, Namespace: "data", Workload: "StatefulSet/db"}, Amount: spend.Amount{Micro: 5_000_000}},
			{Holder: spend.Holder{Kind: spend.Workload, Namespace: "shop", Workload: "Deployment/web"}, Amount: spend.Amount{Micro: 1_000_000}, Rate: 500_000},
			{Holder: spend.Holder{Kind: spend.Workload, Namespace: "shop", Workload: "Deployment/api"}, Amount: spend.Amount{Micro: 2_000_000}},
		},
	}
	s := server(t, 1)
	s.Board.latest().Decision.Headroom = []decide.CapStatus{{Scope: "namespace/data", Policy: "budget", Cap: "9.00 $/month", Period: decide.PerMonth, Limit: 9, Left: 300, Burn: 100, SecondsToCap: 7200}}
	s.Ledger = func() *spend.Ledger { return ledger }
	web, db := spend.Holder{Kind: spend.Workload, Namespace: "shop", Workload: "Deployment/web"}, spend.Holder{Kind: spend.Workload, Namespace: "data", Workload: "StatefulSet/db"}
	s.Days = func(context.Context) ([]spend.Period, error) {
		return []spend.Period{
			{From: month, To: month.AddDate(0, 0, 1), Rows: []spend.Row{{Holder: web, Amount: spend.Amount{Micro: 1_500_000}}, {Holder: db, Amount: spend.Amount{Micro: 2_100_000}}}},
			{From: month.AddDate(0, 0, 1), To: month.AddDate(0, 0, 2), Rows: []spend.Row{{Holder: web, Amount: spend.Amount{Micro: 500_000}}}},
		}, nil
	}
	for path, want := range map[string][]string{
		"/?view=spend":               {">shop</a></th><td class=\"figure\" data-label=\"Now $/h\"><div>0.5000</div></td><td class=\"figure\" data-label=\"This month $\"><div>3.00</div></td><td class=\"figure\" data-label=\"Forecast $\"><div>8.00</div>", ">Idle</th>", "Day by day", "3.60", "19.00", "9.00 $/month, 25 % used", "in 2 hours"},
		"/?view=namespace&name=shop": {"Deployment/web", "Deployment/api", "8.00", "Day by day", "2026-03-02", "class=\"days\"", "1.50"},
	} {
		_, _, text := get(t, s, "localhost", path)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q:\n%s", path, w, text)
			}
		}
	}
	s.Days = func(context.Context) ([]spend.Period, error) { return nil, errors.New("no answer") }
	if _, _, text := get(t, s, "localhost", "/?view=namespace&name=shop"); !strings.Contains(text, "The history cannot be read now: no answer") || !strings.Contains(text, "Deployment/web") {
		t.Errorf("a history that cannot be read is not told, or hides the rest:\n%s", text)
	}
	_, _, text := get(t, s, "localhost", "/?view=spend")
	_, list, _ := strings.Cut(text, "id=\"namespaces\"")
	if strings.Index(list, ">shop<") > strings.Index(list, ">data<") {
		t.Error("the namespace that will have cost most does not come first")
	}
}

// TestShadow: what a Shadow policy would have changed stands beside what was decided.
func TestShadow(t *testing.T) {
	s := server(t, 1)
	s.Policies = func() []policy.Status {
		return []policy.Status{{Namespace: "system", Name: "trial", State: policy.StateShadow}, {Namespace: "system", Name: "budget", State: policy.StateActive}}
	}
	state := s.Board.latest()
	d := *state.Decision
	d.Policies = []policy.Use{{Namespace: "system", Name: "trial", Mode: policy.Shadow, Disagreed: 7, Differences: []policy.Difference{{About: "node n1 (Empty)", Outcome: "may be disrupted", Would: "would be kept: month end"}}}}
	s.Board.Add(state.Snapshot, &d)
	entries := append(s.Journal(), journal.Entry{ID: "later", Policies: d.Policies})
	s.Journal = func() []journal.Entry { return entries }
	for _, path := range []string{"/?view=policies", "/?view=policy&name=system/trial"} {
		_, _, text := get(t, s, "localhost", path)
		for _, want := range []string{"node n1 (Empty)", "may be disrupted", "would be kept: month end"} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%s shows %q %d times", path, want, strings.Count(text, want))
			}
		}
	}
	if _, _, text := get(t, s, "localhost", "/"); !strings.Contains(text, "would have changed 7 answers") {
		t.Error("the overview does not say how many answers would differ")
	}
}

// TestSummary: what pods request of a node, those of DaemonSets apart, and accelerators
// where there are any.
func TestSummary(t *testing.T) {
	s := summarize(&model.Snapshot{
		Pools: []model.Pool{{Name: "gpu"}},
		Nodes: []model.Node{
			{Name: "n", Price: 100, Allocatable: model.Resources{model.CPU: 4000, model.PodSlots: 10, "nvidia.com/gpu": 4, "vpc.amazonaws.com/pod-eni": 9}, CapacityType: model.Spot},
			{Name: "empty", Price: 50, Allocatable: model.Resources{model.CPU: 1000}},
		},
		Specs: []model.PodSpec{{Requests: model.Resources{model.CPU: 1000, model.PodSlots: 1, "nvidia.com/gpu": 1}}, {Requests: model.Resources{model.CPU: 100, model.PodSlots: 1}}},
		Pods:  []model.Pod{{Spec: 0}, {Spec: 0, Node: -1}, {Spec: 1, Daemon: true}, {Spec: 0}},
	})
	want := [resourceCount]part{cpu: {4000, 100, 2000}, memory: {}, slots: {10, 1, 2}, accelerators: {4, 0, 2}}
	if got := s.nodes[0].parts; got != want || s.nodes[0].accelerator != "nvidia.com/gpu" || s.spot != 1 {
		t.Errorf("%+v %q %d", got, s.nodes[0].accelerator, s.spot)
	}
	groups := s.groups(s.all(), s.byPool)
	if len(groups) != 1 || groups[0].price != 150 || groups[0].parts[cpu].has != 5000 || groups[0].pool != "gpu" {
		t.Errorf("%+v", groups)
	}
	if diff := cmp.Diff([][]int32{{0, 2, 3}, {}}, s.pods); diff != "" {
		t.Error(diff)
	}
}

func TestFigures(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{rate(0), "0"},
		{rate(0.08321), "0.0832"},
		{rate(1.5), "1.500"},
		{rate(31.257), "31.26"},
		{rate(12_345.6), "12,346"},
		{rate(-1234), "-1,234"},
		{dollars(0.5), "0.50"},
		{dollars(1_234_567.8), "1,234,568"},
		{dollars(999.994), "999.99"},
		{quantity(cpu, 250), "0.25"},
		{quantity(cpu, 15_900), "15.9"},
		{quantity(memory, 3<<30), "3"},
		{quantity(slots, 12), "12"},
		{withoutPod("pod shop/web-1 carries karpenter.sh/do-not-disrupt"), "a pod carries karpenter.sh/do-not-disrupt"},
		{withoutPod("consolidateAfter has not passed"), "consolidateAfter has not passed"},
		{spell(90 * time.Minute), "90 minutes"},
		{spell(26 * time.Hour), "26 hours"},
		{spell(72 * time.Hour), "3 days"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
