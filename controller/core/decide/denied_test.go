package decide

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// TestDeniedNamespace: a refusal holds for the pods that it was about. Pods of other
// namespaces still get the offering.
func TestDeniedNamespace(t *testing.T) {
	guard := func(no func(*policy.Launch) bool) *scripted {
		return &scripted{
			info: policy.Info{Name: "guard", Hooks: []policy.Hook{policy.HookCeiling}},
			ceiling: func(in *policy.CeilingInput) policy.CeilingAnswer {
				a := policy.CeilingAnswer{Deny: map[int][]string{}}
				for i := range in.Launches {
					if no(&in.Launches[i]) {
						a.Deny[i] = []string{"not for you"}
					}
				}
				return a
			},
		}
	}
	shops := func(l *policy.Launch) bool { return slices.Contains(l.Namespaces, "shop") }
	for name, tc := range map[string]struct {
		reason  string
		no      func(*policy.Launch) bool
		pods    int                       // of each namespace, 8 if 0
		want    map[string]map[string]int // pods by family, by namespace
		waiting map[string]int
	}{
		"one family": {
			reason: "c is the cheaper family: batch keeps it, although its pods were planned onto nodes with shop's",
			no:     func(l *policy.Launch) bool { return l.Family == "c" && shops(l) },
			want:   map[string]map[string]int{"shop": {"m": 8}, "batch": {"c": 8}},
		},
		"every family": {
			reason: "shop gets nothing, batch what it would get alone",
			no:     shops,
			want:   map[string]map[string]int{"batch": {"c": 8}}, waiting: map[string]int{"shop": 8},
		},
		"together": {
			reason: "neither is refused alone: what they were refused together holds for both",
			no:     func(l *policy.Launch) bool { return l.Family == "c" && len(l.Namespaces) > 1 },
			pods:   6,
			want:   map[string]map[string]int{"shop": {"m": 6}, "batch": {"m": 6}},
		},
		"both": {
			reason: "a refusal for all namespaces holds for all",
			no:     func(l *policy.Launch) bool { return l.Family == "c" },
			want:   map[string]map[string]int{"shop": {"m": 8}, "batch": {"m": 8}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			pods := cmp.Or(tc.pods, 8)
			s := snapshot(pods)
			other := s.Specs[0]
			other.Namespace = "batch"
			s.Specs = append(s.Specs, other)
			for i := range pods {
				s.Pods = append(s.Pods, model.Pod{UID: string(rune('p' + i)), Namespace: "batch", Name: "job-" + string(rune('a'+i)), Spec: 1, Node: -1})
			}
			d := decideOn(t, s, Options{}, guard(tc.no))
			got, waiting := map[string]map[string]int{}, map[string]int{}
			for i := range d.Plan.Nodes {
				n := &d.Plan.Nodes[i]
				for _, p := range n.Pods {
					space := s.Pods[p].Namespace
					if got[space] == nil {
						got[space] = map[string]int{}
					}
					got[space][n.Options[0].InstanceType[:1]]++
				}
			}
			for _, u := range d.Plan.Unplaced {
				if r := u.Reasons[0]; r.Code != model.LaunchDenied || r.Policy != "guard" {
					t.Errorf("%s: %+v", tc.reason, r)
				}
				waiting[s.Pods[u.Pod].Namespace]++
			}
			if tc.waiting == nil {
				tc.waiting = map[string]int{}
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			if diff := gocmp.Diff(tc.waiting, waiting); diff != "" {
				t.Errorf("%s: waiting -want +got\n%s", tc.reason, diff)
			}
		})
	}
}
