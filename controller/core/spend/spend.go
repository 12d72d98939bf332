// Package spend does the arithmetic of money: what each scope spends, and how
// much headroom a cap leaves. Everything is in integer micro-dollars.
//
// Scopes are written "cluster", "nodepool/<name>", "label/<key>=<value>" (the
// NodePool's own labels) and "namespace/<name>" (its pods' share of the nodes
// they are on or are to come to). Ledger keeps what has been spent. Not here: where caps come
// from (controller/core/policy).
package spend

import (
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Cluster is the scope of everything.
const Cluster = "cluster"

// Namespace is what the scope of a namespace begins with.
const Namespace = "namespace/"

// Scope is a set of NodePools with what they spend.
type Scope struct {
	Name string
	// Pools says, by index into Snapshot.Pools, whether the pool belongs; nil
	// for a namespace, which has shares of nodes and no pools.
	Pools []bool
	// Running is what nodes cost per hour, InFlight what launches may cost at
	// worst, MonthToDate micro-dollars since the first of the month, UTC. What a
	// namespace has in flight is what its pods will hold, on nodes that they are
	// to come to, more than they do where they are.
	Running     model.Price
	InFlight    model.Price
	MonthToDate int64
	// Surge is what of Running and InFlight is paid twice for a while, because
	// replacements are there before what they replace has gone. It takes no room
	// under a cap.
	Surge model.Price
	Nodes int
}

// Known reports whether a scope's name is one this package can account for.
func Known(name string) bool {
	return name == Cluster || strings.HasPrefix(name, "nodepool/") || strings.HasPrefix(name, Namespace) ||
		strings.HasPrefix(name, "label/") && strings.Contains(name, "=")
}

// Scopes accounts for the cluster, every NodePool, every NodePool label and
// every namespace that has a share of a node, and for the extra names given
// (caps may name pools that do not exist yet). The result is sorted by name,
// the cluster first.
func Scopes(s *model.Snapshot, extra ...string) []Scope {
	names := slices.Clone(extra)
	for i := range s.Pools {
		names = append(names, "nodepool/"+s.Pools[i].Name)
		for key, value := range s.Pools[i].Labels {
			names = append(names, "label/"+key+"="+value)
		}
	}
	used := namespaces(s)
	for name := range used {
		names = append(names, name)
	}
	slices.Sort(names)
	names = append([]string{Cluster}, slices.Compact(names)...)
	out := make([]Scope, 0, len(names))
	for i, name := range names {
		switch {
		case !Known(name) || i > 0 && name == Cluster:
		case strings.HasPrefix(name, Namespace):
			scope := Scope{Name: name}
			if found := used[name]; found != nil {
				scope = *found
			}
			out = append(out, known(s, scope))
		default:
			out = append(out, known(s, account(s, name)))
		}
	}
	return out
}

// known takes the month to date from the ledger, where there is one.
func known(s *model.Snapshot, scope Scope) Scope {
	if s.Spent == nil {
		return scope
	}
	scope.MonthToDate = 0
	at, found := slices.BinarySearchFunc(s.Spent, scope.Name, func(e model.Spent, name string) int { return strings.Compare(e.Scope, name) })
	if found {
		scope.MonthToDate = s.Spent[at].Micro
	}
	return scope
}

func account(s *model.Snapshot, name string) Scope {
	scope := Scope{Name: name, Pools: members(s, name)}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !managed(n) || !scope.has(n) {
			continue
		}
		scope.Nodes++
		switch {
		case n.Noticed:
		case n.Reserved > 0:
			scope.InFlight += n.Reserved
		default:
			scope.Running += n.Cost()
		}
		scope.MonthToDate += spent(n, s.Time)
	}
	scope.Surge = Surge(s, scope.Pools)
	return scope
}

// managed says whether a node is one of ours, and costs us money.
func managed(n *model.Node) bool { return n.Pool >= 0 || n.Claim != "" }

const labelNodePool = "karpenter.sh/nodepool"

// has says whether the node belongs to the scope, which has pools. The node of a
// pool that is gone belongs to what the pool belonged to.
func (s *Scope) has(n *model.Node) bool {
	if n.Pool >= 0 {
		return s.Pools[n.Pool]
	}
	label, byLabel := strings.CutPrefix(s.Name, "label/")
	key, value, _ := strings.Cut(label, "=")
	have, ok := n.PoolLabels[key]
	return s.Name == Cluster || s.Name == "nodepool/"+n.Labels[labelNodePool] || byLabel && ok && have == value
}

func members(s *model.Snapshot, name string) []bool {
	in := make([]bool, len(s.Pools))
	pool, byPool := strings.CutPrefix(name, "nodepool/")
	label, byLabel := strings.CutPrefix(name, "label/")
	key, value, _ := strings.Cut(label, "=")
	for i := range s.Pools {
		switch {
		case byPool:
			in[i] = s.Pools[i].Name == pool
		case byLabel:
			have, ok := s.Pools[i].Labels[key]
			in[i] = ok && have == value
		default:
			in[i] = true
		}
	}
	return in
}

// spent is what a node that still runs has cost since it was launched or the
// month began, in micro-dollars. Nodes that are gone are the ledger's to keep.
func spent(n *model.Node, now time.Time) int64 { return since(n.Cost(), n.LaunchedAt, now) }

func since(price model.Price, launched, now time.Time) int64 {
	if launched.IsZero() {
		return 0
	}
	var sum Amount
	sum.Accrue(price, now.Sub(later(monthStart(now), launched)))
	return sum.Micro
}

func monthStart(now time.Time) time.Time {
	u := now.UTC()
	return time.Date(u.Year(), u.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// HourlyHeadroom is cap − running − in flight, what is paid twice for a while
// counted once; never below 0.
func (s *Scope) HourlyHeadroom(hourlyCap model.Price) model.Price {
	return max(0, hourlyCap-s.Running-s.InFlight+s.Surge)
}

// MonthlyHeadroom is the hourly rate that may be added so that the month ends
// within the cap: (cap − month to date) / hours left − running − in flight, what
// is paid twice for a while counted once; never below 0. monthlyCap is in
// micro-dollars.
func (s *Scope) MonthlyHeadroom(monthlyCap int64, now time.Time) model.Price {
	end := monthStart(now).AddDate(0, 1, 0)
	seconds := max(1, int64(end.Sub(now)/time.Second))
	left := max(0, monthlyCap-s.MonthToDate)
	hours, rest := left/seconds, left%seconds
	return max(0, model.Price(hours*3600+rest*3600/seconds)-s.Running-s.InFlight+s.Surge)
}

// SecondsToCap is when a month's cap, in micro-dollars, is used up at what runs
// and is in flight now: 0 when it is, -1 when nothing is spent.
func (s *Scope) SecondsToCap(monthlyCap int64) int64 {
	left, burn := monthlyCap-s.MonthToDate, int64(s.Running+s.InFlight)
	switch {
	case left <= 0:
		return 0
	case burn <= 0:
		return -1
	}
	hours, rest := left/burn, left%burn
	if hours > longest {
		return -1
	}
	return hours*3600 + int64(float64(rest)/float64(burn)*3600)
}

// longest is how many hours ahead a cap is of interest: some hundred years.
const longest = 1_000_000
