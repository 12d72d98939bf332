package decision

import (
	"testing"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// TestNext: when a policy keeps a node until a time, the next decision is made at that
// time, and not before unless something changes.
func TestNext(t *testing.T) {
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		retry  []time.Duration
		want   time.Duration
	}{
		"nothing due": {reason: "every so often in any case", want: time.Hour},
		"held":        {reason: "the first hold to end", retry: []time.Duration{9 * time.Minute, 7 * time.Minute}, want: 7 * time.Minute},
		"far":         {reason: "a hold that outlasts the interval", retry: []time.Duration{3 * time.Hour}, want: time.Hour},
		"past":        {reason: "one that has ended is no reason to spin", retry: []time.Duration{-time.Minute}, want: validation},
	} {
		t.Run(name, func(t *testing.T) {
			d := &decide.Decision{Time: now, Disruptions: []decide.Disruption{{}}} // one for which no time is known
			for _, after := range tc.retry {
				d.Disruptions = append(d.Disruptions, decide.Disruption{RetryAt: now.Add(after)})
			}
			if got := (&Loop{Config: Config{Every: time.Hour}}).next(d); got != tc.want {
				t.Errorf("%s: look again in %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// TestBindingWait: whether the scheduler binds pods to the nodes that wait for them is seen soon.
func TestBindingWait(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		node   model.Node
		want   time.Duration
	}{
		"nobody":   {reason: "the node waits for no pod", node: model.Node{State: model.Initialized}, want: time.Minute},
		"awaited":  {reason: "a pod may be bound elsewhere at any time", node: model.Node{State: model.Initialized, Nominated: true}, want: bindingCheck},
		"in boot":  {reason: "nothing can be bound yet", node: model.Node{State: model.Registered, Nominated: true}, want: time.Minute},
		"deletion": {reason: "its pods are no longer planned there", node: model.Node{State: model.Deleting, Nominated: true}, want: time.Minute},
	} {
		if got := bindingWait(&model.Snapshot{Nodes: []model.Node{{}, tc.node}}, time.Minute); got != tc.want {
			t.Errorf("%s: %s: looks again after %s, want %s", name, tc.reason, got, tc.want)
		}
	}
}
