package scenario

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"spokeshave.dev/controller/rehearse/table"
	"spokeshave.dev/controller/rehearse/wording"
)

// maxRows is the largest number of nodes that the table lists one by one.
const maxRows = 40

// WriteTable prints the report as tables for users.
func (r *Report) WriteTable(w io.Writer) error {
	b := page{width: table.Width(w)}
	r.nodes(&b)
	r.existing(&b)
	r.unscheduled(&b)
	r.claims(&b)
	r.consolidation(&b)
	r.policies(&b)
	r.summary(&b)
	if _, err := io.WriteString(w, strings.TrimLeft(b.String(), "\n")); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// page is a report in the making, for lines of width characters, of any for 0.
type page struct {
	strings.Builder

	width int
}

// rows aligns columns; cells are separated by tabs.
func rows(b *page, fill func(row func(cells ...any))) {
	var lines strings.Builder
	fill(func(cells ...any) {
		for i, c := range cells {
			if i > 0 {
				lines.WriteByte('\t')
			}
			fmt.Fprint(&lines, c)
		}
		lines.WriteByte('\n')
	})
	t := table.Within(b, b.width)
	if head, _, _ := strings.Cut(lines.String(), "\n"); strings.HasSuffix(head, "\tWHY") {
		t = t.Prose()
	}
	_, _ = io.WriteString(t, lines.String()) // a strings.Builder does not fail
	_ = t.Flush()
}

func (r *Report) nodes(b *page) {
	if len(r.Nodes) == 0 {
		return
	}
	if len(r.Nodes) > maxRows {
		r.groups(b)
		return
	}
	rows(b, func(row func(...any)) {
		row("NODE", "NODEPOOL", "TYPE", "ZONE", "CAPACITY", "$/HOUR", "UP TO", "EFFECTIVE", "PODS")
		for i := range r.Nodes {
			n := &r.Nodes[i]
			row(n.Name, n.NodePool, n.InstanceType, n.Zone, n.CapacityType, dollars(n.Price), dollars(n.HighestPrice), dollars(n.EffectivePrice), len(n.Pods))
		}
	})
}

// groups prints equal nodes as one row.
func (r *Report) groups(b *page) {
	type key struct {
		pool, typ, zone, capacity string
		price                     float64
	}
	count, pods := map[key]int{}, map[key]int{}
	var keys []key
	for i := range r.Nodes {
		n := &r.Nodes[i]
		k := key{n.NodePool, n.InstanceType, n.Zone, string(n.CapacityType), n.Price}
		if count[k] == 0 {
			keys = append(keys, k)
		}
		count[k]++
		pods[k] += len(n.Pods)
	}
	slices.SortStableFunc(keys, func(x, y key) int { return cmp.Compare(count[y], count[x]) })
	rows(b, func(row func(...any)) {
		row("NODES", "NODEPOOL", "TYPE", "ZONE", "CAPACITY", "$/HOUR EACH", "PODS")
		for _, k := range keys {
			row(count[k], k.pool, k.typ, k.zone, k.capacity, dollars(k.price), pods[k])
		}
	})
}

func (r *Report) existing(b *page) {
	if len(r.Existing) == 0 {
		return
	}
	b.WriteString("\n")
	rows(b, func(row func(...any)) {
		row("EXISTING NODE", "PODS")
		for i := range r.Existing {
			row(r.Existing[i].Node, len(r.Existing[i].Pods))
		}
	})
}

// unscheduled groups pods by the reasons for which they wait.
func (r *Report) unscheduled(b *page) {
	if len(r.Unscheduled) == 0 {
		return
	}
	count, first := map[string]int{}, map[string]string{}
	var order []string
	for i := range r.Unscheduled {
		u := &r.Unscheduled[i]
		var parts []string
		for _, reason := range u.Reasons {
			text := string(reason.Code) + ": " + reason.Message
			if reason.Pool != "" {
				text = "NodePool " + reason.Pool + ": " + text
			}
			parts = append(parts, text)
		}
		why := strings.Join(parts, "\n    ")
		if count[why] == 0 {
			order = append(order, why)
			first[why] = u.Pod
		}
		count[why]++
	}
	b.WriteString("\nUNSCHEDULED\n")
	for _, why := range order {
		who := first[why]
		if n := count[why]; n > 1 {
			who = fmt.Sprintf("%s and %d more", who, n-1)
		}
		fmt.Fprintf(&b.Builder, "  %s\n    %s\n", who, why)
	}
}

func (r *Report) policies(b *page) {
	if len(r.Policies) == 0 {
		return
	}
	b.WriteString("\n")
	rows(b, func(row func(...any)) {
		row("POLICY", "HOOK", "ENGINE", "MODE", "CALLS", "DENIED", "FAULTS")
		for i := range r.Policies {
			p := &r.Policies[i]
			row(p.Name, p.Hook, p.Engine, p.Mode, p.Calls, p.Denied, p.Faults)
		}
	})
	for i := range r.Policies {
		if p := &r.Policies[i]; p.Fault != "" {
			fmt.Fprintf(&b.Builder, "  %s: %s\n", p.Name, p.Fault)
		}
	}
}

func (r *Report) summary(b *page) {
	placed := 0
	for i := range r.Existing {
		placed += len(r.Existing[i].Pods)
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(&b.Builder, "%s: %s on %s", wording.Plural(r.Pods, "pod"), wording.Plural(r.Pods-placed-len(r.Unscheduled), "pod"), wording.Plural(len(r.Nodes), "new node"))
	if placed > 0 {
		fmt.Fprintf(&b.Builder, ", %d on existing nodes", placed)
	}
	if n := len(r.Unscheduled); n > 0 {
		fmt.Fprintf(&b.Builder, ", %d unscheduled", n)
	}
	fmt.Fprintf(&b.Builder, "\n%s $/hour for instances", dollars(r.HourlyCost))
	if r.HighestCost > r.HourlyCost {
		fmt.Fprintf(&b.Builder, " (up to %s, as EC2 chooses among options)", dollars(r.HighestCost))
	}
	if r.EBSCost > 0 {
		fmt.Fprintf(&b.Builder, ", %s for volumes", dollars(r.EBSCost))
	}
	if r.IPv4Cost > 0 {
		fmt.Fprintf(&b.Builder, ", %s for public IPv4", dollars(r.IPv4Cost))
	}
	b.WriteString("\n")
	if r.Consolidation != nil {
		r.Consolidation.outcome(b)
	}
	fmt.Fprintf(&b.Builder, "decision %s in %.1f ms (read %.1f, snapshot %.1f, solve %.1f)\n", r.Decision, r.Timing.TotalMs, r.Timing.ReadMs, r.Timing.SnapshotMs, r.Timing.SolveMs)
	for _, text := range r.Warnings {
		fmt.Fprintf(&b.Builder, "warning: %s\n", text)
	}
}

func dollars(usd float64) string { return fmt.Sprintf("%.4f", usd) }
