package spend

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

func snapshot() *model.Snapshot {
	return &model.Snapshot{
		Time: time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC),
		Pools: []model.Pool{
			{Name: "general", Labels: map[string]string{"team": "web"}},
			{Name: "gpu", Labels: map[string]string{"team": "ml"}},
		},
		Nodes: []model.Node{
			{Name: "a", Pool: 0, Price: 95_000, Extra: 5_000, LaunchedAt: time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)},
			{Name: "b", Pool: 1, Price: 3_000_000, LaunchedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
			{Name: "c", Pool: 1, Reserved: 4_000_000},
			{Name: "d", Pool: -1, Price: 9_000_000},
		},
	}
}

func TestScopes(t *testing.T) {
	got := Scopes(snapshot(), "nodepool/later", "namespace/shop")
	want := []Scope{
		{Name: "cluster", Pools: []bool{true, true}, Running: 3_100_000, InFlight: 4_000_000, MonthToDate: 24*100_000 + 240*3_000_000, Nodes: 3},
		{Name: "label/team=ml", Pools: []bool{false, true}, Running: 3_000_000, InFlight: 4_000_000, MonthToDate: 240 * 3_000_000, Nodes: 2},
		{Name: "label/team=web", Pools: []bool{true, false}, Running: 100_000, MonthToDate: 24 * 100_000, Nodes: 1},
		{Name: "namespace/shop"},
		{Name: "nodepool/general", Pools: []bool{true, false}, Running: 100_000, MonthToDate: 24 * 100_000, Nodes: 1},
		{Name: "nodepool/gpu", Pools: []bool{false, true}, Running: 3_000_000, InFlight: 4_000_000, MonthToDate: 240 * 3_000_000, Nodes: 2},
		{Name: "nodepool/later", Pools: []bool{false, false}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Scopes: -want +got\n%s", diff)
	}
}

// TestNotice: what EC2 takes back has left the running sum, so that what comes in
// its stead may be launched under a full cap; it is billed until it is gone.
func TestNotice(t *testing.T) {
	s := snapshot()
	s.Nodes[1].State, s.Nodes[1].Noticed = model.Deleting, true
	s.Nodes[1].Command = &model.Command{ID: "x", Nodes: []string{"b"}, Replacements: []string{"c"}, Started: s.Time}
	s.Nodes[2].Claim = "c"
	got := account(s, "nodepool/gpu")
	want := Scope{Name: "nodepool/gpu", Pools: []bool{false, true}, InFlight: 4_000_000, MonthToDate: 240 * 3_000_000, Nodes: 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is gone is no surge either: -want +got\n%s", diff)
	}
	// The other way round it is the replacement that EC2 takes back.
	s = snapshot()
	s.Nodes[1].Command = &model.Command{ID: "x", Nodes: []string{"b"}, Replacements: []string{"c"}, Started: s.Time}
	s.Nodes[2].Claim, s.Nodes[2].Reserved, s.Nodes[2].Price = "c", 0, 4_000_000
	s.Nodes[2].State, s.Nodes[2].Noticed = model.Deleting, true
	if got := account(s, "nodepool/gpu"); got.Running != 3_000_000 || got.InFlight != 0 || got.Surge != 0 {
		t.Errorf("one of both is paid for, once: %+v", got)
	}
}

// TestPodShares: on a node to be launched a pod's share is made smaller by its own
// namespace's pods alone.
func TestPodShares(t *testing.T) {
	s := &model.Snapshot{
		Specs: []model.PodSpec{{Requests: model.Resources{"cpu": 3_000, "memory": 1_000}}, {Requests: model.Resources{"cpu": 1_000, "memory": 3_000}}},
		Pods:  []model.Pod{{Namespace: "shop"}, {Namespace: "batch", Spec: 1}, {Namespace: "batch", Spec: 0}},
	}
	size := model.Resources{"cpu": 4_000, "memory": 4_000}
	if diff := cmp.Diff([]model.Price{750_001, 500_001, 500_001}, PodShares(s, -1, 1_000_000, size, []int32{0, 1, 2})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestHeadroom(t *testing.T) {
	cases := map[string]struct {
		reason  string
		scope   Scope
		hourly  model.Price
		monthly int64
		wantH   model.Price
		wantM   model.Price
	}{
		"room": {
			reason: "running and in flight both count",
			scope:  Scope{Running: 500_000, InFlight: 300_000}, hourly: 2_000_000, wantH: 1_200_000,
		},
		"over": {
			reason: "a cap lowered below the spend leaves nothing, not less",
			scope:  Scope{Running: 500_000}, hourly: 100_000,
		},
		"month": {
			reason: "21 days are left: 504 hours at 1 $/h cost 504 $",
			scope:  Scope{MonthToDate: 96_000_000, Running: 400_000}, monthly: 600_000_000, wantM: 600_000,
		},
		"spent": {
			reason: "what is spent cannot be spent again",
			scope:  Scope{MonthToDate: 700_000_000}, monthly: 600_000_000,
		},
	}
	now := time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.scope.HourlyHeadroom(tc.hourly); got != tc.wantH {
				t.Errorf("%s: HourlyHeadroom = %d, want %d", tc.reason, got, tc.wantH)
			}
			if got := tc.scope.MonthlyHeadroom(tc.monthly, now); got != tc.wantM {
				t.Errorf("%s: MonthlyHeadroom = %d, want %d", tc.reason, got, tc.wantM)
			}
		})
	}
}

// TestMonthsAreUTC: a month begins and ends at midnight UTC, wherever a clock stands.
func TestMonthsAreUTC(t *testing.T) {
	end := time.Date(2026, 3, 31, 22, 0, 0, 0, time.UTC)
	for name, zone := range map[string]*time.Location{"Karachi": time.FixedZone("+5", 5*3600), "Denver": time.FixedZone("-7", -7*3600)} {
		for _, tc := range []struct {
			now  time.Time
			want model.Price
		}{{end, 500_000}, {end.Add(3 * time.Hour), 1_000_000 / (720 - 1)}} {
			scope := Scope{}
			if got := scope.MonthlyHeadroom(1_000_000, tc.now.In(zone)); got != tc.want {
				t.Errorf("%s: a dollar at %s UTC leaves %d an hour, want %d", name, tc.now.Format(time.DateTime), got, tc.want)
			}
		}
		s := snapshot()
		s.Time, s.Nodes = end.In(zone), s.Nodes[:1]
		s.Nodes[0].LaunchedAt = time.Date(2026, 2, 1, 0, 0, 0, 0, zone)
		if got, want := account(s, Cluster).MonthToDate, int64(30*24+22)*100_000; got != want {
			t.Errorf("%s: March has cost %d until then, want %d", name, got, want)
		}
		l := New(s)
		april := *s
		april.Time = end.Add(3 * time.Hour).In(zone)
		l = l.Advance(&april)
		if got := l.Total(); !l.Month.Equal(time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)) || got.Micro != 100_000 {
			t.Errorf("%s: month %s, %d in its first hour", name, l.Month, got.Micro)
		}
	}
}

// TestSurge: while a node and its replacement run side by side, the cheaper of
// both takes no room under a cap, for a while.
func TestSurge(t *testing.T) {
	now := time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC)
	replaced := func(started time.Time) *model.Snapshot {
		mark := &model.Command{ID: "x", Nodes: []string{"a"}, Replacements: []string{"b"}, Started: started}
		return &model.Snapshot{Time: now, Pools: []model.Pool{{Name: "general"}, {Name: "gpu"}}, Nodes: []model.Node{
			{Name: "a", Claim: "a", Price: 290_000, Extra: 10_000, Command: mark},
			{Name: "b", Claim: "b", Reserved: 200_000},
			{Name: "c", Claim: "c", Price: 100_000},
		}}
	}
	// twoFor lets the second node be replaced by the same command, which costs 350
	// then, and deletes the first one.
	twoFor := func(replacement bool) func(*model.Snapshot) {
		return func(s *model.Snapshot) {
			s.Nodes[0].State, s.Nodes[2].Command = model.Deleting, s.Nodes[0].Command
			s.Nodes[1].Reserved, s.Nodes[1].Price = 0, 350_000
			if replacement {
				s.Nodes[1].State = model.Deleting
			}
		}
	}
	cases := map[string]struct {
		reason string
		change func(*model.Snapshot)
		since  time.Duration
		want   model.Price
	}{
		"in flight": {reason: "300 + 100 of 1,000 are used: the replacement costs less than what it replaces", want: 600_000},
		"running": {reason: "its price is known, and the old node is being drained", change: func(s *model.Snapshot) {
			s.Nodes[0].State, s.Nodes[1].Reserved, s.Nodes[1].Price = model.Deleting, 0, 150_000
		}, want: 600_000},
		"dearer":        {reason: "the difference of 200 counts", change: func(s *model.Snapshot) { s.Nodes[1].Reserved = 500_000 }, want: 400_000},
		"too long":      {reason: "nobody surges for ever", since: SurgeFor, want: 400_000},
		"not there yet": {reason: "nothing is paid twice", change: func(s *model.Snapshot) { s.Nodes = append(s.Nodes[:1], s.Nodes[2:]...) }, want: 600_000},
		"two nodes":     {reason: "400 go for 350: what is cheaper is paid twice", change: twoFor(false), want: 600_000},
		"one taken back": {reason: "of the pair that is left one goes: 300, which are deleted, and 350 are 350", change: func(s *model.Snapshot) {
			twoFor(false)(s)
			s.Nodes[2].Command = nil
		}, want: 550_000},
		"and gone": {reason: "its end changes nothing", change: func(s *model.Snapshot) {
			twoFor(false)(s)
			s.Nodes = s.Nodes[1:]
			s.Nodes[1].Command = nil
		}, want: 550_000},
		"replacement goes, too": {reason: "as long as both are there, one is paid twice", change: twoFor(true), want: 600_000},
		"another pool":          {reason: "the scope pays only for what it has", change: func(s *model.Snapshot) { s.Nodes[0].Pool = 1 }, want: 700_000},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := replaced(now.Add(-tc.since))
			if tc.change != nil {
				tc.change(s)
			}
			scope := account(s, "nodepool/general")
			if got := scope.HourlyHeadroom(1_000_000); got != tc.want {
				t.Errorf("%s: %d are left, want %d (%+v)", tc.reason, got, tc.want, scope)
			}
		})
	}
}

// TestKnown: a name of a scope has a kind and all that the kind needs.
func TestKnown(t *testing.T) {
	for name, want := range map[string]bool{
		"cluster": true, "nodepool/gpu": true, "namespace/shop": true, "label/team=ml": true, "label/team=": true,
		"": false, "clusters": false, "cluster/a": false, "nodepool/": false, "nodepool": false, "nodepools/x": false,
		"namespace/": false, "label/team": false, "label/=ml": false,
	} {
		if got := Known(name); got != want {
			t.Errorf("%q: known %t, want %t", name, got, want)
		}
	}
}

// TestLedgerKnowsEveryScope: the ledger has an amount for each scope with nodes that have
// cost something. A scope that it lacks would count as if nothing had been spent.
func TestLedgerKnowsEveryScope(t *testing.T) {
	s := snapshot()
	l := New(s)
	for _, scope := range Scopes(s) {
		if scope.MonthToDate > 0 && !slices.ContainsFunc(l.Scopes(), func(e model.Spent) bool { return e.Scope == scope.Name && e.Micro > 0 }) {
			t.Errorf("the ledger has nothing for %s", scope.Name)
		}
	}
}
