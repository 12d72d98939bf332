package decide

import (
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
)

// TestExplained: of every node that stays the decision says why.
func TestExplained(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*model.Snapshot)
		node   string
		want   string
		kind   disrupt.Kind
	}{
		"pod": {reason: "a protected pod", change: func(*model.Snapshot) {}, node: "full", want: "pod shop/web-a carries karpenter.sh/do-not-disrupt", kind: disrupt.Blocked},
		"for a while": {
			reason: "the pod that is protected for longest says until when",
			change: func(s *model.Snapshot) {
				brief := s.Pods[2]
				brief.Name, brief.DoNotDisrupt, brief.HeldUntil = "web-a", true, s.Time.Add(time.Minute)
				s.Pods[2].DoNotDisrupt, s.Pods[2].HeldUntil = true, s.Time.Add(90*time.Minute)
				s.Pods = append([]model.Pod{brief}, s.Pods...)
			},
			node: "large", want: "pod shop/web-c carries karpenter.sh/do-not-disrupt, at 2026-03-11T10:30:00Z it may be looked at", kind: disrupt.Blocked,
		},
		"for a while, drifted": {
			reason: "and so it does of a node that somebody waits for",
			change: func(s *model.Snapshot) {
				s.Nodes[1].Drifted, s.Pods[2].DoNotDisrupt, s.Pods[2].HeldUntil = "NodePoolDrifted", true, s.Time.Add(90*time.Minute)
			},
			node: "large", want: "pod shop/web-c carries karpenter.sh/do-not-disrupt, at 2026-03-11T10:30:00Z it may be looked at", kind: disrupt.Blocked,
		},
		"for ever": {
			reason: "one pod has no end, whatever another has",
			change: func(s *model.Snapshot) {
				s.Pods[0].HeldUntil = time.Time{}
				held := s.Pods[0]
				held.Name, held.HeldUntil = "web-z", s.Time.Add(time.Minute)
				s.Pods = append([]model.Pod{held}, s.Pods...)
			},
			node: "full", want: "pod shop/web-a carries karpenter.sh/do-not-disrupt", kind: disrupt.Blocked,
		},
		"node":       {reason: "the node's own annotation", change: func(s *model.Snapshot) { s.Nodes[1].DoNotDisrupt = true }, node: "large", want: "do-not-disrupt", kind: disrupt.Blocked},
		"when empty": {reason: "the policy of the pool", change: func(s *model.Snapshot) { s.Pools[0].Disruption.Policy = "WhenEmpty" }, node: "large", want: "is WhenEmpty", kind: disrupt.NoSaving},
		"too soon":   {reason: "and when it is over", change: func(s *model.Snapshot) { s.Pools[0].Disruption.ConsolidateAfter = 2 * time.Hour }, node: "large", want: "consolidateAfter has not passed, at "},
		"never":      {reason: "consolidateAfter", change: func(s *model.Snapshot) { s.Pools[0].Disruption.Never = true }, node: "large", want: "consolidateAfter is Never", kind: disrupt.NoSaving},
		"budget":     {reason: "the pool's budgets", change: func(s *model.Snapshot) { s.Pools[0].Disruption.AllowedUnderutilized = 0 }, node: "large", want: "the disruption budgets of NodePool", kind: disrupt.OverBudget},
		"taken back": {reason: "what failed a minute ago", change: func(s *model.Snapshot) { s.Nodes[1].UndoneAt = s.Time.Add(-time.Minute) }, node: "large", want: "taken back"},
		"starting":   {reason: "it is not there yet", change: func(s *model.Snapshot) { s.Nodes[1].State = model.Registered }, node: "large", want: "not initialized"},
		"nominated":  {reason: "pods are about to come", change: func(s *model.Snapshot) { s.Nodes[1].Nominated = true }, node: "large", want: "are expected on it"},
		"leaving":    {reason: "it goes already", change: func(s *model.Snapshot) { s.Nodes[0].State = model.Deleting }, node: "full", want: "on its way out"},
		"spot": {reason: "spot for spot is a gate", change: func(s *model.Snapshot) {
			s.Nodes[1].CapacityType = model.Spot
			for i := range s.Catalogs[0].Types {
				for k := range s.Catalogs[0].Types[i].Offerings {
					s.Catalogs[0].Types[i].Offerings[k].CapacityType = model.Spot
				}
			}
		}, node: "large", want: "SpotToSpotConsolidation is off", kind: disrupt.NoSaving},
		"balanced": {reason: "too little for the disruption", change: func(s *model.Snapshot) {
			s.Pools[0].Disruption.Policy, s.Nodes[0].Price = "Balanced", 100_000_000
		}, node: "large", want: "too little for the disruption", kind: disrupt.SavingTooSmall},
		"moves": {reason: "what its pods' moves cost", change: func(s *model.Snapshot) {
			s.Settings.MoveCost = model.PriceOf(100)
		}, node: "large", want: "moving 1 pod costs 100.0000 $/h: not worth it", kind: disrupt.SavingTooSmall},
		"moves, of the pool": {reason: "what the pool says of them", change: func(s *model.Snapshot) {
			s.Pools[0].Disruption.MoveCost = new(model.PriceOf(50))
		}, node: "large", want: "moving 1 pod costs 50.0000 $/h: not worth it", kind: disrupt.SavingTooSmall},
		"nothing won": {reason: "the price", change: func(s *model.Snapshot) { s.Nodes[1].Price = 1000 }, node: "large", want: "no cheaper place", kind: disrupt.NoSaving},
		"pod budget": {reason: "a PodDisruptionBudget", change: func(s *model.Snapshot) {
			s.Budgets = []model.PodBudget{{Namespace: "shop", Name: "b", Selector: model.PodSelector{Namespaces: []string{"shop"}}}}
		}, node: "large", want: "PodDisruptionBudget shop/b allows no eviction of pod web-c", kind: disrupt.Blocked},
		"drifted, no budget": {reason: "budgets for drift", change: func(s *model.Snapshot) {
			s.Nodes[1].Drifted, s.Pools[0].Disruption.AllowedDrifted = "NodePoolDrifted", 0
		}, node: "large", want: "the disruption budgets of NodePool", kind: disrupt.OverBudget},
		"empty, expected": {reason: "a pod that waits is planned there", change: func(s *model.Snapshot) {
			s.Pods = append(s.Pods[:2], model.Pod{UID: "p", Namespace: "shop", Name: "waits", Node: -1})
		}, node: "large", want: "planned here"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := used()
			tc.change(s)
			d := decideOn(t, s, Options{Disrupt: true, Search: true, Explain: true})
			var said []string
			var kind disrupt.Kind
			for _, each := range d.Disruptions {
				if s.Nodes[each.Node].Name == tc.node && !each.Go {
					said, kind = append(said, each.Reason), each.Kind
				}
			}
			if len(said) != 1 || !strings.Contains(said[0], tc.want) || kind != tc.kind {
				t.Errorf("%s: it says %q (%d), want %q (%d)", tc.reason, said, kind, tc.want, tc.kind)
			}
		})
	}
}
