package solver

import (
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// outline writes a plan in a line for each node and reason.
func outline(s *model.Snapshot, plan *model.Plan) []string {
	var out []string
	names := func(pods []int32) string {
		var b []string
		for _, i := range pods {
			b = append(b, strings.TrimPrefix(s.Pods[i].Name, "pod-"))
		}
		if len(strings.Join(b, "")) > len(b) {
			return strings.Join(b, " ")
		}
		return strings.Join(b, "")
	}
	for _, a := range plan.Existing {
		out = append(out, s.Nodes[a.Node].Name+" <- "+names(a.Pods))
	}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		o := n.Options[0]
		chosen := ""
		for _, k := range slices.Sorted(maps.Keys(n.Labels)) {
			chosen += " " + k + "=" + n.Labels[k]
		}
		out = append(out, s.Pools[n.Pool].Name+" "+o.InstanceType+" "+o.Zone+" "+string(o.CapacityType)+chosen+" <- "+names(n.Pods))
	}
	for _, u := range plan.Unplaced {
		line := names([]int32{u.Pod}) + ":"
		for _, r := range u.Reasons {
			line += " " + r.Pool + " " + string(r.Code) + ": " + r.Message
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}
