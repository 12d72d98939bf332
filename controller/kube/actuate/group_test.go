package actuate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

func TestLaunchGroups(t *testing.T) {
	node := func(pool int32, label string, types ...string) model.PlannedNode {
		n := model.PlannedNode{Pool: pool}
		if label != "" {
			n.Labels = map[string]string{"team": label}
		}
		for i, name := range types {
			// The cost of an option does not distinguish launches.
			n.Options = append(n.Options, model.Option{InstanceType: name, Zone: "a", CapacityType: model.Spot, Price: model.Price(i)})
		}
		return n
	}
	got := launchGroups("d", 4, []model.PlannedNode{
		node(0, "", "m", "c"), node(0, "", "m"), node(0, "", "m", "c"), node(1, "", "m", "c"), node(0, "red", "m", "c"), node(0, "", "m", "c"),
	})
	whole := provider.Group{Name: "d-4", Size: 3}
	want := []provider.Group{whole, {Name: "d-5", Size: 1}, whole, {Name: "d-7", Size: 1}, {Name: "d-8", Size: 1}, whole}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options, pool and labels tell groups apart (-want +got):\n%s", diff)
	}
}
