package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
)

const (
	// columns is how many columns the picture of a group has at most. A larger group has
	// several nodes in one.
	columns = 120
	// segments is how many pods of a node are drawn one by one.
	segments = 40
)

// packing writes the picture of a group: for every resource a strip with one column for
// each node, the fullest first, filled as far as pods request it. The figures are in the
// table of nodes, so that screen readers leave the picture out.
func (v nodesView) packing(g *group) {
	v.put("<dl class=\"packing\">")
	for r, name := range resourceNames() {
		if p := g.parts[r]; p.has > 0 {
			v.put("<div><dt>%s</dt><dd class=\"strip\"><svg viewBox=\"0 0 %s 100\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path d=\"%s\"></path></svg></dd>", name, fmt.Sprint(min(columns, len(g.nodes))), v.strip(g, r))
			v.put("<dd class=\"figure\">%s&#8239;%%</dd></div>", fmt.Sprint(percent(float64(p.daemons+p.pods), float64(p.has))))
		}
	}
	v.put("</dl>\n")
}

// strip returns the path of a resource's columns.
func (v nodesView) strip(g *group, r int) string {
	shares := make([]float64, 0, len(g.nodes))
	for _, i := range g.nodes {
		shares = append(shares, v.nodes[i].parts[r].share())
	}
	slices.SortFunc(shares, func(a, b float64) int { return cmp.Compare(b, a) })
	n := min(columns, len(shares))
	gap := 0.0
	if n <= columns/2 {
		gap = 0.06
	}
	var out strings.Builder
	for c := range n {
		part := shares[c*len(shares)/n : (c+1)*len(shares)/n]
		sum := 0.0
		for _, s := range part {
			sum += s
		}
		fmt.Fprintf(&out, "M%.3g 100V%.0fH%.4gV100z", float64(c)+gap, 100-100*sum/float64(len(part)), float64(c+1)-gap)
	}
	return out.String()
}

// bar draws what pods request of a node's resource, each pod as a segment: pods of
// DaemonSets first, then the others, the largest first.
func (v nodesView) bar(node int32, r int) {
	const long = 200.0
	u := &v.nodes[node]
	has := u.parts[r].has
	if has <= 0 {
		return
	}
	var daemons, pods []float64
	for _, i := range v.pods[node] {
		p := &v.snapshot.Pods[i]
		if part := long * float64(v.snapshot.Specs[p.Spec].Requests[u.resource(r)]) / float64(has); p.Daemon {
			daemons = append(daemons, part)
		} else {
			pods = append(pods, part)
		}
	}
	at := 0.0
	v.put("<svg class=\"bar\" viewBox=\"0 0 200 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path class=\"daemons\" d=\"%s\"></path><path d=\"%s\"></path></svg>", segmented(daemons, &at), segmented(pods, &at))
}

// segmented returns the path of segments from a position on, and moves the position.
func segmented(parts []float64, at *float64) string {
	slices.SortFunc(parts, func(a, b float64) int { return cmp.Compare(b, a) })
	rest := 0.0
	for _, p := range parts[min(len(parts), segments):] {
		rest += p
	}
	parts = parts[:min(len(parts), segments)]
	if rest > 0 {
		parts = append(parts, rest)
	}
	var out strings.Builder
	for _, p := range parts {
		if p <= 0 {
			continue
		}
		fmt.Fprintf(&out, "M%.4g 4h%.3g", *at, max(0.4, p-0.8))
		*at += p
	}
	return out.String()
}

// share draws a part of a whole as a plain bar.
func (m *markup) share(part, whole float64) {
	m.put("<svg class=\"bar plain\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\"><path d=\"M0 4h%s\"></path></svg>", fmt.Sprint(min(100, percent(part, whole))))
}

// quantity formats an amount of a resource for people.
func quantity(r int, amount int64) string {
	switch r {
	case cpu:
		return trimmed(float64(amount) / 1000)
	case memory:
		return trimmed(float64(amount) / (1 << 30))
	default:
		return fmt.Sprint(amount)
	}
}

// trimmed formats a number with at most two decimals, of large ones with one.
func trimmed(v float64) string {
	decimals := 2
	if v >= 10 {
		decimals = 1
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// unit is the unit of quantity.
func unit(r int) string {
	switch r {
	case cpu:
		return "vCPU"
	case memory:
		return "GiB"
	default:
		return ""
	}
}

// byPool groups nodes by NodePool, byZone by NodePool and zone.
func (s *summary) byPool(n *model.Node) (pool, zone string) { return s.poolOf(n), "" }
func (s *summary) byZone(n *model.Node) (pool, zone string) { return s.poolOf(n), n.Zone }
