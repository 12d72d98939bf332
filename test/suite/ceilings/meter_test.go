package ceilings

import (
	"slices"
	"strings"
	"time"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/condition"
)

// meter adds up what EC2 bills, scope by scope.
type meter struct {
	// machines is what EC2 has ever started, by claim.
	machines map[string]*machine
	// month is USD since the first of the month.
	month map[string]float64
	// excused is by scope what is committed above a cap through no launch: a
	// price rose, a cap was lowered, a replacement was taken back. What came
	// before is not called back, and nothing may be added to it.
	excused map[string]model.Price
	// shares are the namespaces' of the last decision, micro-dollars an hour;
	// moved is USD of the month that pods took along since, or that was billed in
	// the dark.
	shares map[string]model.Price
	moved  map[string]float64
	// window is USD billed since the ledger was last written, crashed that of such
	// windows that ended with a crash.
	window, crashed map[string]float64
	// rates is what was billed an hour when the ledger was last written. After a
	// crash (away) the next look charges the time since by them.
	rates map[string]model.Price
	away  bool
}

// machine is what EC2 started for a claim.
type machine struct {
	model.Option

	scopes []string
	// cost is USD, life the time in which it ran up; seen says that a decision
	// has known of it, blind is what of cost no ledger can know then.
	cost, blind float64
	life        time.Duration
	seen, kept  bool // known to a decision, and to the ledger as it is written down
	// parts are what of cost was the namespaces', dim what of that none can know.
	parts, dim map[string]float64
}

func newMeter() meter {
	return meter{
		machines: map[string]*machine{}, month: map[string]float64{}, excused: map[string]model.Price{},
		shares: map[string]model.Price{}, moved: map[string]float64{}, window: map[string]float64{}, crashed: map[string]float64{}, rates: map[string]model.Price{},
	}
}

// spaces are the namespaces that may be capped.
func spaces() []string { return []string{"namespace/shop", "namespace/batch"} }

// scopes are all others that may be.
func scopes() []string {
	return []string{"cluster", "nodepool/pool-0", "nodepool/pool-1", "label/team=web"}
}

func monthEnd(now time.Time) time.Time {
	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

// advance lets time pass, and EC2 bill for it.
func (w *cappedCluster) advance(d time.Duration) {
	for d > 0 {
		part := min(d, monthEnd(w.clock.Now()).Sub(w.clock.Now()))
		w.charge(part)
		w.clock.Advance(part)
		if d -= part; w.clock.Now().Equal(monthEnd(w.clock.Now().Add(-1))) {
			w.log("a month begins")
			w.tally.months++
			for _, m := range w.meter.machines {
				m.cost, m.blind, m.life = 0, 0, 0
				clear(m.parts)
				clear(m.dim)
			}
			clear(w.meter.month)
			clear(w.meter.moved)
			clear(w.meter.window)
			clear(w.meter.crashed)
		}
	}
	w.excuse() // a surge may have lasted its time, a month have turned
}

func (w *cappedCluster) charge(d time.Duration) {
	bill, m := w.cloud.Bill(), &w.meter
	add := func(scope string, rate model.Price) {
		usd := rate.USD() * d.Hours()
		m.month[scope] += usd
		m.window[scope] += usd
		if m.away {
			m.crashed[scope] += max(0, rate-m.rates[scope]).USD() * d.Hours()
		}
	}
	for _, scope := range scopes() {
		rate := w.running(scope, bill)
		add(scope, rate)
		if w.dark() {
			m.moved[scope] += rate.USD() * d.Hours()
		}
	}
	for _, scope := range spaces() {
		share, told := model.Price(0), model.Price(0)
		for i := range bill {
			part := w.attributed(strings.TrimPrefix(scope, "namespace/"), bill[i:i+1])
			if share += part; m.machines[bill[i].Claim].seen {
				told += part
			} else {
				m.machines[bill[i].Claim].parts[scope] += part.USD() * d.Hours()
			}
		}
		add(scope, share)
		if !w.dark() {
			told = max(0, told-m.shares[scope])
		}
		m.moved[scope] += told.USD() * d.Hours()
	}
	for i := range bill {
		if x := m.machines[bill[i].Claim]; x != nil {
			x.cost += bill[i].Price.USD() * d.Hours()
			x.life += d
		}
	}
}

// unseen is USD of the month that no controller can know of: of machines whose
// launch is not recorded yet, or whose price changed before it was; what pods took
// along between two decisions; what was billed in the dark; and of the time between the last writing of the
// ledger and a crash, in which prices may have changed, and machines lived and
// died.
func (m *meter) unseen(scope string) float64 {
	sum := m.crashed[scope] + m.moved[scope]
	for _, x := range m.machines {
		if sum += x.dim[scope]; !x.seen {
			sum += x.parts[scope]
		}
		for _, s := range x.scopes {
			if s == scope {
				sum += x.blind
				if !x.seen {
					sum += x.cost
				}
			}
		}
	}
	return sum
}

// look is what a decision gets to know.
func (w *cappedCluster) look() {
	bill := w.cloud.Bill()
	w.meter.away = false
	for _, c := range w.claims {
		x := w.meter.machines[c.Name]
		if x == nil || x.seen || !condition.IsTrue(c.Status.Conditions, karpv1.ConditionLaunched) || condition.IsTrue(c.Status.Conditions, karpv1.ConditionInstanceTerminating) {
			continue // not there yet, or its whole life fell between two looks
		}
		x.seen, x.blind = true, max(0, x.cost-w.price(&x.Option).USD()*x.life.Hours())
		at := slices.IndexFunc(bill, func(b sim.Billed) bool { return b.Claim == c.Name })
		for _, scope := range spaces() {
			now := model.Price(0)
			if at >= 0 {
				now = w.attributed(strings.TrimPrefix(scope, "namespace/"), bill[at:at+1])
			}
			x.dim[scope] = max(0, x.parts[scope]-now.USD()*x.life.Hours())
		}
	}
	known := slices.DeleteFunc(bill, func(b sim.Billed) bool { return !w.meter.machines[b.Claim].seen })
	for _, scope := range spaces() {
		w.meter.shares[scope] = w.attributed(strings.TrimPrefix(scope, "namespace/"), known)
	}
}

// dark says that no node class is ready: nobody tells the controller prices, and
// nothing can be launched.
func (w *cappedCluster) dark() bool { return w.broken["default"] && w.broken["other"] }

// crash forgets what was not written down.
func (m *meter) crash() {
	for scope, usd := range m.window {
		m.crashed[scope] += usd
	}
	clear(m.window)
	m.away = true
	for _, x := range m.machines {
		x.seen = x.kept
	}
}

// keep notes what the ledger knows as it is written down.
func (w *cappedCluster) keep() {
	m, bill := &w.meter, w.cloud.Bill()
	clear(m.window)
	for _, x := range m.machines {
		x.kept = x.seen
	}
	for _, scope := range scopes() {
		m.rates[scope] = w.running(scope, bill)
	}
	for _, scope := range spaces() {
		m.rates[scope] = w.attributed(strings.TrimPrefix(scope, "namespace/"), bill)
	}
}

// excuse looks anew how far each scope is above its cap. It is called when
// something happened that is no launch; otherwise what is above can only shrink.
func (w *cappedCluster) excuse() {
	clear(w.meter.excused)
	for scope, limit := range w.limits() {
		if over := w.committed(scope) - limit; over > 0 {
			w.meter.excused[scope] = over
			w.tally.excused++
		}
	}
}

// enter notes what EC2 has started.
func (m *meter) enter(w *cappedCluster, b *sim.Billed) {
	x := &machine{
		Option: model.Option{InstanceType: b.InstanceType, Zone: b.Zone, CapacityType: b.CapacityType},
		parts:  map[string]float64{}, dim: map[string]float64{},
	}
	for _, scope := range scopes() {
		if w.within(scope, b.NodePool) {
			x.scopes = append(x.scopes, scope)
		}
	}
	m.machines[b.Claim] = x
}
