package backtest

import (
	"spokeshave.dev/controller/core/model"
)

// roomFor is the emptiest node that takes a pod, as the default scheduler picks
// it; nil when a decision has to say. Pods with a say in who is near them always
// wait for one.
func (w *world) roomFor(p *pod) *machine {
	spec := &w.base.Specs[p.Spec]
	if social(spec) {
		return nil
	}
	var best *machine
	for _, m := range w.nodes {
		if m.State != model.Initialized || m.deleting || !holds(m.free, spec.Requests) || !m.Admits(spec) {
			continue
		}
		if m.reserved() { // its room is planned for others
			continue
		}
		if best == nil || m.free[model.CPU] > best.free[model.CPU] {
			best = m
		}
	}
	return best
}

// reserved says whether a node that is new still waits for planned pods.
func (m *machine) reserved() bool { return m.Nominated }

// social says whether where the pod may go depends on other pods.
func social(s *model.PodSpec) bool {
	return len(s.Spread)+len(s.PodAffinity)+len(s.PodAntiAffinity)+len(s.HostPorts)+len(s.PreferredPods)+len(s.PreferredApart)+len(s.Unsupported) > 0
}

func holds(room, requests model.Resources) bool {
	for name, n := range requests {
		if n > room[name] {
			return false
		}
	}
	return true
}
