package spend

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spokeshave.dev/controller/core/model"
)

var start = time.Date(2026, 3, 30, 12, 0, 0, 0, time.UTC)

// cluster is a random one: nodes of two pools with pods of three workloads.
func cluster(r *rand.Rand, nodes int) *model.Snapshot {
	s := &model.Snapshot{
		Time: start,
		Pools: []model.Pool{
			{Name: "general", Labels: map[string]string{"team": "web", "env": "prod"}},
			{Name: "gpu", Labels: map[string]string{"team": "ml"}},
		},
		Specs: []model.PodSpec{
			{Requests: model.Resources{"cpu": 700, "memory": 300, model.PodSlots: 1}},
			{Requests: model.Resources{"cpu": 10, "memory": 3_000, model.PodSlots: 1}},
			{Requests: model.Resources{"cpu": 3_333, model.PodSlots: 1}},
		},
	}
	for i := range nodes {
		s.Nodes = append(s.Nodes, model.Node{
			Name: fmt.Sprintf("n%d", i), Claim: fmt.Sprintf("c%d", i), Pool: int32(r.IntN(2)),
			InstanceType: []string{"m5.large", "c6g.xlarge", "p4d.24xlarge"}[r.IntN(3)],
			CapacityType: []model.CapacityType{"spot", "on-demand"}[r.IntN(2)],
			Price:        model.Price(1 + r.IntN(3_000_000)), LaunchedAt: start.Add(-time.Duration(r.IntN(100_000_000)) * time.Microsecond),
			Allocatable: model.Resources{"cpu": 4_000, "memory": 10_000, model.PodSlots: 10},
		})
		for range r.IntN(6) {
			s.Pods = append(s.Pods, model.Pod{
				Namespace: []string{"shop", "batch"}[r.IntN(2)], Name: fmt.Sprintf("p%d", len(s.Pods)),
				Workload: []string{"Deployment/web", "Job/nightly", ""}[r.IntN(3)],
				Spec:     int32(r.IntN(3)), Node: int32(i), Daemon: r.IntN(5) == 0,
			})
		}
	}
	return s
}

func addTo(sum *big.Int, price model.Price, d time.Duration) {
	sum.Add(sum, new(big.Int).Mul(big.NewInt(int64(price)), big.NewInt(int64(d))))
}

func exact(a Amount) *big.Int {
	out := new(big.Int).Mul(big.NewInt(a.Micro), new(big.Int).SetUint64(unit))
	return out.Add(out, new(big.Int).SetUint64(a.Rest))
}

func TestMonthTurns(t *testing.T) {
	s := cluster(rand.New(rand.NewPCG(7, 7)), 5)
	l := New(s)
	later := *s
	later.Time = time.Date(2026, 5, 2, 0, 0, 0, 0, time.UTC)
	got := l.Advance(&later)
	if len(got.Past) != 2 || !got.Month.Equal(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)) {
		t.Fatalf("month %s, past %+v", got.Month, got.Past)
	}
	april := Amount{}
	april.Accrue(l.Rate(), 30*24*time.Hour)
	may := Amount{}
	may.Accrue(l.Rate(), 24*time.Hour)
	if diff := cmp.Diff([]Amount{april, may}, []Amount{got.Past[1].Amount, got.Total()}); diff != "" {
		t.Errorf("April and the first of May: -want +got\n%s", diff)
	}
	if got.Estimated {
		t.Error("a month that was seen from its start is not an estimate")
	}
}

func TestKeptLedgerGoesOn(t *testing.T) {
	s := cluster(rand.New(rand.NewPCG(3, 3)), 8)
	whole := New(s)
	text, err := whole.Encode()
	if err != nil {
		t.Fatal(err)
	}
	read, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	next := *s
	next.Time = s.Time.Add(17 * time.Minute)
	a, b := whole.Advance(&next), read.Advance(&next)
	if diff := cmp.Diff(a, b, cmpopts.IgnoreUnexported(Ledger{}, Days{}), cmpopts.SortSlices(func(a, b Row) bool { return compareRows(a, b) < 0 })); diff != "" {
		t.Errorf("after a restart the account differs: -without +with\n%s", diff)
	}
	gone := *s
	gone.Time, gone.Nodes = s.Time.Add(time.Minute), nil
	back := *s
	back.Time = s.Time.Add(2 * time.Minute)
	l := whole.Advance(&gone)
	l = l.Advance(&back)
	want := whole.Total()
	want.Accrue(whole.Rate(), time.Minute)
	if got := l.Total(); got != want {
		t.Errorf("nodes that disappear for a minute and come back cost %+v, want %+v: charged from their start again?", got, want)
	}
}

// TestLaunchAcrossRestart: a launch that was under way when the ledger was last
// written is charged from its start, however long the controller was not running.
func TestLaunchAcrossRestart(t *testing.T) {
	start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	node := func(name string, launched time.Time) model.Node {
		return model.Node{Name: name, Claim: name, Pool: 0, Price: 600_000, LaunchedAt: launched}
	}
	at := func(after time.Duration, nodes ...model.Node) *model.Snapshot {
		return &model.Snapshot{Time: start.Add(after), Pools: []model.Pool{{Name: "general"}}, Nodes: nodes}
	}
	coming := model.Node{Name: "coming", Claim: "coming", Pool: 0, Reserved: 600_000}
	l := New(at(0, node("old", start)))
	l = l.Advance(at(10*time.Minute, node("old", start), coming))
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if l, err = Decode(text); err != nil {
		t.Fatal(err)
	}
	// EC2 started it in the minute before the ledger was written; the next
	// replica takes over ten minutes later. Another was asked for in the second in
	// which the ledger was written, after it.
	l = l.Advance(at(20*time.Minute, node("old", start), node("coming", start.Add(9*time.Minute)), node("prompt", start.Add(10*time.Minute)), node("new", start.Add(15*time.Minute))))
	want := Amount{}
	want.Accrue(600_000, (20+11+10+5)*time.Minute)
	if got := l.Total(); got != want {
		t.Errorf("%+v, want %+v: 20 minutes of the old node, 11 of the one that was coming, 10 of the one just after, 5 of the new one", got, want)
	}
}

// The claims of a day are remembered, so that one that disappears and comes back is not charged
// from its launch again, and each takes few bytes.
func TestClaimsOfADayAreRemembered(t *testing.T) {
	const claims = 20_000
	live := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // frees what pools hold
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	at := func(after time.Duration, claim int) *model.Snapshot {
		return &model.Snapshot{Time: start.Add(after), Pools: []model.Pool{{Name: "general"}}, Nodes: []model.Node{{
			Claim: fmt.Sprintf("general-%d-of-the-many-that-come-and-go", claim), Pool: 0, InstanceType: "m5.large",
			CapacityType: "on-demand", Price: 3_600_000_000, LaunchedAt: start.Add(time.Duration(claim) * time.Second),
			Allocatable: model.Resources{"cpu": 4_000},
		}}}
	}
	l := New(at(0, 0))
	before := live()
	all := at(claims*time.Second, 0)
	for i := range claims {
		all.Nodes = append(all.Nodes, at(0, i).Nodes[0])
	}
	l = l.Advance(all)
	all = nil
	l = l.Advance(at(claims*time.Second+time.Second, 0))
	if each := (live() - before) / claims; each < 8 || each > 45 {
		t.Errorf("a claim that is gone takes %.0f bytes, want 8 to 45", each)
	}
	for name, c := range map[string]struct {
		reason string
		after  time.Duration
		// fromLaunch says that the claim's life since its launch is charged when it comes back.
		fromLaunch bool
	}{
		"within a day": {"it has been charged for the time before", 23 * time.Hour, false},
		"a day later":  {"it is forgotten", 25 * time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			when := claims*time.Second + c.after
			gone := l.Advance(at(when, 0))
			back := gone.Advance(at(when+time.Second, claims/2))
			before, after := gone.Total(), back.Total()
			if added := after.USD() - before.USD(); (added > 5000) != c.fromLaunch { // 3,600 dollars an hour
				t.Errorf("%s: coming back costs %.2f dollars", c.reason, added)
			}
		})
	}
}

func TestSharesOfOneNode(t *testing.T) {
	s := &model.Snapshot{
		Pools: []model.Pool{{Name: "general"}},
		Nodes: []model.Node{{Pool: 0, Price: 1_000_000, Allocatable: model.Resources{"cpu": 4_000, "memory": 8_000}}},
		Specs: []model.PodSpec{{Requests: model.Resources{"cpu": 1_000, "memory": 1_000}}, {Requests: model.Resources{"memory": 8_000}}},
	}
	for name, tc := range map[string]struct {
		reason string
		pods   []model.Pod
		want   []Share
	}{
		"empty": {
			reason: "an empty node is idle",
			want:   []Share{{Holder{Kind: Idle}, 1_000_000}},
		},
		"dominant": {
			reason: "a quarter of the cpu is a quarter of the node",
			pods:   []model.Pod{{Namespace: "shop", Name: "a", Workload: "Deployment/web"}},
			want:   []Share{{Holder{Kind: Idle}, 750_000}, {Holder{Kind: Workload, Namespace: "shop", Workload: "Deployment/web"}, 250_000}},
		},
		"crowded": {
			reason: "shares that exceed the node are scaled to it, the odd micro-dollar goes to the first",
			pods: []model.Pod{
				{Namespace: "a", Name: "x", Spec: 1}, {Namespace: "b", Name: "y", Spec: 1}, {Daemon: true, Spec: 1},
			},
			want: []Share{
				{Holder{Kind: Daemon}, 333_334},
				{Holder{Kind: Workload, Namespace: "a", Workload: "Pod/x"}, 333_333},
				{Holder{Kind: Workload, Namespace: "b", Workload: "Pod/y"}, 333_333},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.Pods = tc.pods
			if diff := cmp.Diff([][]Share{tc.want}, Shares(s)); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

func TestManyWorkloadsAreBounded(t *testing.T) {
	s := cluster(rand.New(rand.NewPCG(1, 1)), 1)
	s.Nodes[0].Allocatable = model.Resources{"cpu": 10_000_000}
	s.Pods = nil
	for i := range maxApart + 500 {
		s.Pods = append(s.Pods, model.Pod{Namespace: "jobs", Name: fmt.Sprint(i), Spec: 0})
	}
	l := New(s)
	if len(l.Holders) > maxApart+1 {
		t.Errorf("%d holders", len(l.Holders))
	}
	sum := Amount{}
	for i := range l.Holders {
		sum.Plus(l.Holders[i].Amount)
	}
	if total := l.Total(); sum != total {
		t.Errorf("holders %+v, total %+v", sum, total)
	}
}

// TestWithin: however many namespaces and NodePools a month sees, the ledger is of a
// bounded size, adds up to the whole, and knows those apart that have cost most.
func TestWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	l := Ledger{Version: LedgerVersion, Month: monthStart(start), Through: start}
	for i := range 5_000 {
		amount := Amount{Micro: r.Int64N(1_000_000), Rest: r.Uint64N(unit)}
		l.Holders = append(l.Holders, HeldSpend{Holder: Holder{Workload, fmt.Sprintf("pr-%04d", i), "Deployment/web"}, Amount: amount, Rate: model.Price(r.IntN(2))})
		l.Pools = append(l.Pools, PoolSpend{
			Rented: Rented{Pool: fmt.Sprintf("pool-%d", i/2), Labels: fmt.Sprintf("team=t%d", i/7), Family: fmt.Sprintf("f%d", i), CapacityType: model.Spot},
			Amount: amount, Rate: model.Price(r.IntN(2)),
		})
	}
	l.Holders = append(l.Holders, HeldSpend{Holder: Holder{Kind: Idle}, Amount: Amount{Micro: 1}}, HeldSpend{Holder: Holder{Kind: Daemon}, Amount: Amount{Micro: 1}})
	l.Pools = append(l.Pools, PoolSpend{Rented: Rented{Pool: "zero", CapacityType: model.OnDemand}, Amount: Amount{Micro: 2}})
	l.Holders[4_321].Amount.Micro, l.Pools[1_234].Amount.Micro = 5_000_000, 5_000_000
	whole, rate := exact(l.Total()), l.Rate()
	held := func(l *Ledger) *big.Int {
		sum := new(big.Int)
		for i := range l.Holders {
			sum.Add(sum, exact(l.Holders[i].Amount))
		}
		return sum
	}
	before := held(&l)
	for _, entries := range []int{4_000, 1_000, 10, 0} {
		got := l.Trim(entries)
		if len(got.Holders) > (1+mergedPerEntry)*entries+3 || len(got.Pools) > (1+mergedPerEntry)*entries+2 {
			t.Errorf("within %d: %d holders, %d pools", entries, len(got.Holders), len(got.Pools))
		}
		if exact(got.Total()).Cmp(whole) != 0 || held(&got).Cmp(before) != 0 || got.Rate() != rate {
			t.Errorf("within %d: pools %s of %s, holders %s of %s, %d of %d an hour", entries, exact(got.Total()), whole, held(&got), before, got.Rate(), rate)
		}
		scopes := map[string]int64{}
		for _, each := range got.Scopes() {
			scopes[each.Scope] = each.Micro
		}
		if entries > 0 && (scopes["namespace/pr-4321"] != 5_000_000 || scopes["nodepool/pool-617"] < 5_000_000) {
			t.Errorf("within %d: the dearest are not known: %d, %d", entries, scopes["namespace/pr-4321"], scopes["nodepool/pool-617"])
		}
		if _, named := scopes["nodepool/"]; named {
			t.Errorf("within %d: a scope without a name", entries)
		}
		if _, named := scopes[Namespace]; named {
			t.Errorf("within %d: a namespace without a name", entries)
		}
	}
}

// TestLateNamespaceIsKnown: a namespace that comes late in a month of thousands of
// others, all of which have cost more until then, is known by what it costs: a
// cap of its month would never be reached else.
func TestLateNamespaceIsKnown(t *testing.T) {
	s := cluster(rand.New(rand.NewPCG(1, 1)), 1)
	s.Nodes[0].Price, s.Nodes[0].LaunchedAt = 1_000_000, s.Time
	s.Nodes[0].Allocatable = model.Resources{"cpu": 1000}
	s.Specs = []model.PodSpec{{Requests: model.Resources{"cpu": 1000}}}
	s.Pods = []model.Pod{{Namespace: "late", Name: "p", Spec: 0}}
	l := Ledger{Version: LedgerVersion, Month: monthStart(s.Time), Since: s.Time, Through: s.Time}
	for i := range (1+mergedPerEntry)*maxApart + 500 {
		l.Holders = append(l.Holders, HeldSpend{Holder: Holder{Workload, fmt.Sprintf("pr-%05d", i), "Deployment/web"}, Amount: Amount{Micro: 500_000}})
	}
	const hours = 2
	for range hours * 60 {
		s.Time = s.Time.Add(time.Minute)
		l = l.Advance(s)
	}
	for _, each := range l.Scopes() {
		if each.Scope == Namespace+"late" && each.Micro == hours*1_000_000 {
			return
		}
	}
	t.Errorf("namespace late is not known to have cost %d $ in %d hours", hours, hours)
}

// TestAdvanceKeepsRepeatedKeys: a ledger that somebody wrote with one key in several
// entries loses none of their amounts.
func TestAdvanceKeepsRepeatedKeys(t *testing.T) {
	l, err := Decode([]byte(`{"version":1,"month":"2026-03-01T00:00:00Z","through":"2026-03-02T00:00:00Z",
		"pools":[{"pool":"web","amount":{"micro":7}},{"pool":"web","amount":{"micro":5}}],
		"holders":[{"kind":"idle","amount":{"micro":4}},{"kind":"idle","amount":{"micro":8}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := &model.Snapshot{Time: l.Through.Add(time.Hour)}
	next := l.Advance(s)
	if got := next.Total().Micro; got != 12 {
		t.Errorf("the pools cost %d, want 12", got)
	}
	if len(next.Holders) != 1 || next.Holders[0].Amount.Micro != 12 {
		t.Errorf("holders %+v, want one that cost 12", next.Holders)
	}
}

func FuzzDecode(f *testing.F) {
	l := New(cluster(rand.New(rand.NewPCG(2, 2)), 3))
	text, err := l.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":1,"month":"2026-03-01T00:00:00Z","through":"2026-03-02T00:00:00Z","pools":[{"amount":{"micro":-1}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Decode(text)
		if err != nil {
			return
		}
		s := cluster(rand.New(rand.NewPCG(2, 2)), 3)
		before, next := l.Total(), l.Advance(s)
		if after := next.Total(); l.Month.Equal(next.Month) && after.Micro < before.Micro {
			t.Errorf("the total falls from %+v to %+v", before, after)
		}
	})
}
