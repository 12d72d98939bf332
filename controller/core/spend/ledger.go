package spend

import (
	"maps"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/model"
)

// LedgerVersion is written into kept ledgers; others are refused.
const LedgerVersion = 1

// Ledger keeps what the cluster has cost since the month began, in UTC. It has
// two cuts through the same money, what was rented (Pools) and who used it
// (Holders), and each adds up to the whole exactly. A ledger is a value: Advance
// returns the next one.
type Ledger struct {
	Version int       `json:"version"`
	Month   time.Time `json:"month"`
	// Since is where the account begins: the month's start, or later when the
	// ledger was lost or is new. What ran before was estimated from the
	// instances that still ran then (Estimated).
	Since     time.Time `json:"since"`
	Estimated bool      `json:"estimated,omitempty"`
	// Through is the time up to which everything has been counted.
	Through time.Time    `json:"through"`
	Pools   []PoolSpend  `json:"pools,omitempty"`
	Holders []HeldSpend  `json:"holders,omitempty"`
	Past    []MonthTotal `json:"past,omitempty"`
	// Departed are the nodes that began to go within the last hour. They are
	// no money; they are here because policies ask for them after a restart.
	Departed []model.Departure `json:"departed,omitempty"`
	// Coming are the claims that were on their way at Through and have cost
	// nothing yet, in order of name: EC2 may have started them already. After a
	// restart they are charged from their launch.
	Coming []string `json:"coming,omitempty"`

	// seen is when each claim was last counted; nil in a ledger that was read
	// back.
	seen map[string]time.Time
}

// Rented is what of a cluster's instances is accounted for together. Labels
// are the NodePool's when the money was spent: moving a pool to another team
// does not move its past.
type Rented struct {
	Pool string `json:"pool"`
	// Labels are "key=value" pairs, sorted and joined by commas.
	Labels       string             `json:"labels,omitempty"`
	Family       string             `json:"family,omitempty"`
	CapacityType model.CapacityType `json:"capacityType,omitempty"`
}

// PoolSpend is what one kind of rented capacity has cost, and costs per hour.
type PoolSpend struct {
	Rented
	Amount Amount      `json:"amount"`
	Rate   model.Price `json:"rate,omitempty"`
}

// HeldSpend is what one holder has cost, and costs per hour.
type HeldSpend struct {
	Holder
	Amount Amount      `json:"amount"`
	Rate   model.Price `json:"rate,omitempty"`
}

// MonthTotal is what a month that is over has cost in all.
type MonthTotal struct {
	Month time.Time `json:"month"`
	Amount
}

// pastMonths is how many finished months are kept.
const pastMonths = 13

// maxApart bounds the entries of either cut that are kept apart, workloads for
// instance: see Within.
const maxApart = 2000

// New is a ledger for a cluster that has none: what the running instances have
// cost since the month began, as far as they can still tell.
func New(s *model.Snapshot) Ledger {
	month := monthStart(s.Time)
	now := s.Time.UTC()
	l := Ledger{Version: LedgerVersion, Month: month, Since: now, Through: now, Departed: departures(nil, s.Departed, now)}
	l.rates(s, func(n *model.Node) time.Duration { return now.Sub(later(month, n.LaunchedAt)) })
	l.Estimated = l.Total() != Amount{}
	return l
}

// Advance counts the time since the ledger's Through. What was running then is
// charged until now, whether it still runs or not, for nobody saw it end; what
// is new is charged from its start. Starts are known to the second: what began in
// the last one before a ledger that was read back is new. A snapshot from before
// Through changes nothing.
func (l *Ledger) Advance(s *model.Snapshot) Ledger {
	now := s.Time.UTC()
	if !now.After(l.Through) {
		return *l
	}
	next := *l
	next.Pools, next.Holders, next.Past = slices.Clone(l.Pools), slices.Clone(l.Holders), slices.Clone(l.Past)
	for month := monthStart(now); next.Month.Before(month); {
		next.turn()
	}
	next.Departed = departures(l.Departed, s.Departed, now)
	from := next.Through
	next.charge(now)
	next.rates(s, func(n *model.Node) time.Duration {
		_, counted := l.seen[n.Claim]
		if counted || l.seen == nil && n.LaunchedAt.Before(from.Truncate(time.Second)) && !slices.Contains(l.Coming, n.Claim) {
			return 0
		}
		return now.Sub(later(next.Month, n.LaunchedAt))
	})
	return next
}

// turn closes the month.
func (l *Ledger) turn() {
	end := l.Month.AddDate(0, 1, 0)
	l.charge(end)
	l.Past = append(l.Past, MonthTotal{Month: l.Month, Amount: l.Total()})
	l.Past = l.Past[max(0, len(l.Past)-pastMonths):]
	for i := range l.Pools {
		l.Pools[i].Amount = Amount{}
	}
	for i := range l.Holders {
		l.Holders[i].Amount = Amount{}
	}
	l.Month, l.Since, l.Estimated = end, end, false
}

// charge accrues the rates up to a time.
func (l *Ledger) charge(to time.Time) {
	d := to.Sub(l.Through)
	for i := range l.Pools {
		l.Pools[i].Amount.Accrue(l.Pools[i].Rate, d)
	}
	for i := range l.Holders {
		l.Holders[i].Amount.Accrue(l.Holders[i].Rate, d)
	}
	l.Through = to
}

// forget is how long a claim that has disappeared is remembered, lest one that
// comes back be charged from its start again.
const forget = 24 * time.Hour

// rates replaces what runs by what the snapshot says, and charges each node for
// the time that it is owed for.
func (l *Ledger) rates(s *model.Snapshot, owed func(*model.Node) time.Duration) {
	rented, held := map[Rented]*PoolSpend{}, map[Holder]*HeldSpend{}
	for _, p := range l.Pools {
		rented[p.Rented] = &PoolSpend{Rented: p.Rented, Amount: p.Amount}
	}
	for _, h := range l.Holders {
		held[h.Holder] = &HeldSpend{Holder: h.Holder, Amount: h.Amount}
	}
	seen, shares := maps.Clone(l.seen), Shares(s)
	if seen == nil {
		seen = map[string]time.Time{}
	}
	maps.DeleteFunc(seen, func(_ string, at time.Time) bool { return l.Through.Sub(at) > forget })
	l.Coming = nil
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !managed(n) || n.Cost() <= 0 || n.LaunchedAt.IsZero() {
			if n.Claim != "" && n.LaunchedAt.IsZero() {
				l.Coming = append(l.Coming, n.Claim)
			}
			continue
		}
		backlog := owed(n)
		seen[n.Claim] = l.Through
		p := get(rented, rentedBy(s, n), func(k Rented) *PoolSpend { return &PoolSpend{Rented: k} })
		p.Rate += n.Cost()
		p.Amount.Accrue(n.Cost(), backlog)
		for _, share := range shares[i] {
			h := get(held, share.Holder, func(k Holder) *HeldSpend { return &HeldSpend{Holder: k} })
			h.Rate += share.Price
			h.Amount.Accrue(share.Price, backlog)
		}
	}
	slices.Sort(l.Coming)
	l.seen = seen
	l.Pools, l.Holders = pools(rented), holders(held)
	*l = l.Trim(maxApart)
}

func get[K comparable, V any](m map[K]*V, key K, zero func(K) *V) *V {
	v, ok := m[key]
	if !ok {
		v = zero(key)
		m[key] = v
	}
	return v
}

// Total is what the month has cost so far.
func (l *Ledger) Total() Amount {
	var sum Amount
	for i := range l.Pools {
		sum.Plus(l.Pools[i].Amount)
	}
	return sum
}

// Rate is what runs now, per hour.
func (l *Ledger) Rate() model.Price {
	sum := model.Price(0)
	for i := range l.Pools {
		sum += l.Pools[i].Rate
	}
	return sum
}

// Forecast is what the month will have cost if nothing changes.
func (l *Ledger) Forecast() Amount {
	sum := l.Total()
	sum.Accrue(l.Rate(), l.Month.AddDate(0, 1, 0).Sub(l.Through))
	return sum
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func labelsOf(labels map[string]string) []string {
	out := make([]string, 0, len(labels))
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, k+"="+labels[k])
	}
	return out
}

// Scopes are what every scope has cost, in order of scope, as a snapshot
// carries it.
func (l *Ledger) Scopes() []model.Spent {
	sums := map[string]*Amount{Cluster: {}}
	add := func(name string, a Amount) {
		get(sums, name, func(string) *Amount { return &Amount{} }).Plus(a)
	}
	for i := range l.Pools {
		p := &l.Pools[i]
		add(Cluster, p.Amount)
		if p.Pool != "" { // else too small to be known by name
			add("nodepool/"+p.Pool, p.Amount)
		}
		for label := range strings.SplitSeq(p.Labels, ",") {
			if label != "" {
				add("label/"+label, p.Amount)
			}
		}
	}
	for i := range l.Holders {
		if h := &l.Holders[i]; h.Kind == Workload && h.Namespace != "" {
			add(Namespace+h.Namespace, h.Amount)
		}
	}
	out := make([]model.Spent, 0, len(sums))
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, model.Spent{Scope: name, Micro: sums[name].Micro})
	}
	return out
}
