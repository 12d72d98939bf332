package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

// spendView writes who spends what.
type spendView struct{ *view }

// cost is what something costs now and this month.
type cost struct {
	name   string
	rate   model.Price
	amount spend.Amount
	// cap is the most used cap on it, in words; "" for none.
	cap string
}

func (c *cost) add(rate model.Price, amount spend.Amount) {
	c.rate += rate
	c.amount.Plus(amount)
}

// forecast is what the month will have cost at the present rate, in dollars.
func (v spendView) forecast(c *cost) float64 {
	sum := c.amount
	sum.Accrue(c.rate, v.ledger.Month.AddDate(0, 1, 0).Sub(v.ledger.Through))
	return sum.USD()
}

// Names of what is no namespace's.
const (
	daemonName = "DaemonSets"
	idleName   = "Idle"
	mergedName = "all smaller ones"
)

// byNamespace sums the ledger by namespace, those that will have cost most first. What
// is no namespace's comes last.
func (v spendView) byNamespace() (namespaces, others []cost) {
	sums := map[string]*cost{}
	order := []string{}
	for i := range v.ledger.Holders {
		h := &v.ledger.Holders[i]
		name := h.Namespace
		switch {
		case h.Kind == spend.Daemon:
			name = " " + daemonName
		case h.Kind == spend.Idle:
			name = " " + idleName
		case name == "":
			name = " " + mergedName
		}
		if sums[name] == nil {
			sums[name] = &cost{name: strings.TrimSpace(name)}
			order = append(order, name)
		}
		sums[name].add(h.Rate, h.Amount)
	}
	for _, name := range order {
		if strings.HasPrefix(name, " ") {
			others = append(others, *sums[name])
		} else {
			namespaces = append(namespaces, *sums[name])
		}
	}
	v.sort(namespaces)
	return namespaces, others
}

// sort puts first what will have cost most at the month's end.
func (v spendView) sort(all []cost) {
	slices.SortStableFunc(all, func(a, b cost) int {
		return cmp.Or(cmp.Compare(v.forecast(&b), v.forecast(&a)), cmp.Compare(a.name, b.name))
	})
}

// workloads are those of a namespace, those that will have cost most first.
func (v spendView) workloads(namespace string) []cost {
	var out []cost
	for i := range v.ledger.Holders {
		if h := &v.ledger.Holders[i]; h.Kind == spend.Workload && h.Namespace == namespace {
			out = append(out, cost{name: cmp.Or(h.Workload, mergedName), rate: h.Rate, amount: h.Amount})
		}
	}
	v.sort(out)
	return out
}

// byRented sums the ledger by a part of what was rented.
func (v spendView) byRented(key func(*spend.Rented) string) []cost {
	at, out := map[string]int{}, []cost{}
	for i := range v.ledger.Pools {
		p := &v.ledger.Pools[i]
		name := cmp.Or(key(&p.Rented), mergedName)
		if _, known := at[name]; !known {
			at[name] = len(out)
			out = append(out, cost{name: name})
		}
		out[at[name]].add(p.Rate, p.Amount)
	}
	v.sort(out)
	return out
}

// spend writes who spends what, now and this month.
func (v spendView) spend() {
	v.spendTiles()
	v.section("curve", "The last day", func() {
		c := plot(v.state.Curve, v.state.Decision.Headroom)
		v.curve(&c)
	})
	v.dayByDay("Spend by day", func(*spend.Row) bool { return true })
	v.section("caps", "Caps", func() { v.caps("") })
	v.section("namespaces", "By namespace", func() {
		v.filter(v.at, field{name: "q", label: "Namespace or workload contains", value: v.at.Query})
		namespaces, others := v.byNamespace()
		namespaces = slices.DeleteFunc(namespaces, func(c cost) bool { return !v.matchesNamespace(c.name) })
		shown := v.paged(namespaces)
		for i := range shown {
			shown[i].cap = v.capOf(spend.Namespace + shown[i].name)
		}
		v.costTable("Spend by namespace", "Namespace", shown, func(c *cost) { v.item("namespace", c.name) })
		v.pages(*v.at, len(namespaces))
		if len(others) > 0 && v.at.Query == "" {
			v.put("<h3>No namespace's</h3>\n")
			v.costTable("Spend that is no namespace's", "What", others, func(c *cost) { v.put("%s", c.name) })
			v.put("<p class=\"hint\">Idle is what no pod requests and none keeps others from using. DaemonSets run on every node.</p>\n")
		}
	})
	v.section("pools", "By NodePool", func() {
		pools := v.byRented(func(r *spend.Rented) string { return r.Pool })
		for i := range pools {
			pools[i].cap = v.capOf("nodepool/" + pools[i].name)
		}
		v.costTable("Spend by NodePool", "NodePool", pools[:min(len(pools), perPage)], func(c *cost) { v.item("nodepool", c.name) })
		if more := len(pools) - perPage; more > 0 {
			v.text("%s more, each of which costs less.", several(more, "NodePool"))
		}
	})
	v.section("capacity", "By instance family and capacity type", func() {
		by := v.byRented(func(r *spend.Rented) string { return strings.TrimSpace(r.Family + " " + string(r.CapacityType)) })
		v.costTable("Spend by instance family and capacity type", "Instances", by[:min(len(by), perPage)], func(c *cost) { v.put("%s", c.name) })
	})
}

// matchesNamespace reports whether the text that is looked for is in the name of the
// namespace or of one of its workloads.
func (v spendView) matchesNamespace(name string) bool {
	wanted := v.wanted()
	return has(name, wanted) || slices.ContainsFunc(v.ledger.Holders, func(h spend.HeldSpend) bool {
		return h.Namespace == name && has(h.Workload, wanted)
	})
}

// paged returns the part that the page shows.
func (v spendView) paged(all []cost) []cost {
	from, to := bounds(v.at.Page, len(all))
	return all[from:to]
}

// spendTiles writes the sums of the cluster.
func (v spendView) spendTiles() {
	all := cost{rate: v.ledger.Rate(), amount: v.ledger.Total()}
	v.tiles(func() {
		v.tile("Spend now", rate(all.rate.USD()), "$/h", dollars(all.rate.USD()*24*30)+" $ in 30 days")
		v.monthTiles(&all)
		if n := len(v.ledger.Past); n > 0 {
			last := &v.ledger.Past[n-1]
			v.tile(last.Month.Format("January"), dollars(last.USD()), "$", "the whole month")
		}
	})
	if v.ledger.Estimated {
		v.text("What was spent this month before %s is estimated from the instances that ran then.", clock(v.ledger.Since))
	}
}

// since is when the costs of this month begin: at its start, or later when they were not
// recorded before.
func (v spendView) since() time.Time {
	if v.ledger.Estimated {
		return v.ledger.Month
	}
	return v.ledger.Since
}

// monthTiles writes what something has cost this month and will have cost.
func (v spendView) monthTiles(c *cost) {
	v.tile("This month", dollars(c.amount.USD()), "$", "since "+v.since().Format("2 January 15:04"))
	v.tile("Forecast", dollars(v.forecast(c)), "$", "for "+v.ledger.Month.Format("January")+" at this rate")
}

// costTable writes costs as a table, with each one's share of the whole month's forecast.
func (v spendView) costTable(label, what string, all []cost, name func(*cost)) {
	if len(all) == 0 {
		v.text("Nothing to show.")
		return
	}
	whole := v.ledger.Forecast()
	head := []string{what, "#Now $/h", "#This month $", "#Forecast $", "Share"}
	capped := slices.ContainsFunc(all, func(c cost) bool { return c.cap != "" })
	if capped {
		head = append(head, "Cap")
	}
	v.table(label, head, func() {
		for i := range all {
			c := &all[i]
			v.row(func() { name(c) })
			v.cells(1, rate(c.rate.USD()), dollars(c.amount.USD()), dollars(v.forecast(c)))
			v.cell(4, func() {
				v.share(v.forecast(c), whole.USD())
				v.put(" <span class=\"figure\">%s&#8239;%%</span>", fmt.Sprint(percent(v.forecast(c), whole.USD())))
			})
			if capped {
				v.cells(5, c.cap)
			}
			v.end()
		}
	})
}

// caps writes the caps on a scope, "" for all, and how much of each is used.
func (v spendView) caps(scope string) {
	var all []*decide.CapStatus
	for i := range v.state.Decision.Headroom {
		if c := &v.state.Decision.Headroom[i]; scope == "" || c.Scope == scope {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		v.text("No cap is in force.")
		return
	}
	slices.SortStableFunc(all, func(a, b *decide.CapStatus) int { return cmp.Compare(usedUp(b), usedUp(a)) })
	left := len(all) - perPage
	v.table("Caps", []string{"Scope", "Policy", "#Cap", "Kind", "Used", "#Left $/h", "Reached"}, func() {
		for _, c := range all[:min(len(all), perPage)] {
			v.row(func() { v.scope(c.Scope) })
			v.cell(1, func() { policiesView(v).policyLink(c.Policy) })
			v.cells(2, c.Cap, kindOf(c))
			v.cell(4, func() {
				v.share(float64(usedUp(c)), 100)
				v.put(" <span class=\"figure\">%s&#8239;%%</span>", fmt.Sprint(usedUp(c)))
			})
			v.cells(5, rate(c.Left.USD()), reached(c))
			v.end()
		}
	})
	if left > 0 {
		v.text("%s more, of which less is used.", several(left, "cap"))
	}
}

// capOf describes the most used cap on a scope, "" for none.
func (v spendView) capOf(scope string) string {
	var most *decide.CapStatus
	for i := range v.state.Decision.Headroom {
		if c := &v.state.Decision.Headroom[i]; c.Scope == scope && (most == nil || usedUp(c) > usedUp(most)) {
			most = c
		}
	}
	if most == nil {
		return ""
	}
	return fmt.Sprintf("%s, %d %% used", most.Cap, usedUp(most))
}

// scope writes the scope of a cap with a link where it has a view.
func (v spendView) scope(scope string) {
	if name, ok := strings.CutPrefix(scope, spend.Namespace); ok {
		v.put("namespace ")
		v.item("namespace", name)
		return
	}
	if name, ok := strings.CutPrefix(scope, "nodepool/"); ok {
		v.put("NodePool ")
		v.item("nodepool", name)
		return
	}
	v.put("%s", scope)
}

func kindOf(c *decide.CapStatus) string {
	if c.Soft {
		return "soft: warns"
	}
	return "hard"
}

// usedUp returns how much of a cap is used, in percent: of the rate for a cap per hour,
// of the sum at the month's end at the present rate for one per month.
func usedUp(c *decide.CapStatus) int {
	if c.Limit <= 0 {
		return 100
	}
	if c.Period == decide.PerHour {
		return max(0, int(100*(1-c.Left.USD()/c.Limit)+0.5))
	}
	if total := c.Left + c.Burn; total > 0 {
		return max(0, percent(c.Burn.USD(), total.USD()))
	}
	return 100
}

// reached says when a cap is used up.
func reached(c *decide.CapStatus) string {
	switch {
	case c.Short:
		return "pods wait because of it"
	case c.Left == 0:
		return "now"
	case c.Period == decide.PerHour:
		return ""
	case c.SecondsToCap < 0:
		return "not at this rate"
	case c.SecondsToCap > int64(31*24*time.Hour/time.Second):
		return "after this month"
	default:
		return "in " + spell(time.Duration(c.SecondsToCap)*time.Second)
	}
}

// spell formats a duration for people.
func spell(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return several(int(d/(24*time.Hour)), "day")
	case d >= 2*time.Hour:
		return several(int(d/time.Hour), "hour")
	default:
		return several(int(d/time.Minute), "minute")
	}
}

// namespace writes one team's spend.
func (v spendView) namespace(name string) {
	all := cost{name: name}
	workloads := v.workloads(name)
	for i := range workloads {
		all.add(workloads[i].rate, workloads[i].amount)
	}
	waits := 0
	for i := range v.state.Decision.Plan.Unplaced {
		if v.snapshot.Pods[v.state.Decision.Plan.Unplaced[i].Pod].Namespace == name {
			waits++
		}
	}
	v.tiles(func() {
		v.tile("Spend now", rate(all.rate.USD()), "$/h", dollars(all.rate.USD()*24*30)+" $ in 30 days")
		v.monthTiles(&all)
		v.tile("Pods that wait", fmt.Sprint(waits), "", "in this namespace")
	})
	if waits > 0 {
		v.more(address{View: "waiting", Namespace: name}.String(), "The pods that wait, and what would help")
	}
	v.dayByDay("Spend of "+name+" by day", func(r *spend.Row) bool { return r.Namespace == name })
	v.section("caps", "Caps", func() { v.caps(spend.Namespace + name) })
	v.section("workloads", "Workloads", func() {
		v.costTable("Spend by workload", "Workload", v.paged(workloads), func(c *cost) { v.put("%s", c.name) })
		v.pages(*v.at, len(workloads))
	})
	v.more(address{View: "decisions", Pod: name + "/"}.String(), "Decisions about its pods")
}
