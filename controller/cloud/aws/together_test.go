package aws_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/eventually"
)

// A thousand nodes of one template cost a handful of calls.
func TestRequestsPerThousandNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	w := newEC2(t)
	before := maps.Clone(w.server.State().Requests)
	claims := claimNames(1000)
	results := launchAll(t, w.provider, w.prepareAll(t, claims, option("m7i.large", "us-west-2a", model.OnDemand)))
	wantDistinct(t, results, 1000)
	if n := w.requests("CreateFleet"); n != 5 {
		t.Errorf("%d CreateFleet calls for 1000 nodes of one template and zone, want one for each 200 claims", n)
	}
	if n := w.requests("CreateLaunchTemplate"); n != 1 {
		t.Errorf("%d CreateLaunchTemplate calls for one template, want 1", n)
	}
	eventuallyTagged(t, w, claims)

	var wg sync.WaitGroup
	for _, r := range results {
		wg.Go(func() {
			if _, err := w.provider.Get(t.Context(), r.instance.ProviderID); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := w.requests("DescribeInstances"); n > 50 {
		t.Errorf("%d DescribeInstances calls to get 1000 instances at once, want about 1000/200", n)
	}
	described := w.requests("DescribeInstances")
	w.clock.Step(3 * time.Minute)
	if list, err := w.provider.List(t.Context()); err != nil || len(list) != 1000 {
		t.Fatalf("%d instances listed, %v", len(list), err)
	}
	if n := w.requests("DescribeInstances") - described; n != 1 {
		t.Errorf("%d DescribeInstances calls to list 1000 instances, want 1", n)
	}
	for _, r := range results {
		wg.Go(func() {
			if err := w.provider.Terminate(t.Context(), r.instance.ProviderID); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := w.requests("TerminateInstances"); n > 50 || w.alive() != 0 {
		t.Errorf("%d TerminateInstances calls, %d instances left", n, w.alive())
	}
	t.Logf("requests for 1000 nodes: %v before, then %v", before, w.server.State().Requests)
}

// Fresh instances beyond one filter's worth are still listed while reads lag.
func TestManyUnseen(t *testing.T) {
	w := newEC2(t)
	w.server.Set(sim.Settings{Lag: &sim.Duration{Duration: time.Minute}})
	results := launchAll(t, w.provider, w.prepareAll(t, claimNames(450), option("m7i.large", "us-west-2a", model.OnDemand)))
	wantDistinct(t, results, 450)
	list, err := w.provider.List(t.Context())
	if err != nil || len(list) != 450 {
		t.Errorf("%d instances listed, %v; want 450", len(list), err)
	}
}

// An instance whose claim was never written on it is garbage after a while.
func TestForgottenInstance(t *testing.T) {
	w := newEC2(t)
	attempts := w.prepareAll(t, claimNames(2), option("m7i.large", "us-west-2a", model.OnDemand))
	w.order(t, sim.Fault{Action: "CreateTags", Code: "UnauthorizedOperation", Forever: true})
	launchAll(t, w.provider, attempts)
	fresh := w.newProvider(t, w.url)
	if list, err := fresh.List(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("List = %+v, %v; want nothing yet", list, err)
	}
	w.clock.Step(6 * time.Minute)
	list, err := fresh.List(t.Context())
	if err != nil || len(list) != 2 || list[0].Claim != "" || list[0].Tags[awsv1.TagLaunch] == "" {
		t.Errorf("List = %+v, %v; want two instances without claims", list, err)
	}
}

// The tags that could not be written after the launch are written when the node
// has registered; those that are there cost no call.
func TestTagClaim(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	w.classes["default"].Spec.Tags = map[string]string{"cost": "42"}
	attempts := w.prepareAll(t, claimNames(2), option("m7i.large", "us-west-2a", model.OnDemand))
	w.order(t, sim.Fault{Action: "CreateTags", Code: "UnauthorizedOperation", Count: 2})
	results := launchAll(t, w.provider, attempts)
	eventually.True(t, "both attempts to tag", func() bool { return w.requests("CreateTags") == 2 })
	w.clock.Step(3 * time.Minute)
	if got := w.living(); !slices.Equal(got, []string{"", ""}) {
		t.Fatalf("before: instances of %q, want untagged ones", got)
	}
	for range 2 {
		for claim, r := range results {
			if err := w.provider.TagClaim(t.Context(), r.instance.ProviderID, claim); err != nil {
				t.Errorf("%s: %v", claim, err)
			}
		}
	}
	w.wantLiving(t, claimNames(2)...)
	if n := w.requests("CreateTags"); n != 4 {
		t.Errorf("%d calls of CreateTags, want two that failed and one for each instance", n)
	}
	for _, i := range w.server.State().Instances {
		if i.Tags["Name"] != "general/"+i.Tags[awsv1.TagNodeClaim] || i.Tags["cost"] != "42" {
			t.Errorf("tags %v", i.Tags)
		}
	}
	wantKind(t, w.provider.TagClaim(t.Context(), "aws:///us-west-2a/i-0123456789abcdef0", "none"), provider.NotFound)
}

func TestTerminateTogether(t *testing.T) {
	w := newEC2(t)
	results := launchAll(t, w.provider, w.prepareAll(t, claimNames(3), option("m7i.large", "us-west-2a", model.OnDemand)))
	var wg sync.WaitGroup
	for _, r := range results {
		wg.Go(func() {
			if err := w.provider.Terminate(t.Context(), r.instance.ProviderID); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Go(func() {
		if err := w.provider.Terminate(t.Context(), "aws:///us-west-2a/i-0123456789abcdef0"); provider.KindOf(err) != provider.NotFound {
			t.Errorf("an unknown instance among others: %v, want NotFound", err)
		}
	})
	wg.Wait()
	if w.alive() != 0 {
		t.Errorf("%d instances left: one unknown id must not keep the others", w.alive())
	}
}
