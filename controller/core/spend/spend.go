// Package spend computes what each scope spends and how much headroom a cap leaves.
// Prices are integers in micro-dollars per hour.
//
// Scopes are written "cluster", "nodepool/<name>", "label/<key>=<value>" (the
// NodePool's own labels) and "namespace/<name>" (its pods' share of the nodes that
// they are on or are planned for). A Ledger records what has been spent in a month.
// The caps themselves come from package controller/core/policy.
package spend

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Cluster is the name of the scope that contains every NodePool.
const Cluster = "cluster"

// Namespace is the prefix of a namespace's scope name.
const Namespace = "namespace/"

// Scope is a set of NodePools, or a namespace, with what it spends.
type Scope struct {
	Name string
	// Pools says, by index into Snapshot.Pools, whether the pool belongs to the
	// scope. It is nil for a namespace, which uses shares of nodes.
	Pools []bool
	// Running is the hourly price of the running nodes, InFlight the highest hourly
	// price of those being launched, and MonthToDate the micro-dollars spent since
	// the first of the month, UTC. For a namespace InFlight is the increase of its
	// pods' shares once all planned moves are done.
	Running     model.Price
	InFlight    model.Price
	MonthToDate int64
	// Surge is the part of Running and InFlight that is paid twice for a limited
	// time, because replacements run before the replaced nodes are gone. It does not
	// count against a cap.
	Surge model.Price
	Nodes int
}

// ScopeForms lists the forms of a scope's name, for messages.
const ScopeForms = "cluster, nodepool/<name>, label/<key>=<value> or namespace/<name>"

// Known reports whether name is the name of a scope that Scopes can account for: it has
// one of the ScopeForms.
func Known(name string) bool {
	kind, rest, _ := strings.Cut(name, "/")
	switch kind {
	case "nodepool", "namespace":
		return rest != ""
	case "label":
		key, _, ok := strings.Cut(rest, "=")
		return ok && key != ""
	default:
		return name == Cluster
	}
}

// Scopes returns the accounts of the cluster, every NodePool, every NodePool label,
// every namespace with a share of a node, and the extra names (a cap may name a pool
// that does not exist yet). The cluster comes first, the others are sorted by name.
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

// known replaces the month to date by the ledger's, when the snapshot has one. A scope
// that the ledger does not know by name counts as much as all such scopes together,
// which is at least what it has cost.
func known(s *model.Snapshot, scope Scope) Scope {
	if s.Spent == nil {
		return scope
	}
	kind, _, _ := strings.Cut(scope.Name, "/")
	scope.MonthToDate = 0
	for _, name := range []string{scope.Name, kind + "/" + Merged} {
		at, found := slices.BinarySearchFunc(s.Spent, name, func(e model.Spent, name string) int { return strings.Compare(e.Scope, name) })
		if found {
			scope.MonthToDate = s.Spent[at].Micro
			break
		}
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

// managed reports whether the node's price counts: Spokeshave manages the node, or has
// launched it.
func managed(n *model.Node) bool { return n.Pool >= 0 || n.Claim != "" || n.PoolName != "" }

// claimOrName is by what the ledger knows the node.
func claimOrName(n *model.Node) string { return cmp.Or(n.Claim, n.Name) }

// has reports whether the node belongs to the scope. The scope must have pools. A
// node whose pool was deleted is matched by the pool name and labels recorded on the
// node.
func (s *Scope) has(n *model.Node) bool {
	if n.Pool >= 0 {
		return s.Pools[n.Pool]
	}
	label, byLabel := strings.CutPrefix(s.Name, "label/")
	key, value, _ := strings.Cut(label, "=")
	have, ok := n.PoolLabels[key]
	return s.Name == Cluster || s.Name == "nodepool/"+n.PoolName || byLabel && ok && have == value
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

// spent returns what a running node has cost since its launch or the start of the
// month, whichever is later, in micro-dollars. Only the ledger has the cost of nodes
// that are gone.
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

// HourlyHeadroom returns cap − running − in flight + surge, per hour; never below 0.
func (s *Scope) HourlyHeadroom(hourlyCap model.Price) model.Price {
	return max(0, hourlyCap-s.Running-s.InFlight+s.Surge)
}

// MonthlyHeadroom returns the hourly rate that may be added so that the month ends
// within the cap: (cap − month to date) / hours left − running − in flight + surge;
// never below 0. monthlyCap is in micro-dollars.
func (s *Scope) MonthlyHeadroom(monthlyCap int64, now time.Time) model.Price {
	end := monthStart(now).AddDate(0, 1, 0)
	seconds := max(1, int64(end.Sub(now)/time.Second))
	left := max(0, monthlyCap-s.MonthToDate)
	hours, rest := left/seconds, left%seconds
	return max(0, model.Price(hours*3600+rest*3600/seconds)-s.Running-s.InFlight+s.Surge)
}

// SecondsToCap returns the seconds until a monthly cap, in micro-dollars, is used up
// at the rate of Running + InFlight: 0 when it is already used up, -1 when the rate
// is 0 or the cap is reached more than longest hours from now.
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

// longest is the time in hours, about a hundred years, beyond which SecondsToCap
// returns -1.
const longest = 1_000_000
