package web

import (
	"cmp"
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// nodesView writes how full the nodes are.
type nodesView struct{ *view }

// groupsShown is how many groups of nodes are drawn.
const groupsShown = 30

// matching returns the nodes that match the filter, the least used first among those of
// equal price per hour, the dearest first.
func (v nodesView) matching() []int32 {
	wanted := v.wanted()
	out := slices.DeleteFunc(v.all(), func(i int32) bool {
		n := &v.snapshot.Nodes[i]
		return v.at.Pool != "" && v.poolOf(n) != v.at.Pool || v.at.Zone != "" && n.Zone != v.at.Zone ||
			!has(n.Name, wanted) && !has(n.InstanceType, wanted) && !has(n.Claim, wanted) && !has(string(n.CapacityType), wanted) && !has(string(n.State), wanted)
	})
	slices.SortStableFunc(out, func(a, b int32) int {
		return cmp.Or(cmp.Compare(v.uses[b].Price, v.uses[a].Price), cmp.Compare(v.uses[a].Requested, v.uses[b].Requested))
	})
	return out
}

// nodeList writes the nodes as a picture for each NodePool and zone, and as a table.
func (v nodesView) nodeList() {
	var zones []string
	for i := range v.snapshot.Nodes {
		zones = append(zones, v.snapshot.Nodes[i].Zone)
	}
	slices.Sort(zones)
	zones = slices.DeleteFunc(slices.Compact(zones), func(z string) bool { return z == "" })
	v.filter(v.at, field{name: "q", label: "Name, type or state contains", value: v.at.Query},
		field{name: "pool", label: "NodePool", value: v.at.Pool, options: names(v.poolNames())},
		field{name: "zone", label: "Zone", value: v.at.Zone, options: names(zones)})
	nodes := v.matching()
	if len(nodes) == 0 {
		v.text("No node matches.")
		return
	}
	v.section("packing", "Requests against capacity", func() {
		v.put("<p class=\"hint\">One column for each node, the fullest first; the filled part is what pods request.</p>\n")
		v.groupCards(v.groups(nodes, v.byZone))
	})
	v.section("list", several(len(nodes), "node"), func() {
		from, to := bounds(v.at.Page, len(nodes))
		v.nodeTable(nodes[from:to])
		v.pages(*v.at, len(nodes))
	})
}

// groupCards writes one card for each group of nodes.
func (v nodesView) groupCards(groups []group) {
	v.put("<div class=\"groups\">\n")
	for i := range groups[:min(len(groups), groupsShown)] {
		g := &groups[i]
		v.put("<article class=\"group\"><h3>")
		if g.pool == "" {
			v.put("No NodePool")
		} else {
			v.item("nodepool", g.pool)
		}
		if g.zone != "" {
			v.put(" <span class=\"noun\">in</span> ")
			v.link(address{View: "nodes", Pool: g.pool, Zone: g.zone}.String(), g.zone)
		}
		v.put("</h3>\n<p class=\"sum\">%s, <strong>%s $/h</strong>, %s requested</p>\n", several(len(g.nodes), "node"), rate(g.price.USD()), fmt.Sprintf("%d %%", percent(g.requested.USD(), g.price.USD())))
		v.packing(g)
		v.put("</article>\n")
	}
	v.put("</div>\n")
	if more := len(groups) - groupsShown; more > 0 {
		v.text("%s more, each cheaper: the filter finds them.", several(more, "group"))
	}
}

// nodeTable writes nodes with bars of what pods request of them.
func (v nodesView) nodeTable(nodes []int32) {
	head := []string{"Node", "#$/h", "#Requested"}
	shown := []int{cpu, memory, slots}
	for _, r := range shown {
		head = append(head, resourceNames()[r])
	}
	if slices.ContainsFunc(nodes, func(i int32) bool { return v.nodes[i].parts[accelerators].has > 0 }) {
		head, shown = append(head, resourceNames()[accelerators]), append(shown, accelerators)
	}
	v.table("Nodes", head, func() {
		for _, i := range nodes {
			n, use := &v.snapshot.Nodes[i], &v.uses[i]
			v.row(func() {
				v.item("node", n.Name)
				v.put("<span class=\"detail\">%s</span>", v.describe(n))
			})
			v.cells(1, rate(use.Price.USD()), fmt.Sprintf("%d %%", percent(use.Requested.USD(), use.Price.USD())))
			for k, r := range shown {
				v.cell(3+k, func() { v.fill(i, r) })
			}
			v.end()
		}
	})
}

// fill writes what pods request of a node's resource, as a bar and in figures.
func (v nodesView) fill(node int32, r int) {
	p := v.nodes[node].parts[r]
	if p.has == 0 {
		v.put("<span class=\"none\">none</span>")
		return
	}
	v.bar(node, r)
	v.put("<span class=\"detail\">%s of %s %s</span>", quantity(r, p.daemons+p.pods), quantity(r, p.has), unit(r))
}

// describe returns a node's type, place and state in words.
func (v nodesView) describe(n *model.Node) string {
	out := cmp.Or(n.InstanceType, "unknown type")
	if n.CapacityType != "" {
		out += " (" + string(n.CapacityType) + ")"
	}
	if n.Zone != "" {
		out += " in " + n.Zone
	}
	if pool := v.poolOf(n); pool != "" {
		out += ", NodePool " + pool
	}
	if n.State != model.Initialized {
		out += ", " + string(n.State)
	}
	return out
}
