package backtest

import (
	"spokeshave.dev/controller/core/model"
)

// roomFor returns the emptiest node that takes a pod, as the default scheduler does;
// nil when a decision is needed. Pods whose place depends on other pods always need a
// decision.
func (w *simulation) roomFor(p *pod) *machine {
	spec := &w.base.Specs[p.Spec]
	if dependsOnPods(spec) {
		return nil
	}
	var best *machine
	for _, m := range w.nodes {
		if m.State != model.Initialized || m.deleting || !fits(m.free, spec.Requests) || !m.Admits(spec) {
			continue
		}
		if m.reserved() { // its room is reserved for planned pods
			continue
		}
		if best == nil || m.free[model.CPU] > best.free[model.CPU] {
			best = m
		}
	}
	return best
}

// reserved reports whether a new node still waits for planned pods.
func (m *machine) reserved() bool { return m.Nominated }

// dependsOnPods reports whether the pod's constraints depend on other pods.
func dependsOnPods(s *model.PodSpec) bool {
	return len(s.Spread)+len(s.PodAffinity)+len(s.PodAntiAffinity)+len(s.HostPorts)+len(s.PreferredPods)+len(s.PreferredApart)+len(s.Unsupported) > 0
}

func fits(room, requests model.Resources) bool {
	for name, n := range requests {
		if n > room[name] {
			return false
		}
	}
	return true
}
