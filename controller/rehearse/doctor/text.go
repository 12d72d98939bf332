package doctor

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"spokeshave.dev/controller/rehearse/wording"
)

// minutes is how times are written.
const minutes = "2006-01-02 15:04"

// WriteText prints the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s UTC\n\n", r.Source, r.Time.Format(minutes))
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "%s\n", strings.ToUpper(s.Title))
		for _, line := range s.Lines {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		writeTable(&b, s.Head, s.Rows)
		for _, line := range s.Notes {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s\n", r.Verdict())
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// writeTable aligns the columns of rows.
func writeTable(b *strings.Builder, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		_, _ = fmt.Fprintln(t, "  "+strings.Join(row, "\t")) // a strings.Builder does not fail
	}
	_ = t.Flush()
}

// section is a part of the report as people read it: lines, then a table, then notes.
type section struct {
	Title string
	Lines []string
	Head  []string
	Rows  [][]string
	Notes []string
}

func (r *Report) sections() []section {
	out := []section{r.running()}
	if r.Health != nil {
		out = append(out, r.health())
	}
	if len(r.Pools) > 0 {
		out = append(out, r.pools())
	}
	person, others := r.findings(true), r.findings(false)
	for _, s := range []section{person, others} {
		if len(s.Lines) > 0 {
			out = append(out, s)
		}
	}
	out = append(out, r.differs())
	if r.Permissions != nil {
		out = append(out, section{Title: "Permissions", Lines: []string{fmt.Sprintf("%d of %d are missing, by %s", len(r.Permissions.Missing), r.Permissions.Needed, strings.Join(r.Permissions.Files, ", "))}})
	}
	if r.Money != nil {
		out = append(out, r.Money.section())
	}
	if len(r.Unseen) > 0 {
		out = append(out, section{Title: "Not looked at", Lines: r.Unseen})
	}
	return out
}

func (r *Report) running() section {
	s := section{Title: "What runs here"}
	if k := r.Karpenter; k == nil {
		s.Lines = append(s.Lines, "Karpenter was not found among the Deployments")
	} else {
		s.Lines = append(s.Lines, "Karpenter "+installed(k))
		if gates := k.gates(); len(gates) > 0 {
			s.Lines = append(s.Lines, "its feature gates: "+strings.Join(gates, ", "))
		}
		if settings := k.settings(); len(settings) > 0 {
			s.Lines = append(s.Lines, "its settings: "+strings.Join(settings, ", "))
		}
	}
	if r.Spokeshave != nil {
		s.Lines = append(s.Lines, "Spokeshave "+installed(r.Spokeshave))
	}
	c := &r.Claims
	if c.All > 0 {
		line := fmt.Sprintf("%s: %d ready, %d starting, %d leaving; %d drifted", wording.Plural(c.All, "NodeClaim"), c.Ready, c.Starting, c.Leaving, c.Drifted)
		if c.Foreign > 0 {
			line += fmt.Sprintf("; %d of other controllers", c.Foreign)
		}
		s.Lines = append(s.Lines, line)
	}
	return s
}

// installed describes an installation.
func installed(i *Installation) string {
	return fmt.Sprintf("%s, Deployment %s/%s, %d of %s ready", firstOf(i.Version, "of an unknown version"), i.Namespace, i.Name, i.Ready, wording.Plural(int(i.Replicas), "replica"))
}

func (r *Report) health() section {
	h := r.Health
	return section{Title: "How Spokeshave does", Lines: []string{
		"mode " + h.Mode,
		"its lease is held by " + firstOf(h.Lease, "nobody that was found"),
		"Karpenter's lease is held by " + firstOf(h.KarpenterLease, "nobody that was found"),
		fmt.Sprintf("%s, %d failing", policies(h.Policies), len(h.Failing)),
	}}
}

func policies(n int) string {
	if n == 1 {
		return "1 policy"
	}
	return fmt.Sprintf("%d policies", n)
}

func (r *Report) pools() section {
	s := section{Title: "NodePools", Head: []string{"NODEPOOL", "NODECLASS", "READY", "NODECLAIMS"}}
	for i := range r.Pools {
		p := &r.Pools[i]
		ready := firstOf(p.Ready, "-")
		if p.Foreign {
			ready = "of another controller"
		}
		s.Rows = append(s.Rows, []string{p.Name, p.NodeClass, ready, fmt.Sprint(p.NodeClaims)})
	}
	return s
}

// findings lists those that need a person, or the others.
func (r *Report) findings(person bool) section { //nolint:revive // which of the two lists
	s := section{Title: "For your information"}
	if person {
		s.Title = "To do first"
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Person != person {
			continue
		}
		s.Lines = append(s.Lines, fmt.Sprintf("%s: %s: %s", f.Area, f.Subject, f.Message))
		if f.Remedy != "" {
			s.Lines = append(s.Lines, "    -> "+f.Remedy)
		}
	}
	return s
}

func (r *Report) differs() section {
	s := section{Title: "What stays the same, and what differs"}
	s.Lines = append(s.Lines, "the same: "+strings.Join(r.Same, "; "))
	others := 0
	for i := range r.Differences {
		d := &r.Differences[i]
		who := d.Concerns
		switch {
		case d.Everywhere:
			who = "every cluster"
		case who == "":
			others++
			continue
		}
		s.Notes = append(s.Notes, fmt.Sprintf("%s (%s)", d.Subject, who), "    Karpenter: "+d.Karpenter, "    here: "+d.Here, "    the other way: "+d.Instead)
	}
	if others > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s nothing that was found here: docs/compatibility.md", counting(others)))
	}
	return s
}

func counting(n int) string {
	if n == 1 {
		return "1 more difference concerns"
	}
	return fmt.Sprintf("%d more differences concern", n)
}

func (m *Money) section() section {
	s := section{Title: "Cost in USD, by the prices of the catalogue", Lines: []string{fmt.Sprintf("now: %s of NodePools, %.4f an hour", wording.Plural(m.Nodes, "node"), m.Cost)}}
	add := func(format string, args ...any) { s.Lines = append(s.Lines, fmt.Sprintf(format, args...)) }
	if m.Waiting > 0 {
		add("%s: %s would be launched, for %.4f an hour; %d would get no node, the others go onto nodes that exist or are on their way", wording.Plural(m.Waiting, "waiting pod"), wording.Plural(m.Launched, "node"), m.LaunchCost, m.Unplaced)
	}
	if m.InFlight > 0 {
		add("not counted: %s without a node yet", wording.Plural(m.InFlight, "NodeClaim"))
	}
	switch {
	case m.Nodes == 0:
	case m.Step.Postponed:
		add("next step of consolidation: not searched, because pods need new nodes first")
	default:
		add("next step of consolidation: %s removed, %d launched, saves %.4f an hour", wording.Plural(m.Step.Removed, "node"), m.Step.Launched, m.Step.Savings)
	}
	if a := m.Anew; a != nil && a.Unplaced == 0 {
		add("the same pods, all placed anew: %s, %.4f an hour; budgets and pods that may not move bound how near consolidation comes to it", wording.Plural(a.Nodes, "node"), a.Cost)
	} else if a != nil {
		add("the same pods, all placed anew: cannot be compared, %s would have no place", wording.Plural(a.Unplaced, "pod"))
	}
	m.Day.lines(add)
	return s
}

func (d *Day) lines(add func(string, ...any)) {
	if d == nil {
		return
	}
	if d.Skipped != "" {
		add("not replayed: %s", d.Skipped)
		return
	}
	add("from %s to %s UTC: %.2f for the nodes that are still there, %.2f in a replay of %s (%d have ended), %s launched",
		d.From.Format(minutes), d.To.Format(minutes), d.Really, d.Here, wording.Plural(d.Pods, "pod"), d.Ended, wording.Plural(d.Launches, "node"))
	add("both leave out what has gone, so that both are too low and the difference is no saving: events name %s and %s that have gone, and events are kept for an hour", wording.Plural(d.GoneNodes, "node"), wording.Plural(d.GonePods, "pod"))
}
