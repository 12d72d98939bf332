package actuate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// launchGroups returns for each planned node the group of nodes that are launched
// alike: from the same pool, with the same options and labels. A group is named after
// the decision and the number of the first of its nodes. from is the number of the
// first node in the decision.
func launchGroups(decision string, from int, nodes []model.PlannedNode) []provider.Group {
	first, size := map[string]int{}, map[string]int{}
	alike := make([]string, len(nodes))
	for i := range nodes {
		key := launchKey(&nodes[i])
		if size[key] == 0 {
			first[key] = from + i
		}
		size[key]++
		alike[i] = key
	}
	out := make([]provider.Group, len(nodes))
	for i, key := range alike {
		out[i] = provider.Group{Name: fmt.Sprintf("%s-%d", decision, first[key]), Size: size[key]}
	}
	return out
}

// launchKey returns a text that is equal for nodes that are launched alike.
func launchKey(n *model.PlannedNode) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d", n.Pool)
	for i := range n.Options {
		o := &n.Options[i]
		fmt.Fprintf(&out, "|%s %s %s", o.InstanceType, o.Zone, o.CapacityType)
	}
	for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
		fmt.Fprintf(&out, "|%s=%s", key, n.Labels[key])
	}
	return out.String()
}
