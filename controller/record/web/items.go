package web

import (
	"cmp"
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/record/explain"
)

// itemView writes one pod, node or NodePool.
type itemView struct{ *view }

// facts writes what the journal knows of an item, latest first.
func (v itemView) facts(answer *explain.Answer) {
	v.section("why", "What was decided about it", func() {
		if len(answer.Facts) == 0 {
			v.text("The decisions that are kept do not mention it.")
			return
		}
		v.put("<ol class=\"facts\">")
		for i := range answer.Facts[:min(len(answer.Facts), perPage)] {
			f := &answer.Facts[i]
			v.put("<li><p>")
			v.time(f.Time)
			v.put(" <strong>%s</strong> <a class=\"id\" href=\"%s\">decision %s</a></p>\n", f.Says, to("decision", f.Decision), brief(f.Decision))
			if len(f.Details) > 0 {
				v.list(f.Details)
			}
			v.put("</li>\n")
		}
		v.put("</ol>\n")
		if more := len(answer.Facts) - perPage; more > 0 {
			v.text("%s more: the command line prints all.", several(more, "earlier decision"))
		}
	})
}

// brief shortens the ID of a decision, which is a hash.
func brief(id string) string { return id[:min(len(id), 8)] }

// pod writes where a pod runs or why it waits.
func (v itemView) pod(key string) {
	at := slices.IndexFunc(v.snapshot.Pods, func(p model.Pod) bool { return p.Key() == key })
	if at < 0 {
		v.text("There is no such pod now.")
	} else {
		v.podTable(&v.snapshot.Pods[at])
	}
	v.at.Pod = key
	waits := waitingView(v)
	if groups, n := waits.waitingPods(); n > 0 {
		v.section("waits", "It waits", func() { waits.reasons(groups, 1) })
	} else {
		v.command("pod", key)
	}
	answer := explain.Pod(v.entries, key)
	v.facts(&answer)
	v.more(address{View: "decisions", Pod: key}.String(), "Decisions that mention it")
}

// podTable writes the figures of a pod.
func (v itemView) podTable(p *model.Pod) {
	v.put("<dl class=\"figures\"><div><dt>Namespace</dt><dd>")
	v.item("namespace", p.Namespace)
	v.put("</dd></div><div><dt>Workload</dt><dd>%s</dd></div><div><dt>Node</dt><dd>", cmp.Or(p.Workload, "none"))
	if p.Node >= 0 {
		v.item("node", v.snapshot.Nodes[p.Node].Name)
	} else {
		v.put("none yet")
	}
	v.put("</dd></div>")
	requests := v.snapshot.Specs[p.Spec].Requests
	v.put("<div><dt>Requests</dt><dd>%s vCPU, %s GiB</dd></div></dl>\n", quantity(cpu, requests[model.CPU]), quantity(memory, requests[model.Memory]))
}

// node writes one node with its pods.
func (v itemView) node(name string) {
	at := slices.IndexFunc(v.snapshot.Nodes, func(n model.Node) bool { return n.Name == name || n.Claim == name })
	claim := name
	if at < 0 {
		v.text("There is no such node now.")
	} else {
		n, use := &v.snapshot.Nodes[at], &v.uses[at]
		claim = cmp.Or(n.Claim, name)
		v.tiles(func() {
			v.tile("Price", rate(use.Price.USD()), "$/h", dollars(use.Price.USD()*24*30)+" $ in 30 days")
			v.tile("Requested", fmt.Sprint(percent(use.Requested.USD(), use.Price.USD())), "%", "of the price, by pods")
			for r, label := range resourceNames() {
				if p := v.nodes[at].parts[r]; p.has > 0 {
					v.tile(label, quantity(r, p.daemons+p.pods), unit(r), "of "+quantity(r, p.has)+" requested")
				}
			}
		})
		v.text("%s.", nodesView(v).describe(n))
		v.section("list", several(len(v.pods[at]), "pod"), func() { v.podsOf(int32(at)) })
	}
	v.command("node", name)
	if at >= 0 {
		name = v.snapshot.Nodes[at].Name
	}
	answer := explain.Node(v.entries, name, claim)
	v.facts(&answer)
}

// podsOf writes the pods of a node, the largest first.
func (v itemView) podsOf(node int32) {
	for r, name := range resourceNames() {
		if p := v.nodes[node].parts[r]; p.has > 0 {
			v.put("<div class=\"wide\"><span>%s</span>", name)
			nodesView(v).bar(node, r)
			v.put("</div>\n")
		}
	}
	pods := slices.Clone(v.pods[node])
	of := func(i int32, name string) int64 { return v.snapshot.Specs[v.snapshot.Pods[i].Spec].Requests[name] }
	slices.SortStableFunc(pods, func(a, b int32) int {
		return cmp.Or(cmp.Compare(of(b, model.CPU), of(a, model.CPU)), cmp.Compare(of(b, model.Memory), of(a, model.Memory)))
	})
	from, end := bounds(v.at.Page, len(pods))
	v.table("Pods", []string{"Pod", "Workload", "#vCPU", "#GiB"}, func() {
		for _, i := range pods[from:end] {
			p := &v.snapshot.Pods[i]
			v.row(func() { v.item("pod", p.Key()) })
			v.cells(1, p.Workload, quantity(cpu, of(i, model.CPU)), quantity(memory, of(i, model.Memory)))
			v.end()
		}
	})
	v.pages(*v.at, len(pods))
}

// nodePool writes one NodePool with its nodes.
func (v itemView) nodePool(name string) {
	v.at.Pool = name
	nodes := nodesView(v).matching()
	if groups := v.groups(nodes, v.byPool); len(groups) > 0 {
		g := &groups[0]
		v.tiles(func() {
			v.tile("Spend now", rate(g.price.USD()), "$/h", dollars(g.price.USD()*24*30)+" $ in 30 days")
			v.tile("Requested", fmt.Sprint(percent(g.requested.USD(), g.price.USD())), "%", "of the price, by pods")
			v.tile("Nodes", fmt.Sprint(len(nodes)), "", "of this NodePool")
		})
		v.section("packing", "Requests against capacity", func() { nodesView(v).groupCards(v.groups(nodes, v.byZone)) })
		v.more(address{View: "nodes", Pool: name}.String(), "Its nodes one by one")
	} else {
		v.text("It has no nodes now.")
	}
	v.dayByDay("Spend of "+name+" by day", func(r *spend.Row) bool { return r.Pool == name })
	v.section("caps", "Caps", func() { spendView(v).caps("nodepool/" + name) })
	v.command("nodepool", name)
	answer := explain.Pool(v.entries, name)
	v.facts(&answer)
	v.more(address{View: "waiting", Pool: name}.String(), "Pods that wait and could not use it")
}
