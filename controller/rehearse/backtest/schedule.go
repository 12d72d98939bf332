package backtest

import (
	"slices"

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
		if m.State != model.Initialized || m.deleting || !holds(m.free, spec.Requests) || !admits(m, spec) {
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

// admits says whether labels and taints of a node let the pod in.
func admits(m *machine, s *model.PodSpec) bool {
	for key, value := range s.NodeSelector {
		if m.Labels[key] != value {
			return false
		}
	}
	if s.Affinity != nil && !slices.ContainsFunc(s.Affinity, func(t model.Term) bool { return meets(m.Labels, t) }) {
		return false
	}
	for i := range m.Taints {
		if t := &m.Taints[i]; t.Effect != model.PreferNoSchedule && !tolerates(s.Tolerations, t) {
			return false
		}
	}
	return true
}

func meets(labels map[string]string, t model.Term) bool {
	for i := range t {
		value, present := labels[t[i].Key]
		if !t[i].Matches(value, present) {
			return false
		}
	}
	return true
}

func tolerates(all []model.Toleration, t *model.Taint) bool {
	return slices.ContainsFunc(all, func(o model.Toleration) bool {
		return o.Matches(t)
	})
}
