package top

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

func snapshot() *model.Snapshot {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	size := func(cpu, pods int64) model.Resources {
		return model.Resources{model.CPU: cpu, model.Memory: cpu << 20, model.PodSlots: pods}
	}
	return &model.Snapshot{
		Time: now, Pools: []model.Pool{{Name: "general"}},
		Nodes: []model.Node{
			{Name: "big", Pool: 0, InstanceType: "m5.2xlarge", Zone: "a", CapacityType: model.OnDemand, State: model.Initialized, Allocatable: size(8000, 58), Price: 384_000, Extra: 2_000, LaunchedAt: now.Add(-50 * time.Hour)},
			{Name: "small", Pool: 0, InstanceType: "m5.large", Zone: "b", CapacityType: model.Spot, State: model.Initialized, Allocatable: size(2000, 29), Price: 40_000, LaunchedAt: now.Add(-time.Minute)},
			{Name: "group", Pool: -1, State: model.Unmanaged, Allocatable: size(2000, 29)},
			{Name: "guessed", Pool: -1, PoolName: "gone", State: model.Deleting, Allocatable: size(2000, 29), Price: 9_000_000, PriceAssumed: true, LaunchedAt: now.Add(-90 * time.Minute)},
		},
		Specs: []model.PodSpec{{Requests: size(1000, 1)}},
		Pods:  []model.Pod{{Node: 0}, {Node: 0}, {Node: 1}, {Node: 1}, {Node: 2}, {Node: -1}},
	}
}

// TestTable: the dearest node first; a price that is only assumed is none; pods that wait
// are counted.
func TestTable(t *testing.T) {
	s := Of(snapshot(), "")
	s.Sort("price")
	var b strings.Builder
	if err := s.WriteTable(&b); err != nil {
		t.Fatal(err)
	}
	want := `NODE     NODEPOOL  TYPE        ZONE  BOUGHT     STATE        AGE   $/H     CPU               MEMORY            PODS
big      general   m5.2xlarge  a     on-demand  Initialized  2d2h  0.3860  ###.......  25 %  ###.......  25 %  2/58
small    general   m5.large    b     spot       Initialized  60s   0.0400  ########## 100 %  ########## 100 %  2/29
group    -         -           -     -          Unmanaged    -     -       #####.....  50 %  #####.....  50 %  1/29
guessed  gone      -           -     -          Deleting     90m   -       ..........   0 %  ..........   0 %  0/29

2 nodes with a price: 0.4260 $/h, CPU 40 % and memory 40 % requested; 1 pod without a node
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestNarrow: on a narrow terminal names and shares stay whole as long as others can go.
func TestNarrow(t *testing.T) {
	s := Of(snapshot(), "")
	s.Sort("price")
	for width, want := range map[int]string{
		100: "big      general   m5.2xlarge  a     on-demand  Initialized  2d2h  0.3860   25 %   25 %   2/58",
		80:  "big      general   m5.2xlarge  a     on-demand  2d2h  0.3860   25 %   25 %",
		60:  "big      general   m5.2xlarge  0.3860   25 %   25 %",
	} {
		var b strings.Builder
		if err := s.write(&b, width); err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(b.String(), "\n")[1]; got != want {
			t.Errorf("%d characters: %q, want %q", width, got, want)
		}
	}
}

func TestSort(t *testing.T) {
	for order, c := range map[string]struct {
		reason string
		want   string
	}{
		"price":  {"what costs most", "big small group guessed"},
		"cpu":    {"what is emptiest", "guessed big group small"},
		"memory": {"what is emptiest", "guessed big group small"},
		"age":    {"what is oldest", "big guessed small group"},
		"name":   {"", "big group guessed small"},
	} {
		s := Of(snapshot(), "")
		s.Sort(order)
		var names []string
		for _, n := range s.Nodes {
			names = append(names, n.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s (%s first): %s, want %s", order, c.reason, got, c.want)
		}
	}
	if got := len(Orders()); got != 5 {
		t.Errorf("%d orders, of which 5 are tested", got)
	}
}

// TestOfOnePool: only its nodes count, and all pods that wait.
func TestOfOnePool(t *testing.T) {
	if s := Of(snapshot(), "gone"); len(s.Nodes) != 1 || s.Total.Nodes != 0 || s.Total.Waiting != 1 {
		t.Errorf("%+v", s)
	}
}
