package spend

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
)

// book is a second account of the same cluster, in arithmetic without bounds.
type book struct {
	// whole and parts are micro-dollar nanoseconds per hour: the month's sum, and
	// that of every pool, label, family and capacity type, exactly.
	whole *big.Int
	parts map[string]*big.Int
	// held is micro-dollars by namespace, kind of overhead or workload, as real
	// numbers; slack is what whole micro-dollars an hour may make of it.
	held  map[string]float64
	slack float64
}

func newBook() *book {
	return &book{whole: new(big.Int), parts: map[string]*big.Int{}, held: map[string]float64{}}
}

// run adds what the nodes of a snapshot cost in so much time, or each in as much as
// only says.
func (b *book) run(s *model.Snapshot, d time.Duration, only func(*model.Node) time.Duration) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Claim == "" || n.LaunchedAt.IsZero() {
			continue
		}
		took := d
		if only != nil {
			took = only(n)
		}
		pool, labels := n.PoolName, n.PoolLabels
		if n.Pool >= 0 {
			pool, labels = s.Pools[n.Pool].Name, s.Pools[n.Pool].Labels
		}
		family, _, _ := strings.Cut(n.InstanceType, ".")
		keys := []string{"nodepool/" + pool, "family " + family, string(n.CapacityType)}
		for k, v := range labels {
			keys = append(keys, "label/"+k+"="+v)
		}
		addTo(b.whole, n.Cost(), took)
		for _, key := range keys {
			if b.parts[key] == nil {
				b.parts[key] = new(big.Int)
			}
			addTo(b.parts[key], n.Cost(), took)
		}
		b.hold(s, int32(i), took)
	}
}

// hold deals out what a node has cost among those who are on it.
func (b *book) hold(s *model.Snapshot, node int32, took time.Duration) {
	n, by, all := &s.Nodes[node], map[string]float64{}, 0.0
	for i := range s.Pods {
		p, at := &s.Pods[i], s.Pods[i].Node
		for _, m := range s.Moves {
			if m.Pod == int32(i) && m.From >= 0 {
				at = m.From
			}
		}
		if at != node {
			continue
		}
		part := 0.0
		for name, want := range s.Specs[p.Spec].Requests {
			if name != model.PodSlots {
				part = max(part, min(1, float64(want)/float64(n.Allocatable[name])))
			}
		}
		key := Namespace + p.Namespace
		if p.Daemon {
			key = Daemon
		}
		by[key] += part
		all += part
	}
	by[Idle] = max(0, 1-all)
	for key, part := range by {
		b.held[key] += part / max(1, all) * float64(n.Cost()) * took.Hours()
	}
	b.slack += 20 * took.Hours()
}

// check holds a ledger against the book.
func (b *book) check(t *testing.T, l *Ledger, what string) {
	t.Helper()
	parts, held, holders := map[string]*big.Int{}, map[string]float64{}, new(big.Int)
	add := func(key string, a Amount) {
		if parts[key] == nil {
			parts[key] = new(big.Int)
		}
		parts[key].Add(parts[key], exact(a))
	}
	for _, p := range l.Pools {
		add("nodepool/"+p.Pool, p.Amount)
		add("family "+p.Family, p.Amount)
		add(string(p.CapacityType), p.Amount)
		for label := range strings.SplitSeq(p.Labels, ",") {
			if label != "" {
				add("label/"+label, p.Amount)
			}
		}
	}
	for _, h := range l.Holders {
		key := h.Kind
		if h.Kind == Workload {
			key = Namespace + h.Namespace
		}
		held[key] += h.Amount.USD() * 1e6
		holders.Add(holders, exact(h.Amount))
	}
	if got := exact(l.Total()); got.Cmp(b.whole) != 0 || holders.Cmp(b.whole) != 0 {
		t.Fatalf("%s: NodePools add up to %s, holders to %s, the nodes to %s", what, got, holders, b.whole)
	}
	for _, key := range slices.Sorted(maps.Keys(b.parts)) {
		if parts[key] == nil {
			parts[key] = new(big.Int)
		}
		if parts[key].Cmp(b.parts[key]) != 0 {
			t.Fatalf("%s: %s is %s, want %s", what, key, parts[key], b.parts[key])
		}
	}
	for key := range parts {
		if b.parts[key] == nil && parts[key].Sign() > 0 {
			t.Fatalf("%s: %s is %s, and never was there", what, key, parts[key])
		}
	}
	for key, want := range b.held {
		if got := held[key]; math.Abs(got-want) > b.slack+float64(len(l.Holders)) {
			t.Fatalf("%s: %s holds %.1f micro-dollars, want %.1f, give or take %.1f", what, key, got, want, b.slack)
		}
	}
	b.scopes(t, l, what)
}

// scopes are the parts in whole micro-dollars, each rounded down.
func (b *book) scopes(t *testing.T, l *Ledger, what string) {
	t.Helper()
	scopes, spaces, overhead := map[string]int64{}, 0.0, 0.0
	for _, each := range l.Scopes() {
		scopes[each.Scope] = each.Micro
		if strings.HasPrefix(each.Scope, Namespace) {
			spaces += float64(each.Micro)
		}
	}
	for _, h := range l.Holders {
		if h.Kind != Workload {
			overhead += float64(h.Amount.Micro)
		}
	}
	for key, want := range b.parts {
		if label := strings.HasPrefix(key, "label/"); (label || strings.HasPrefix(key, "nodepool/")) && scopes[key] != new(big.Int).Div(want, big.NewInt(int64(unit))).Int64() {
			t.Fatalf("%s: scope %s is %d, want %s / %d", what, key, scopes[key], want, unit)
		}
	}
	if diff := float64(scopes[Cluster]) - spaces - overhead; diff < 0 || diff > 5 {
		t.Fatalf("%s: the cluster is %d, its namespaces %.0f and what nobody asked for %.0f: they may differ by five parts that are no whole micro-dollar", what, scopes[Cluster], spaces, overhead)
	}
}

// TestPartsAddUp is the promise of the ledger: whatever happens, every cut of it
// adds up to price × time of the nodes, to the last fraction.
func TestPartsAddUp(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := cluster(r, 1+r.IntN(20))
		for i := range s.Nodes {
			s.Nodes[i].Extra = model.Price(r.IntN(20_000))
		}
		l, b := New(s), newBook()
		b.run(s, 0, func(n *model.Node) time.Duration { return start.Sub(later(l.Month, n.LaunchedAt)) })
		b.check(t, &l, fmt.Sprintf("seed %d, new", seed))
		for step := range 30 {
			d := time.Duration(1 + r.Int64N(int64(20*time.Minute)))
			if r.IntN(8) == 0 {
				d += time.Duration(r.IntN(60)) * time.Hour // a month ends a day and a half after the start
			}
			next := *s
			next.Time = s.Time.Add(d)
			next.Nodes, next.Pods, next.Moves = slices.Clone(s.Nodes), slices.Clone(s.Pods), nil
			word, came := change(r, s, &next)
			if r.IntN(5) == 0 && came == nil { // a launch in the last second may be charged twice or not at all
				text, err := l.Encode()
				if err == nil {
					l, err = Decode(text)
				}
				if err != nil {
					t.Fatal(err)
				}
				seen["restart"]++
			}
			if end := monthStart(s.Time).AddDate(0, 1, 0); !next.Time.Before(end) {
				b.run(s, end.Sub(s.Time), nil)
				after := l.Advance(&next)
				past := exact(after.Past[len(after.Past)-1].Amount)
				if past.Cmp(b.whole) != 0 {
					t.Fatalf("seed %d, step %d: the month that ended cost %s, want %s", seed, step, past, b.whole)
				}
				b = newBook()
				b.run(s, next.Time.Sub(end), nil)
				l = after
				seen["month"]++
			} else {
				b.run(s, d, nil)
				l = l.Advance(&next)
			}
			if came != nil {
				b.run(&next, 0, func(n *model.Node) time.Duration {
					if n.Claim != came.Claim {
						return 0
					}
					return next.Time.Sub(later(l.Month, n.LaunchedAt))
				})
			}
			s = &next
			seen[word]++
			b.check(t, &l, fmt.Sprintf("seed %d, step %d, %s", seed, step, word))
		}
	}
	for _, word := range []string{"price", "launch", "flight", "end", "pool", "pods", "move", "restart", "month"} {
		if seen[word] < 20 {
			t.Errorf("%s happened %d times: %v", word, seen[word], seen)
		}
	}
}

// change does something to the next snapshot, and says what, and what node came.
func change(r *rand.Rand, s, next *model.Snapshot) (string, *model.Node) {
	add := func(n model.Node) {
		n.Claim = fmt.Sprintf("new%d-%d", len(next.Nodes), next.Time.UnixNano())
		next.Nodes = append(next.Nodes, n)
	}
	n := &next.Nodes[r.IntN(len(next.Nodes))]
	switch r.IntN(7) {
	case 0:
		n.Price = model.Price(1 + r.IntN(1_000_000))
		return "price", nil
	case 1: // between the two looks
		came := *n
		came.Pool, came.Price, came.Reserved = int32(r.IntN(2)), model.Price(1+r.IntN(1_000_000)), 0
		came.LaunchedAt = s.Time.Add(time.Duration(r.Int64N(int64(next.Time.Sub(s.Time)))))
		add(came)
		return "launch", &next.Nodes[len(next.Nodes)-1]
	case 2: // what is reserved is not spent
		came := *n
		came.Price, came.Extra, came.Reserved, came.LaunchedAt, came.State = 0, 0, 500_000, time.Time{}, model.InFlight
		add(came)
		return "flight", nil
	case 3: // its pods wait
		at := int32(r.IntN(len(next.Nodes)))
		next.Nodes[at].Claim, next.Nodes[at].Pool, next.Nodes[at].LaunchedAt = "", -1, time.Time{}
		return "end", nil
	case 4: // its NodePool is gone, and it is not
		if n.Pool >= 0 {
			n.PoolLabels, n.PoolName, n.Pool = s.Pools[n.Pool].Labels, s.Pools[n.Pool].Name, -1
		}
		return "pool", nil
	case 5:
		for i := range next.Pods {
			if r.IntN(3) == 0 {
				next.Pods[i].Node = int32(r.IntN(len(next.Nodes)+1)) - 1
			}
		}
		return "pods", nil
	default: // planned elsewhere, and still there
		for i := range next.Pods {
			if p := &next.Pods[i]; p.Node >= 0 && r.IntN(3) == 0 {
				to := int32(r.IntN(len(next.Nodes)))
				next.Moves = append(next.Moves, model.Move{Pod: int32(i), From: p.Node, To: to})
				if r.IntN(2) == 0 {
					p.Node = to
				}
			}
		}
		return "move", nil
	}
}
