package aws_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/cloud/aws/resolve"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

// The calls of each matrix; that of the queue is in queue_test.go.
func lifeCalls() []string {
	return []string{"CreateLaunchTemplate", "CreateFleet", "DescribeInstances", "CreateTags", "TerminateInstances"}
}

func classCalls() []string {
	return []string{
		"DescribeSubnets", "DescribeSecurityGroups", "DescribeImages", "GetParameter", "DescribeCluster",
		"GetInstanceProfile", "CreateInstanceProfile", "AddRoleToInstanceProfile",
		"DescribeCapacityReservations", "DescribePlacementGroups",
		"DescribeInstanceTypes", "DescribeInstanceTypeOfferings", "DescribeSpotPriceHistory", "GetProducts",
	}
}

func upkeepCalls() []string {
	return []string{
		"DescribeLaunchTemplates", "DeleteLaunchTemplate", "ListInstanceProfiles", "GetInstanceProfile", "RemoveRoleFromInstanceProfile", "DeleteInstanceProfile",
		"DescribeInstanceStatus", "DescribeInstances", "GetManagedResource", "DescribeCluster",
	}
}

func queueCalls() []string { return []string{"GetQueueUrl", "ReceiveMessage", "DeleteMessage"} }

// The matrices have a row for every call that the code can make, and none for
// others: the interfaces of the SDK, which the IAM policy is held against, too.
func TestFaultMatrixIsWhole(t *testing.T) {
	want := map[string]bool{}
	for service := range reflect.TypeFor[client.Services]().Fields() {
		for method := range service.Type.Methods() {
			want[method.Name] = true
		}
	}
	got := map[string]bool{}
	for _, action := range slices.Concat(lifeCalls(), classCalls(), upkeepCalls(), queueCalls(), dryRunCalls()) {
		got[action] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls in the matrices (-the code makes +the matrices have):\n%s", diff)
	}
}

// Every call of the launch and terminate paths, gone wrong in every way: nothing
// is doubled, nothing leaks, and it goes on when the fault is over.
func TestFaultMatrix(t *testing.T) {
	for _, a := range accounts(t) {
		for _, action := range lifeCalls() {
			for name, fault := range faultsOf(action) {
				t.Run(a.name+"/"+action+"/"+name, func(t *testing.T) {
					t.Parallel()
					w := a.start(t)
					w.strike(t, action, fault)
					w.throughLife(t)
					w.struck(t)
				})
			}
		}
	}
}

// Every call on the way to a class that is ready, and to its catalogue, gone
// wrong in every way: it gets ready, and nodes are launched from it.
func TestFaultMatrixOfClasses(t *testing.T) {
	for _, a := range accounts(t) {
		for _, action := range classCalls() {
			for name, fault := range faultsOf(action) {
				t.Run(a.name+"/"+action+"/"+name, func(t *testing.T) {
					t.Parallel()
					w := newEC2Under(t, a.policy)
					w.server.Reset()
					if _, err := w.server.Place([]sim.PlacementGroup{{ID: "pg-01", Name: "close"}}); err != nil {
						t.Fatal(err)
					}
					if a.adopted {
						w.adopt(t)
					}
					w.provider = w.newProvider(t, w.url)
					c := w.classes["default"]
					c.Status = awsv1.EC2NodeClassStatus{}
					c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("close")}
					c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "shaves"}}}
					w.strike(t, action, fault)
					w.persist(t, "resolve", func() (err error) {
						resolver := nodeclass.Resolver{Cloud: w.provider.NodeClasses(), Clock: w.clock.Now}
						if c.Status, err = resolver.Resolve(t.Context(), c); err != nil {
							return err
						}
						if ready := meta.FindStatusCondition(c.Status.Conditions, awsv1.ConditionReady); ready.Status != metav1.ConditionTrue {
							return errors.New(ready.Message)
						}
						return nil
					})
					w.throughLife(t)
					w.struck(t)
				})
			}
		}
	}
}

// Every call of upkeep and of the watch on zones and instances, gone wrong in every
// way: what was known holds, and it goes on when the fault is over.
func TestFaultMatrixOfUpkeep(t *testing.T) {
	for _, a := range accounts(t) {
		for _, action := range upkeepCalls() {
			// Zonal shifts are watched only where that is enabled, and Karpenter's policy knows none.
			if a.karpenters && (action == "GetManagedResource" || action == "DescribeCluster") {
				continue
			}
			for name, fault := range faultsOf(action) {
				t.Run(a.name+"/"+action+"/"+name, func(t *testing.T) {
					t.Parallel()
					w := a.start(t)
					end := w.clock.Now().Add(2*time.Hour + 35*time.Minute)
					w.reserve(t, sim.Reservation{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 1, Kind: "capacity-block", End: &end})
					if _, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.Reserved)))); err != nil {
						t.Fatal(err)
					}
					w.shift(t, sim.ZonalShift{Zone: "us-west-2b"})
					w.clock.Step(2 * time.Hour)
					w.strike(t, action, fault)
					w.upkeep(t)
					if a.karpenters {
						_, err := w.provider.ZonalShifts(t.Context())
						wantKind(t, err, provider.Unauthorized)
					} else {
						w.askForShifts(t)
					}
					w.struck(t)
					if s := w.server.State(); len(s.Templates) != 0 || len(s.Profiles) != 0 {
						t.Errorf("left over: templates %v, profiles %v", s.Templates, s.Profiles)
					}
				})
			}
		}
	}
}

// upkeep does what is done from time to time, until it succeeds. What a sweep took for gone
// because of an old answer, the next one finds.
func (w *simulatedEC2) upkeep(t *testing.T) {
	t.Helper()
	emptied := func(left int) error {
		if w.refusals && left > 0 {
			return fmt.Errorf("%d are left", left)
		}
		return nil
	}
	w.persist(t, "sweep templates", func() error {
		if _, err := w.provider.NodeClasses().SweepTemplates(t.Context()); err != nil {
			return err
		}
		return emptied(len(w.server.State().Templates))
	})
	w.persist(t, "sweep profiles", func() error {
		if _, err := w.provider.NodeClasses().SweepProfiles(t.Context(), resolve.ProfileUse{}); err != nil {
			return err
		}
		return emptied(len(w.server.State().Profiles))
	})
	w.persist(t, "look for trouble", func() error {
		found, err := w.provider.Troubled(t.Context())
		if err == nil && len(found) != 1 {
			t.Errorf("trouble %+v, want the end of the block", found)
		}
		return err
	})
}

// askForShifts reads the zonal shifts, until that succeeds.
func (w *simulatedEC2) askForShifts(t *testing.T) {
	t.Helper()
	w.persist(t, "ask for shifts", func() error {
		on, err := w.provider.ZonalShifts(t.Context())
		if err == nil && len(on) != 1 {
			t.Errorf("shifts %+v, want one", on)
		}
		return err
	})
}

// Some of those who share a request get an instance, and the answer is lost, late
// or refused besides: the others solve again, nothing is doubled.
func TestFaultMatrixOfPartialSuccess(t *testing.T) {
	for _, a := range accounts(t) {
		for name, fault := range faults() {
			t.Run(a.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := a.start(t)
				o := option("m7i.large", "us-west-2a", model.OnDemand)
				w.setFree(t, new(2), o)
				attempts := w.prepareAll(t, claimNames(4), o)
				w.strike(t, "CreateFleet", fault)
				launched := map[string]bool{}
				for range 10 {
					for claim, r := range launchAll(t, w.provider, attempts) {
						switch {
						case r.err == nil:
							launched[claim] = true
						case !provider.KindOf(r.err).Definitive():
							continue
						case provider.KindOf(r.err) != provider.InsufficientCapacity:
							t.Fatalf("%s: %v", claim, r.err)
						}
						delete(attempts, claim)
					}
					if len(attempts) == 0 {
						break
					}
					w.clock.Step(3 * time.Second)
				}
				if len(attempts) > 0 || len(launched) != 2 || w.alive() != 2 {
					t.Fatalf("%d wait, %d have instances, %d run; want 0, 2 and 2", len(attempts), len(launched), w.alive())
				}
				w.setFree(t, nil, o)
				for _, claim := range claimNames(4) {
					if launched[claim] {
						continue
					}
					s := spec(claim, o)
					s.Ordinal = 1
					if _, err := w.provider.Launch(t.Context(), w.prepare(t, s)); err != nil {
						t.Errorf("%s after the shortage: %v", claim, err)
					}
				}
				if w.alive() != 4 {
					t.Errorf("%d instances for 4 claims", w.alive())
				}
				w.struck(t)
			})
		}
	}
}

// The same calls for claims that share them: one request, and joined Get and
// Terminate. Whatever goes wrong, each claim has one instance, and all of them end.
func TestFaultMatrixOfParties(t *testing.T) {
	for _, a := range accounts(t) {
		for _, action := range lifeCalls() {
			for name, fault := range faultsOf(action) {
				t.Run(a.name+"/"+action+"/"+name, func(t *testing.T) {
					t.Parallel()
					w := a.start(t)
					w.strike(t, action, fault)
					w.partyThroughLife(t, claimNames(3))
					w.struck(t)
				})
			}
		}
	}
}

// partyThroughLife launches, looks at and ends instances of claims that share a request. Each
// claim repeats what fails as the reconcilers do, at the same time as the others.
func (w *simulatedEC2) partyThroughLife(t *testing.T, claims []string) {
	t.Helper()
	ids := make([]string, len(claims))
	each := func(do func(at int)) {
		var all sync.WaitGroup
		for at := range claims {
			all.Go(func() { do(at) })
		}
		all.Wait()
	}
	each(func(at int) {
		s := spec(claims[at], option("m7i.large", "us-west-2a", model.OnDemand))
		ids[at] = w.launch(t, &s).ProviderID
	})
	if one := slices.Compact(slices.Sorted(slices.Values(ids))); len(one) != len(claims) || w.alive() != len(claims) {
		t.Fatalf("instances %v for %v, and %d run", ids, claims, w.alive())
	}
	w.clock.Step(30 * time.Second) // EC2 shows them
	if w.refusals {
		each(func(at int) {
			w.persist(t, "tag", func() error { return w.provider.TagClaim(t.Context(), ids[at], claims[at]) })
		})
	}
	eventuallyTagged(t, w, claims)
	each(func(at int) {
		w.persist(t, "get", func() error { _, err := w.provider.Get(t.Context(), ids[at]); return err })
	})
	each(func(at int) { w.persist(t, "terminate", func() error { return w.end(t, ids[at]) }) })
	w.clock.Step(time.Minute)
	list, err := w.provider.List(t.Context())
	if err != nil || len(list) != len(w.theirs) || w.alive() != 0 {
		t.Errorf("left after the end: %+v, %v; %d run", list, err, w.alive())
	}
}

// end terminates an instance; one that is gone is ended.
func (w *simulatedEC2) end(t *testing.T, id string) error {
	err := w.provider.Terminate(t.Context(), id)
	if err != nil && provider.KindOf(err) == provider.NotFound {
		return nil
	}
	return err
}

// throughLife launches an instance, looks at it, tags it and ends it, repeating
// what fails as the reconcilers do.
func (w *simulatedEC2) throughLife(t *testing.T) {
	t.Helper()
	s := spec("a", option("m7i.large", "us-west-2a", model.OnDemand))
	w.refresh(t)
	i := w.launch(t, &s)
	w.persist(t, "get", func() error { _, err := w.provider.Get(t.Context(), i.ProviderID); return err })
	w.persist(t, "tag", func() error { return w.provider.Tag(t.Context(), i.ProviderID, map[string]string{"Name": "n"}) })
	w.wantLiving(t, "a")
	w.persist(t, "terminate", func() error { return w.end(t, i.ProviderID) })
	w.clock.Step(time.Minute)
	w.persist(t, "list", func() error {
		list, err := w.provider.List(t.Context())
		if err == nil && len(list) != len(w.theirs) {
			t.Errorf("listed after the end: %+v", list)
		}
		return err
	})
	w.wantLiving(t)
}
