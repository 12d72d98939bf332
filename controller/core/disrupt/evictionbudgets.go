package disrupt

import (
	"fmt"

	"spokeshave.dev/controller/core/model"
)

// evictionBudgets finds the PodDisruptionBudgets of pods, once per spec.
type evictionBudgets struct {
	s      *model.Snapshot
	bySpec [][]int32
	known  []bool
}

func newEvictionBudgets(s *model.Snapshot) *evictionBudgets {
	return &evictionBudgets{s: s, bySpec: make([][]int32, len(s.Specs)), known: make([]bool, len(s.Specs))}
}

// blocking returns why a PodDisruptionBudget prevents the eviction of a pod, "" when
// none does. The Eviction API refuses pods with more than one budget. Pods of
// DaemonSets are evicted like others; static pods and pods that tolerate the taint
// are not.
func (g *evictionBudgets) blocking(p *model.Pod) string {
	if len(g.s.Budgets) == 0 {
		return ""
	}
	budgets := g.of(p.Spec)
	if len(budgets) == 0 || p.Static() || g.s.Specs[p.Spec].Tolerates(&model.Taint{Key: noMoveTaint, Effect: model.NoSchedule}) {
		return ""
	}
	if len(budgets) > 1 {
		return fmt.Sprintf("pod %s has %d PodDisruptionBudgets, and the Eviction API takes one at most", p.Key(), len(budgets))
	}
	for _, i := range budgets {
		b := &g.s.Budgets[i]
		if b.Allowed <= 0 && (!p.Unready || !b.FreesUnready) {
			return fmt.Sprintf("PodDisruptionBudget %s/%s allows no eviction of pod %s", b.Namespace, b.Name, p.Name)
		}
	}
	return ""
}

func (g *evictionBudgets) of(spec int32) []int32 {
	if !g.known[spec] {
		g.known[spec] = true
		s := &g.s.Specs[spec]
		for i := range g.s.Budgets {
			if g.s.Budgets[i].Selector.Matches(s.Namespace, s.Labels) {
				g.bySpec[spec] = append(g.bySpec[spec], int32(i))
			}
		}
	}
	return g.bySpec[spec]
}
