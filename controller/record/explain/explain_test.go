package explain

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/record/journal"
)

func entries() []journal.Entry {
	at := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	best := model.Option{InstanceType: "c7g.large", Zone: "us-west-2a", CapacityType: model.OnDemand, Price: 72_500, Effective: 0.0725}
	other := model.Option{InstanceType: "m7g.large", Zone: "us-west-2a", CapacityType: model.OnDemand, Price: 81_600, Effective: 0.0816}
	third := model.Option{InstanceType: "r7g.large", Zone: "us-west-2b", CapacityType: model.Spot, Price: 90_000, Effective: 0.09}
	refused := []model.Reason{{Code: model.CeilingReached, Pool: "general", Policy: "budget", Message: "cap leaves 0.01 $/h", Scope: "cluster", Short: 90_000}}
	budget := []decide.CapStatus{
		{Scope: "label/team=ml", Policy: "budget", Cap: "1.00 $/h", Left: 500_000, Period: decide.PerHour, Limit: 1},
		{Scope: "cluster", Policy: "budget", Cap: "2.00 $/h", Left: 10_000, Period: decide.PerHour, Limit: 2},
	}
	offered := []journal.Offerings{{NodePool: "general", Asked: 40, Dropped: []journal.Dropped{{Policy: "new", Reason: "too old", Count: 12, Example: model.Option{InstanceType: "m5.large", Zone: "us-west-2b", CapacityType: model.Spot}}}}}
	full := []journal.NotOn{{Pods: []int{0}, Refusals: []check.Refusal{{Why: "not enough cpu left", Nodes: 3, Example: "ip-1"}, {Why: "not ready", Nodes: 1, Example: "ip-4"}}}}
	return []journal.Entry{
		{ID: "d1", Time: at, Candidates: offered, Nodes: []journal.Node{{Claim: "general-1", NodePool: "general", Best: best, Others: []model.Option{other}, OtherTypes: []model.Option{third}, Pods: []string{"shop/web-1"}, NotOn: full, Remarks: []policy.Remark{{Policy: "cheapest", Reason: "Graviton"}}}}, Policies: []policy.Use{{Name: "cheapest", Hash: "7cbe38b234b7c0de", Hook: policy.HookRank}}},
		{ID: "d2", Time: at.Add(time.Minute), Existing: []journal.Placed{{Node: "general-1", Pods: []string{"shop/web-2"}}}, Unplaced: []journal.Waiting{{Pod: "shop/web-3", Reasons: refused}}, Headroom: budget},
		{ID: "d3", Time: at.Add(2 * time.Minute), Unplaced: []journal.Waiting{{Pod: "shop/web-3", Reasons: refused}}, Headroom: budget, Disruptions: []journal.Candidate{{Node: "ip-1", Claim: "general-1", Policy: "keep", Reason: "team ml"}}},
		{ID: "d4", Time: at.Add(3 * time.Minute), Commands: []journal.Command{{
			Method: "Underutilized", Stage: "Start", Nodes: []string{"ip-7", "ip-8"}, Savings: 50_000,
			Replacements: []journal.Node{{Claim: "general-9", NodePool: "general", Best: best, Pods: []string{"shop/web-9"}}},
		}}},
	}
}

// whole is the full explanation of the first node.
var whole = []string{
	"of 40 offerings that NodePool general allows, the cheapest in effect that hold the pods and are to be had were kept",
	"policy new dropped 12 of them, m5.large (spot) in us-west-2b among them: too old",
	"policy cheapest says of its score: Graviton",
	"m7g.large (on-demand) in us-west-2a would have cost 0.0816 $/h, 0.0091 $/h more in effect",
	"r7g.large (spot) in us-west-2b would have cost 0.0900 $/h, 0.0175 $/h more in effect",
	"not on 3 nodes such as ip-1: not enough cpu left",
	"not on node ip-4: not ready",
}

func TestExplain(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		answer  Answer
		says    []string
		details []string
	}{
		"launched": {
			reason: "the node, its price and the next best", answer: Pod(entries(), "shop/web-1"),
			says:    []string{"d1: a node was launched for it: c7g.large (on-demand) in us-west-2a at 0.0725 $/h, for 1 pod, from NodePool general"},
			details: whole,
		},
		"room": {
			reason: "a pod that fits launches nothing", answer: Pod(entries(), "shop/web-2"),
			says: []string{"d2: it was planned onto node general-1, which had room: nothing was launched"},
		},
		"waits": {
			reason: "said once, since the first decision that said so", answer: Pod(entries(), "shop/web-3"),
			says:    []string{"d2: it waits: no node could be planned for it"},
			details: []string{"NodePool general: cap leaves 0.01 $/h", "policy budget caps cluster at 2.00 $/h, of which 0.0100 $/h were left", "to change that: policy budget would have to cap cluster at 2.0900 $/h or more, or 0.0900 $/h be freed there"},
		},
		"unknown": {reason: "nothing is made up", answer: Pod(entries(), "shop/other")},
		"node": {
			reason: "both of its names count, the latest first", answer: Node(entries(), "ip-1"),
			says: []string{
				`d3: it stays: policy keep says "team ml"`,
				"d2: planned onto it: 1 pod: shop/web-2",
				"d1: it was launched: c7g.large (on-demand) in us-west-2a at 0.0725 $/h, for 1 pod, from NodePool general",
			},
			details: whole,
		},
		"claim": {
			reason: "by its claim's name it is the same", answer: Node(entries(), "general-1"),
			says: []string{
				`d3: it stays: policy keep says "team ml"`,
				"d2: planned onto it: 1 pod: shop/web-2",
				"d1: it was launched: c7g.large (on-demand) in us-west-2a at 0.0725 $/h, for 1 pod, from NodePool general",
			},
			details: whole,
		},
		"replaced": {
			reason: "what goes says what it saves", answer: Node(entries(), "ip-7"),
			says: []string{"d4: its disruption (Underutilized) is at the step Start"},
			details: []string{
				"together with its replacements this saves 0.0500 $/h over 2 nodes",
				"replaced by general-9: c7g.large (on-demand) in us-west-2a",
			},
		},
		"replacement": {
			reason: "what comes says in whose stead", answer: Node(entries(), "general-9"),
			says: []string{"d4: it was launched in the stead of ip-7, ip-8 (Underutilized): c7g.large (on-demand) in us-west-2a at 0.0725 $/h, for 1 pod, from NodePool general"},
		},
		"pool": {
			reason: "what it launched, and whom it could not serve", answer: Pool(entries(), "general"),
			says: []string{
				"d2: 1 pod could not use it: cap leaves 0.01 $/h",
				"d1: node general-1 was launched: c7g.large (on-demand) in us-west-2a at 0.0725 $/h, for 1 pod, from NodePool general",
			},
			details: whole,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var says, details []string
			for _, f := range tc.answer.Facts {
				says = append(says, f.Decision+": "+f.Says)
				details = append(details, f.Details...)
			}
			if diff := cmp.Diff(tc.says, says); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.details, details); diff != "" {
				t.Errorf("%s: details -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWaitsForScripts: the reasons why a pod waits are in the JSON, with the headroom
// of the scope that they name and of no other.
func TestWaitsForScripts(t *testing.T) {
	f := Pod(entries(), "shop/web-3").Facts[0]
	if len(f.Reasons) != 1 || f.Reasons[0].Code != model.CeilingReached || f.Reasons[0].Short != 90_000 {
		t.Errorf("reasons %+v", f.Reasons)
	}
	if len(f.Headroom) != 1 || f.Headroom[0].Scope != "cluster" || f.Headroom[0].Left != 10_000 {
		t.Errorf("headroom %+v", f.Headroom)
	}
}

// TestEveryReasonHasARemedy: for every reason there is a text about what would have to
// change.
func TestEveryReasonHasARemedy(t *testing.T) {
	for _, code := range model.Reasons() {
		if Remedy(&model.Reason{Code: code}, nil) == "" {
			t.Errorf("%s has none", code)
		}
	}
}
