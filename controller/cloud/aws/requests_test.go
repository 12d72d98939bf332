package aws_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// nodeKinds are five kinds of node: two launch templates (on demand and spot), and
// several types and zones.
func nodeKinds() []model.Option {
	return []model.Option{
		option("m7i.large", "us-west-2a", model.OnDemand), option("m7i.large", "us-west-2b", model.OnDemand),
		option("m7i.xlarge", "us-west-2a", model.Spot), option("m7i.2xlarge", "us-west-2a", model.OnDemand),
		option("m7i.2xlarge", "us-west-2c", model.Spot),
	}
}

// TestRequestsPerNode launches a thousand nodes of five kinds in one batch, and
// holds issue 6's figures: CreateFleet once for each launch template and set of
// zones, and as many describing calls in an interval whether there are few nodes or
// many.
func TestRequestsPerNode(t *testing.T) {
	few, many := requestsFor(t, 5), requestsFor(t, 1000/len(nodeKinds()))
	want := map[string]int{
		"CreateFleet": len(nodeKinds()), "CreateLaunchTemplate": 2,
		"DescribeCluster": 1, "DescribeSubnets": 1, "DescribeSecurityGroups": 1, "DescribeImages": 1,
		"DescribeInstanceTypes": 1, "DescribeInstanceTypeOfferings": 1, "DescribeSpotPriceHistory": 1,
		// Those of one interval: garbage collection, looking for trouble, the sweep.
		"DescribeInstances": 1, "DescribeInstanceStatus": 3, "DescribeLaunchTemplates": 1,
		// At launch and at the end only, and by hundreds: a filter takes 200.
		"DescribeInstances to get all": 1, "TerminateInstances": 1,
	}
	if diff := cmp.Diff(want, few); diff != "" {
		t.Errorf("calls for %d nodes (-want +got):\n%s", 5*len(nodeKinds()), diff)
	}
	want["DescribeInstances to get all"], want["TerminateInstances"] = 5, 2
	if diff := cmp.Diff(want, many); diff != "" {
		t.Errorf("calls for 1000 nodes (-want +got):\n%s", diff)
	}
}

// BenchmarkRequests tells the calls for each 1,000 nodes launched, looked at and
// ended.
func BenchmarkRequests(b *testing.B) {
	for b.Loop() {
		calls := requestsFor(b, 1000/len(nodeKinds()))
		for _, action := range []string{"CreateFleet", "CreateLaunchTemplate", "DescribeInstances", "DescribeInstances to get all", "TerminateInstances"} {
			b.ReportMetric(float64(calls[action]), action[:min(len(action), 17)]+"/1000-nodes")
		}
	}
}

// requestsFor launches n nodes of each kind at once, looks at all of them and ends
// them, and tells the calls by action. CreateTags, one for each instance, and what
// has to do with neither launches nor nodes are left out.
func requestsFor(t testing.TB, n int) map[string]int {
	t.Helper()
	w := newEC2Of(t, "m7i.")
	kinds := nodeKinds()
	if _, err := w.provider.Catalog(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	ids := make([]string, n*len(kinds))
	// each does it for all nodes at the same time, repeating what may be repeated as
	// the reconcilers do.
	each := func(do func(at int) error) {
		t.Helper()
		defer w.provider.Together(t, len(ids))()
		var all sync.WaitGroup
		for at := range ids {
			all.Go(func() {
				err := do(at)
				for range 30 {
					if err == nil || provider.KindOf(err).Definitive() {
						break
					}
					err = do(at)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	attempts := make([]provider.Attempt, len(ids))
	each(func(at int) (err error) {
		s := spec(fmt.Sprintf("claim-%04d", at), kinds[at%len(kinds)])
		s.Group = provider.Group{Name: fmt.Sprintf("kind-%d", at%len(kinds)), Size: n}
		attempts[at], err = w.provider.Prepare(t.Context(), s)
		return err
	})
	each(func(at int) error {
		i, err := w.provider.Launch(t.Context(), attempts[at])
		ids[at] = i.ProviderID
		return err
	})
	if w.alive() != len(ids) {
		t.Fatalf("%d instances for %d claims", w.alive(), len(ids))
	}
	w.clock.Step(3 * time.Minute)
	out := map[string]int{}
	before := w.requests("DescribeInstances")
	each(func(at int) error { _, err := w.provider.Get(t.Context(), ids[at]); return err })
	out["DescribeInstances to get all"] = w.requests("DescribeInstances") - before
	before = w.requests("DescribeInstances")
	if list, err := w.provider.List(t.Context()); err != nil || len(list) > len(ids) {
		t.Fatalf("%d instances listed, %v", len(list), err)
	}
	if _, err := w.provider.Troubled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.provider.NodeClasses().SweepTemplates(t.Context()); err != nil {
		t.Fatal(err)
	}
	out["DescribeInstances"] = w.requests("DescribeInstances") - before
	each(func(at int) error { return w.provider.Terminate(t.Context(), ids[at]) })
	for _, action := range []string{
		"CreateFleet", "CreateLaunchTemplate", "DescribeCluster", "DescribeSubnets", "DescribeSecurityGroups", "DescribeImages",
		"DescribeInstanceTypes", "DescribeInstanceTypeOfferings", "DescribeSpotPriceHistory", "DescribeInstanceStatus",
		"DescribeLaunchTemplates", "TerminateInstances",
	} {
		out[action] = w.requests(action)
	}
	return out
}
