package aws_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/provider"
)

// TestRequestsPerNode launches many nodes of several kinds in one batch, and
// holds issue 6's figures: CreateFleet at most once for each launch template and
// set of zones (and each 200 claims), and as many describing calls in an interval
// whether there are few nodes or many.
func TestRequestsPerNode(t *testing.T) {
	kinds := []model.Option{
		option("m7i.large", "us-west-2a", model.OnDemand), option("m7i.large", "us-west-2b", model.OnDemand),
		option("m7i.xlarge", "us-west-2a", model.Spot), option("m7i.2xlarge", "us-west-2a", model.OnDemand),
	}
	few, many := requestsFor(t, kinds, 5), requestsFor(t, kinds, 40)
	if got := many["CreateFleet"]; got != len(kinds) {
		t.Errorf("%d CreateFleet calls for %d kinds of node, want one for each", got, len(kinds))
	}
	if got := many["CreateLaunchTemplate"]; got != 2 {
		t.Errorf("%d launch templates, want one on demand and one for spot", got)
	}
	for _, action := range []string{
		"DescribeInstanceStatus", "DescribeInstanceTypes", "DescribeInstanceTypeOfferings", "DescribeSpotPriceHistory", "DescribeSubnets",
		"DescribeSecurityGroups", "DescribeImages", "DescribeLaunchTemplates", "DescribeInstances",
	} {
		if few[action] != many[action] {
			t.Errorf("%s: %d calls for %d nodes, %d for %d", action, few[action], 5*len(kinds), many[action], 40*len(kinds))
		}
	}
}

// requestsFor launches each of the kinds n times at once, looks at all nodes and
// ends them, and tells the calls by action.
func requestsFor(t testing.TB, kinds []model.Option, n int) map[string]int {
	t.Helper()
	w := newWorldOf(t, "m7i.")
	w.provider.Patient()
	if _, err := w.provider.Catalog(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	ids := make([]string, n*len(kinds))
	each := func(do func(at int) error) {
		t.Helper()
		var wg sync.WaitGroup
		for at := range ids {
			wg.Go(func() {
				if err := do(at); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	attempts := make([]provider.Attempt, len(ids))
	each(func(at int) (err error) {
		attempts[at], err = w.provider.Prepare(t.Context(), spec(fmt.Sprintf("claim-%04d", at), kinds[at%len(kinds)]))
		return err
	})
	each(func(at int) error {
		i, err := w.provider.Launch(t.Context(), attempts[at])
		ids[at] = i.ProviderID
		return err
	})
	w.clock.Step(3 * time.Minute)
	before := w.requests("DescribeInstances")
	each(func(at int) error { _, err := w.provider.Get(t.Context(), ids[at]); return err })
	if got := w.requests("DescribeInstances") - before; got > 2 {
		t.Errorf("%d DescribeInstances calls for %d nodes looked at together, want one (two when the machine is slow)", got, len(ids))
	}
	before = w.requests("DescribeInstances")
	if _, err := w.provider.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.provider.Troubled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.provider.SweepTemplates(t.Context()); err != nil {
		t.Fatal(err)
	}
	interval := w.requests("DescribeInstances") - before
	each(func(at int) error { return w.provider.Terminate(t.Context(), ids[at]) })
	out := map[string]int{}
	for action := range w.server.State().Requests {
		out[action] = w.requests(action)
	}
	out["DescribeInstances"] = interval
	return out
}
