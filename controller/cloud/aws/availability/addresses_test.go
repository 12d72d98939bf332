package availability

import (
	"testing"
	"time"
)

// TestRoomiest: nodes go where most addresses are free, counting those of nodes that EC2's
// count does not contain yet.
func TestRoomiest(t *testing.T) {
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	learn := func(a, b int, at time.Time) func(*Addresses) {
		return func(x *Addresses) { x.Learn("a", a, at); x.Learn("b", b, at) }
	}
	launch := func(subnet string, n int, at time.Time) func(*Addresses) {
		return func(x *Addresses) {
			for range n {
				x.Take(subnet, at)
			}
		}
	}
	for name, tc := range map[string]struct {
		reason string
		steps  []func(*Addresses)
		want   string
	}{
		"unknown":       {"the order in which they are given", nil, "a"},
		"read":          {"the second has more", []func(*Addresses){learn(100, 200, now)}, "b"},
		"equal":         {"the first", []func(*Addresses){learn(100, 100, now)}, "a"},
		"in flight":     {"four nodes use 120 addresses", []func(*Addresses){learn(250, 200, now), launch("a", 4, now)}, "b"},
		"few in flight": {"one node changes nothing", []func(*Addresses){learn(250, 200, now), launch("a", 1, now)}, "a"},
		"read again": {
			"EC2 counts them by now", []func(*Addresses){learn(250, 200, now), launch("a", 4, now), learn(250, 200, now.Add(time.Minute))}, "a",
		},
		"read at once": {
			"EC2's answer may be older than the launches", []func(*Addresses){learn(250, 200, now), launch("a", 4, now), learn(250, 200, now.Add(time.Second))}, "b",
		},
		"not ours": {"a launch into a subnet that no class selects is not counted", []func(*Addresses){launch("a", 4, now)}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			var a Addresses
			for _, step := range tc.steps {
				step(&a)
			}
			if got := a.Roomiest([]string{"a", "b"}); got != tc.want {
				t.Errorf("%s: subnet %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
