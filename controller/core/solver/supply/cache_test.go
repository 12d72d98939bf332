package supply_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/test/kit/instancetype"
)

// question is about one pool with two types in two zones, for one spec of pods.
func question() supply.Question {
	offerings := []model.Offering{instancetype.OnDemand("b", 20), instancetype.OnDemand("a", 10)}
	return supply.Question{Snapshot: &model.Snapshot{
		Pools: []model.Pool{{Name: "pool", Catalog: 0, NodeLabels: map[string]string{"team": "red"}}},
		Catalogs: []model.Catalog{instancetype.Catalog(
			instancetype.Of("small", model.Resources{model.CPU: 1000, model.PodSlots: 10}, offerings...),
			instancetype.ARM64(instancetype.Of("large", model.Resources{model.CPU: 4000, model.PodSlots: 10}, offerings...)),
		)},
		Specs: []model.PodSpec{{Requests: model.Resources{model.CPU: 100}}},
	}}
}

// TestFind: what does not matter to a table finds the one that is there, what does
// finds none.
func TestFind(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(*supply.Question)
		want   bool
	}{
		"same":        {reason: "the same question", change: func(*supply.Question) {}, want: true},
		"usage":       {reason: "limits are looked at by every solve", change: func(q *supply.Question) { q.Snapshot.Pools[0].Usage = model.Resources{model.CPU: 1} }, want: true},
		"other label": {reason: "a label of no pool's own", change: func(q *supply.Question) { q.Snapshot.Specs[0].NodeSelector = map[string]string{"x": "y"} }, want: true},
		"requirement": {reason: "the pool asks for something else", change: func(q *supply.Question) {
			q.Snapshot.Pools[0].Requirements = []model.Requirement{{Key: "x", Operator: model.Exists}}
		}},
		"denied":      {reason: "a launch is denied", change: func(q *supply.Question) { q.Denied = []model.Denied{{Pool: 0}} }},
		"blocked":     {reason: "the pool is blocked", change: func(q *supply.Question) { q.Blocked = []*model.Reason{{}} }},
		"costs":       {reason: "policies rank anew", change: func(q *supply.Question) { q.Costs = make([]supply.Costs, 1) }},
		"resource":    {reason: "a pod asks for another resource", change: func(q *supply.Question) { q.Snapshot.Specs[0].Requests = model.Resources{"example.com/gpu": 1} }},
		"new catalog": {reason: "the catalogue was read anew", change: func(q *supply.Question) { q.Snapshot.Catalogs = slices.Clone(q.Snapshot.Catalogs) }},
		"new daemons": {reason: "a DaemonSet takes room", change: func(q *supply.Question) { q.Snapshot.Daemons = make([]model.DaemonSet, 1) }},
		"best effort": {reason: "minValues are kept as far as possible", change: func(q *supply.Question) { q.Snapshot.Settings.RelaxMinValues = true }},
	} {
		t.Run(name, func(t *testing.T) {
			q, cache := question(), supply.NewCache()
			first, _ := cache.Find(&q, []int32{0})
			s := *q.Snapshot
			s.Pools, s.Specs = slices.Clone(s.Pools), slices.Clone(s.Specs)
			q.Snapshot = &s
			tc.change(&q)
			second, isNew := cache.Find(&q, []int32{0})
			if found := first == second && !isNew; found != tc.want {
				t.Errorf("%s: found %v, want %v", tc.reason, found, tc.want)
			}
		})
	}
}

// TestCacheForgets: the table used longest ago goes first.
func TestCacheForgets(t *testing.T) {
	cache := supply.NewCache()
	ask := func(n int) bool {
		q := question()
		q.Denied = make([]model.Denied, n)
		q.Snapshot.Catalogs, q.Snapshot.Daemons = nil, nil
		_, isNew := cache.Find(&q, []int32{0})
		return isNew
	}
	for n := range 8 {
		ask(n)
	}
	if ask(0) {
		t.Error("the first of eight tables is not found")
	}
	ask(8)
	if ask(0) || !ask(1) {
		t.Error("of nine tables, the one used longest ago should be forgotten, and no other")
	}
}

// TestTable lowers a small catalogue.
func TestTable(t *testing.T) {
	q := question()
	var none *supply.Cache
	table, _ := none.Find(&q, []int32{0})
	table.Lower()
	name := func(o int32) string {
		zone, _ := table.OfferLabel(o, "topology.kubernetes.io/zone")
		return table.OfferType(o).Name + " in " + zone
	}
	names := func(list []int32) (out []string) {
		for _, o := range list {
			out = append(out, name(o))
		}
		return out
	}
	if diff := cmp.Diff([]string{"large in a", "small in a", "large in b", "small in b"}, names(table.Templates[0].ByCost)); diff != "" {
		t.Errorf("offers in order of cost, then name (-want +got)\n%s", diff)
	}
	cases := map[string]struct {
		spec model.PodSpec
		want []string
	}{
		"all":          {want: []string{"large in a", "large in b", "small in a", "small in b"}},
		"zone":         {spec: model.PodSpec{NodeSelector: map[string]string{"topology.kubernetes.io/zone": "a"}}, want: []string{"large in a", "small in a"}},
		"architecture": {spec: model.PodSpec{NodeSelector: map[string]string{"kubernetes.io/arch": "amd64"}}, want: []string{"small in a", "small in b"}},
		"pool's label": {spec: model.PodSpec{NodeSelector: map[string]string{"team": "blue"}}},
		"one of two terms": {spec: model.PodSpec{Affinity: []model.Term{
			{{Key: "team", Operator: model.In, Values: []string{"blue"}}},
			{{Key: "node.kubernetes.io/instance-type", Operator: model.NotIn, Values: []string{"small"}}, {Key: "topology.kubernetes.io/zone", Operator: model.In, Values: []string{"b"}}},
		}}, want: []string{"large in b"}},
	}
	for label, c := range cases {
		t.Run(label, func(t *testing.T) {
			if diff := cmp.Diff(c.want, names(table.Selected(&c.spec).AppendTo(nil))); diff != "" {
				t.Errorf("offers (-want +got)\n%s", diff)
			}
		})
	}
}

// TestOffersByLabel: offers are grouped by the value of a label, and those without it are in no group.
func TestOffersByLabel(t *testing.T) {
	q := question()
	var none *supply.Cache
	table, _ := none.Find(&q, []int32{0})
	table.Lower()
	for name, tc := range map[string]struct {
		key  string
		want map[string]int
	}{
		"of offerings": {"topology.kubernetes.io/zone", map[string]int{"a": 2, "b": 2}},
		"of types":     {"node.kubernetes.io/instance-type", map[string]int{"small": 2, "large": 2}},
		"of the pool":  {"team", map[string]int{"red": 4}},
		"of no offer":  {"example.com/rack", map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				x, got := supply.OffersByLabel(table, tc.key), map[string]int{}
				for i, v := range x.Values {
					for _, o := range x.Offers[i].AppendTo(nil) {
						if label, ok := table.OfferLabel(o, tc.key); !ok || label != v {
							t.Errorf("offer %d of %q has %q, %t", o, v, label, ok)
						}
						got[v]++
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" || !slices.IsSorted(x.Values) {
					t.Errorf("offers by value, sorted %v (-want +got)\n%s", x.Values, diff)
				}
			}
		})
	}
}
