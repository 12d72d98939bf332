package solver

import "spokeshave.dev/controller/model"

// refusedConstraints names the required constraints of a pod that this solver does not
// honour: such a pod is reported, never placed where the scheduler would then
// refuse it. Preferences stand in nobody's way.
func refusedConstraints(s *model.PodSpec) []string {
	var out []string
	for i := range s.Spread {
		if !s.Spread[i].Soft {
			out = append(out, "topologySpreadConstraints with DoNotSchedule")
			break
		}
	}
	if len(s.PodAffinity) > 0 {
		out = append(out, "required podAffinity")
	}
	if len(s.PodAntiAffinity) > 0 {
		out = append(out, "required podAntiAffinity")
	}
	return out
}
