package spend

import (
	"maps"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/model"
)

// LedgerVersion is the format version in encoded ledgers. Decode refuses any other.
const LedgerVersion = 1

// Ledger records what the cluster has cost since the month began, in UTC. It divides
// the same total in two ways: by what was rented (Pools) and by who used it
// (Holders). Each division adds up to the total exactly. A Ledger is a value:
// Advance returns the next one.
//
// Size: the fields are the entries of the stored record.
type Ledger struct {
	Version int       `json:"version"`
	Month   time.Time `json:"month"`
	// Since is the start of the record: the month's start, or a later time when the
	// ledger is new or the previous one was lost. Estimated is set when costs before
	// Since were estimated from the instances that still ran then.
	Since     time.Time `json:"since"`
	Estimated bool      `json:"estimated,omitempty"`
	// Through is the time up to which all costs are included.
	Through time.Time    `json:"through"`
	Pools   []PoolSpend  `json:"pools,omitempty"`
	Holders []HeldSpend  `json:"holders,omitempty"`
	Past    []MonthTotal `json:"past,omitempty"`
	// Departed are the nodes that began to terminate within the last hour. They are
	// kept here because policies need them after a restart.
	Departed []model.Departure `json:"departed,omitempty"`
	// Coming are the claims without a launch time at Through, sorted by name. They
	// have not been charged yet although EC2 may have started them. After a restart
	// they are charged from their launch.
	Coming []string `json:"coming,omitempty"`
	// Doubt says why the amounts of this month may be too low; nil when they are
	// exact. It ends with the month.
	Doubt *Doubt `json:"doubt,omitempty"`
	// Restored is the last time at which it was found that the API server went back in time, of those
	// that the amounts take into account; zero for none. KnowsRestored is false in ledgers of
	// versions that did not note it.
	Restored      time.Time `json:"restored,omitzero"`
	KnowsRestored bool      `json:"knowsRestored,omitempty"`
	// Days are the running day, and those that have ended and are not in the history
	// yet. They are absent in ledgers of earlier versions, which ignore them.
	Days Days `json:"days,omitzero"`
	// Saved is what consolidations have saved, by day, the earliest first. SavedKeys are
	// the last ones that are counted.
	Saved     []Saved  `json:"saved,omitempty"`
	SavedKeys []string `json:"savedKeys,omitempty"`

	// seen is when each claim was last counted: Unix seconds, by identity. It is nil in a
	// decoded ledger.
	seen map[identity]int64
}

// Doubt is a reason not to rely on the amounts of a ledger.
type Doubt struct {
	Since  time.Time `json:"since"`
	Reason string    `json:"reason"`
}

// Rented is the key of one Pools entry. Labels are the NodePool's labels when the
// money was spent: a change of a pool's labels does not move its earlier costs.
type Rented struct {
	Pool string `json:"pool"`
	// Labels are "key=value" pairs, sorted and joined by commas.
	Labels       string             `json:"labels,omitempty"`
	Family       string             `json:"family,omitempty"`
	CapacityType model.CapacityType `json:"capacityType,omitempty"`
}

// PoolSpend is the month's cost of one Rented key and its current hourly rate.
type PoolSpend struct {
	Rented
	Amount Amount      `json:"amount"`
	Rate   model.Price `json:"rate,omitempty"`
}

// HeldSpend is the month's cost of one holder and its current hourly rate.
type HeldSpend struct {
	Holder
	Amount Amount      `json:"amount"`
	Rate   model.Price `json:"rate,omitempty"`
}

// MonthTotal is the total cost of a finished month.
type MonthTotal struct {
	Month time.Time `json:"month"`
	Amount
}

// pastMonths is how many finished months the ledger keeps.
const pastMonths = 13

// maxApart is the number of entries that Advance keeps in each of Pools and Holders
// before small ones are merged: see Trim.
const maxApart = 2000

// New returns the first ledger of a cluster. Its amounts are estimated from the
// running instances: what each has cost since its launch or the month's start.
func New(s *model.Snapshot) Ledger {
	month := monthStart(s.Time)
	now := s.Time.UTC()
	l := Ledger{Version: LedgerVersion, Month: month, Since: now, Through: now, Departed: departures(nil, s.Departed, now)}
	l.Days = beginDays(month, now)
	l.rates(s, func(n *model.Node) time.Duration { return now.Sub(later(month, n.LaunchedAt)) })
	l.Estimated = l.Total() != Amount{}
	l.Days.Today.Estimated = l.Estimated
	return l
}

// Advance returns the ledger with the time since Through added. What ran at Through
// is charged until now, whether or not it still runs, since its end was not
// observed. A new node is charged from its launch. Launch times have a resolution of
// one second: a node launched in the second before Through of a decoded ledger
// counts as new. A snapshot that is not later than Through changes nothing.
func (l *Ledger) Advance(s *model.Snapshot) Ledger {
	now := s.Time.UTC()
	if !now.After(l.Through) {
		return *l
	}
	next := *l
	next.Pools, next.Holders, next.Past = slices.Clone(l.Pools), slices.Clone(l.Holders), slices.Clone(l.Past)
	next.Days = l.Days.open(l.Through, now)
	for month := monthStart(now); next.Month.Before(month); {
		next.rollMonth()
	}
	next.Departed = departures(l.Departed, s.Departed, now)
	from := next.Through
	next.charge(now)
	next.Days.begin(&next)
	next.rates(s, func(n *model.Node) time.Duration {
		_, counted := l.seen[identityOf(n)]
		if counted || l.seen == nil && n.LaunchedAt.Before(from.Truncate(time.Second)) && !slices.Contains(l.Coming, claimOrName(n)) {
			return 0
		}
		return now.Sub(later(next.Month, n.LaunchedAt))
	})
	return next
}

// rollMonth closes the month: it adds the total to Past and resets the amounts.
func (l *Ledger) rollMonth() {
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
	l.Month, l.Since, l.Estimated, l.Doubt = end, end, false, nil
}

// charge accrues all rates up to the given time.
func (l *Ledger) charge(to time.Time) {
	d := to.Sub(l.Through)
	for i := range l.Pools {
		l.Pools[i].Amount.Accrue(l.Pools[i].Rate, d)
	}
	for i := range l.Holders {
		l.Holders[i].Amount.Accrue(l.Holders[i].Rate, d)
	}
	l.Days.charge(l.Through, to)
	l.Through = to
}

// forget is how long a claim that disappeared stays in seen. Within that time a
// claim that reappears is not charged from its launch again.
const forget = 24 * time.Hour

// identity is the FNV-1a hash of what the ledger knows a node by. All claims of a day are
// remembered, and their names would take six times as much. If two of them have one hash, which
// happens once in 30 million times among a million claims, the second is charged from the
// snapshot that it is first seen in and not from its launch.
type identity uint64

func identityOf(n *model.Node) identity {
	const offset, prime = 14695981039346656037, 1099511628211
	hash := uint64(offset)
	for _, b := range []byte(claimOrName(n)) {
		hash = (hash ^ uint64(b)) * prime
	}
	return identity(hash)
}

// rates replaces the current rates by those of the snapshot. It also charges each
// node for the duration that owed returns, for time before Through that is not yet
// charged.
func (l *Ledger) rates(s *model.Snapshot, owed func(*model.Node) time.Duration) {
	rented, held := map[Rented]*PoolSpend{}, map[Holder]*HeldSpend{}
	seen, shares := maps.Clone(l.seen), Shares(s)
	if seen == nil {
		seen = map[identity]int64{}
	}
	now := l.Through.Unix()
	maps.DeleteFunc(seen, func(_ identity, at int64) bool { return now-at > int64(forget/time.Second) })
	l.Coming = nil
	days := newRater(&l.Days, held)
	rent := func(of Rented) *PoolSpend {
		return get(rented, of, func(k Rented) *PoolSpend { return &PoolSpend{Rented: k} })
	}
	// Amounts are added: Decode lets several entries have one key.
	for i := range l.Pools {
		rent(l.Pools[i].Rented).Amount.Plus(l.Pools[i].Amount)
	}
	for i := range l.Holders {
		days.holder(l.Holders[i].Holder).Amount.Plus(l.Holders[i].Amount)
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !managed(n) || n.Cost() <= 0 || n.LaunchedAt.IsZero() {
			if n.Claim != "" && n.LaunchedAt.IsZero() {
				l.Coming = append(l.Coming, n.Claim)
			}
			continue
		}
		backlog := owed(n)
		seen[identityOf(n)] = now
		p := rent(rentedBy(s, n))
		p.Rate += n.Cost()
		p.Amount.Accrue(n.Cost(), backlog)
		for _, share := range shares[i] {
			h := days.holder(share.Holder)
			h.Rate += share.Price
			h.Amount.Accrue(share.Price, backlog)
			days.add(p.Rented, h, share.Price, backlog, l.Through)
		}
	}
	slices.Sort(l.Coming)
	l.seen = seen
	days.chargeLate()
	l.Days.settle()
	l.Pools, l.Holders = pools(rented), holders(held)
	*l = l.trimSums(maxApart)
}

func get[K comparable, V any](m map[K]*V, key K, zero func(K) *V) *V {
	v, ok := m[key]
	if !ok {
		v = zero(key)
		m[key] = v
	}
	return v
}

// Total returns the cost of the month so far.
func (l *Ledger) Total() Amount {
	var sum Amount
	for i := range l.Pools {
		sum.Plus(l.Pools[i].Amount)
	}
	return sum
}

// Rate returns the current hourly price of everything that runs.
func (l *Ledger) Rate() model.Price {
	sum := model.Price(0)
	for i := range l.Pools {
		sum += l.Pools[i].Rate
	}
	return sum
}

// Forecast returns the cost of the whole month if the current rates do not change.
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

// Merged is the name, within a kind of scopes, of all scopes that are too small to be
// known by name.
const Merged = "*"

// Scopes returns the month's cost of every scope, sorted by scope, in the form that
// a snapshot carries.
func (l *Ledger) Scopes() []model.Spent {
	sums := map[string]*Amount{Cluster: {}}
	add := func(name string, a Amount) {
		get(sums, name, func(string) *Amount { return &Amount{} }).Plus(a)
	}
	for i := range l.Pools {
		p := &l.Pools[i]
		add(Cluster, p.Amount)
		if p.Pool != "" {
			add("nodepool/"+p.Pool, p.Amount)
		} else { // too small to be known by name
			add("nodepool/"+Merged, p.Amount)
			add("label/"+Merged, p.Amount)
		}
		for label := range strings.SplitSeq(p.Labels, ",") {
			if label != "" {
				add("label/"+label, p.Amount)
			}
		}
	}
	for i := range l.Holders {
		switch h := &l.Holders[i]; {
		case h.Kind != Workload:
		case h.Namespace != "":
			add(Namespace+h.Namespace, h.Amount)
		default:
			add(Namespace+Merged, h.Amount)
		}
	}
	out := make([]model.Spent, 0, len(sums))
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, model.Spent{Scope: name, Micro: sums[name].Micro})
	}
	return out
}
