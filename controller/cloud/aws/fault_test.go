package aws_test

import (
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/cloud/aws/resolve"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/test/kit/ec2"
)

// faults are the ways in which one call goes wrong.
func faults() map[string]sim.Fault {
	return map[string]sim.Fault{
		"throttled":             {Code: "RequestLimitExceeded"},
		"server error":          {HTTPStatus: 500},
		"no answer":             {Cut: true},
		"timeout after success": {AfterSuccess: true},
		"error after success":   {AfterSuccess: true, HTTPStatus: 503},
	}
}

// policies are the IAM policies that the matrices run under: in short tests only that of
// Karpenter, which asks for more tags.
func policies(t *testing.T) map[string]*policy.Document {
	t.Helper()
	out := ec2.Policies(t)
	if testing.Short() {
		delete(out, "own")
	}
	return out
}

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
	for policyName, allowed := range policies(t) {
		for _, action := range lifeCalls() {
			for name, fault := range faults() {
				for _, lag := range []time.Duration{0, 20 * time.Second} {
					t.Run(policyName+"/"+action+"/"+name+"/lag "+lag.String(), func(t *testing.T) {
						t.Parallel()
						w := newEC2Under(t, allowed)
						w.server.Set(sim.Settings{Lag: &sim.Duration{Duration: lag}})
						struck := fault // both lags have the loop's
						struck.Action = action
						w.order(t, struck)
						w.throughLife(t)
						if left := w.server.State().Faults; len(left) > 0 {
							t.Errorf("the fault never struck: %+v", left)
						}
					})
				}
			}
		}
	}
}

// Every call on the way to a class that is ready, and to its catalogue, gone
// wrong in every way: it gets ready, and nodes are launched from it.
func TestFaultMatrixOfClasses(t *testing.T) {
	for policyName, allowed := range policies(t) {
		for _, action := range classCalls() {
			for name, fault := range faults() {
				t.Run(policyName+"/"+action+"/"+name, func(t *testing.T) {
					t.Parallel()
					w := newEC2Under(t, allowed)
					w.server.Reset()
					if _, err := w.server.Place([]sim.PlacementGroup{{ID: "pg-01", Name: "close"}}); err != nil {
						t.Fatal(err)
					}
					w.provider = w.newProvider(t, w.url)
					c := w.classes["default"]
					c.Status = awsv1.EC2NodeClassStatus{}
					c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("close")}
					c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "shaves"}}}
					fault.Action = action
					w.order(t, fault)
					w.persist(t, "resolve", func() (err error) {
						resolver := nodeclass.Resolver{Cloud: w.provider.NodeClasses(), Clock: w.clock.Now}
						c.Status, err = resolver.Resolve(t.Context(), c)
						return err
					})
					w.throughLife(t)
					if left := w.server.State().Faults; len(left) > 0 {
						t.Errorf("the fault never struck: %+v", left)
					}
				})
			}
		}
	}
}

// Every call of upkeep and of the watch on zones and instances, gone wrong in every
// way: what was known holds, and it goes on when the fault is over.
func TestFaultMatrixOfUpkeep(t *testing.T) {
	for policyName, allowed := range policies(t) {
		// Karpenter knows nothing of zonal shifts; they are watched only where that is enabled.
		shifts := policyName != "karpenter"
		for _, action := range upkeepCalls() {
			if !shifts && (action == "GetManagedResource" || action == "DescribeCluster") {
				continue
			}
			for name, fault := range faults() {
				t.Run(policyName+"/"+action+"/"+name, func(t *testing.T) {
					t.Parallel()
					w := newEC2Under(t, allowed)
					end := w.clock.Now().Add(2*time.Hour + 30*time.Minute)
					w.reserve(t, sim.Reservation{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 1, Kind: "capacity-block", End: &end})
					if _, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.Reserved)))); err != nil {
						t.Fatal(err)
					}
					w.shift(t, sim.ZonalShift{Zone: "us-west-2b"})
					w.clock.Step(2 * time.Hour)
					struck := fault
					struck.Action = action
					w.order(t, struck)
					w.persist(t, "sweep templates", func() error { _, err := w.provider.NodeClasses().SweepTemplates(t.Context()); return err })
					w.persist(t, "sweep profiles", func() error {
						_, err := w.provider.NodeClasses().SweepProfiles(t.Context(), resolve.ProfileUse{})
						return err
					})
					w.persist(t, "look for trouble", func() error {
						found, err := w.provider.Troubled(t.Context())
						if err == nil && len(found) != 1 {
							t.Errorf("trouble %+v, want the end of the block", found)
						}
						return err
					})
					w.persist(t, "ask for shifts", func() error {
						on, err := w.provider.ZonalShifts(t.Context())
						if !shifts {
							wantKind(t, err, provider.Unauthorized)
							return nil
						}
						if err == nil && len(on) != 1 {
							t.Errorf("shifts %+v, want one", on)
						}
						return err
					})
					if left := w.server.State().Faults; len(left) > 0 {
						t.Errorf("the fault never struck: %+v", left)
					}
					if s := w.server.State(); len(s.Templates) != 0 || len(s.Profiles) != 0 {
						t.Errorf("left over: templates %v, profiles %v", s.Templates, s.Profiles)
					}
				})
			}
		}
	}
}

// Some of those who share a request get an instance, and the answer is lost, late
// or refused besides: the others solve again, nothing is doubled.
func TestFaultMatrixOfPartialSuccess(t *testing.T) {
	for policyName, allowed := range policies(t) {
		for name, fault := range faults() {
			for _, lag := range []time.Duration{0, 20 * time.Second} {
				t.Run(policyName+"/"+name+"/lag "+lag.String(), func(t *testing.T) {
					t.Parallel()
					w := newEC2Under(t, allowed)
					w.server.Set(sim.Settings{Lag: &sim.Duration{Duration: lag}})
					o := option("m7i.large", "us-west-2a", model.OnDemand)
					w.setFree(t, new(2), o)
					attempts := w.prepareAll(t, claimNames(4), o)
					struck := fault // both lags have the loop's
					struck.Action = "CreateFleet"
					w.order(t, struck)
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
					if left := w.server.State().Faults; len(left) > 0 {
						t.Errorf("the fault never struck: %+v", left)
					}
				})
			}
		}
	}
}

// The same calls for claims that share them: one request, and joined Get and
// Terminate. Whatever goes wrong, each claim has one instance, and all of them end.
func TestFaultMatrixOfParties(t *testing.T) {
	for policyName, allowed := range policies(t) {
		for _, action := range lifeCalls() {
			for name, fault := range faults() {
				for _, lag := range []time.Duration{0, 20 * time.Second} {
					t.Run(policyName+"/"+action+"/"+name+"/lag "+lag.String(), func(t *testing.T) {
						t.Parallel()
						w := newEC2Under(t, allowed)
						w.server.Set(sim.Settings{Lag: &sim.Duration{Duration: lag}})
						struck := fault // both lags have the loop's
						struck.Action = action
						w.order(t, struck)
						o := option("m7i.large", "us-west-2a", model.OnDemand)
						claims := claimNames(3)
						attempts, ids := make([]provider.Attempt, len(claims)), make([]string, len(claims))
						// each claim repeats what fails as the reconcilers do, at the same time as the others.
						each := func(what string, do func(at int) error) {
							t.Helper()
							var all sync.WaitGroup
							for at := range claims {
								all.Go(func() { w.persist(t, what, func() error { return do(at) }) })
							}
							all.Wait()
						}
						each("prepare", func(at int) (err error) {
							attempts[at], err = w.provider.Prepare(t.Context(), spec(claims[at], o))
							return err
						})
						each("launch", func(at int) error {
							i, err := w.provider.Launch(t.Context(), attempts[at])
							ids[at] = i.ProviderID
							return err
						})
						if one := slices.Compact(slices.Sorted(slices.Values(ids))); len(one) != len(claims) || w.alive() != len(claims) {
							t.Fatalf("instances %v for %v, and %d run", ids, claims, w.alive())
						}
						w.clock.Step(30 * time.Second) // EC2 shows them
						eventuallyTagged(t, w, claims)
						each("get", func(at int) error { _, err := w.provider.Get(t.Context(), ids[at]); return err })
						each("terminate", func(at int) error {
							err := w.provider.Terminate(t.Context(), ids[at])
							if err != nil && provider.KindOf(err) == provider.NotFound {
								return nil
							}
							return err
						})
						w.clock.Step(time.Minute)
						list, err := w.provider.List(t.Context())
						if err != nil || len(list) != 0 || w.alive() != 0 {
							t.Errorf("left after the end: %+v, %v; %d run", list, err, w.alive())
						}
						if left := w.server.State().Faults; len(left) > 0 {
							t.Errorf("the fault never struck: %+v", left)
						}
					})
				}
			}
		}
	}
}

// throughLife launches an instance, looks at it, tags it and ends it, repeating
// what fails as the reconcilers do.
func (w *simulatedEC2) throughLife(t *testing.T) {
	t.Helper()
	s := spec("a", option("m7i.large", "us-west-2a", model.OnDemand))
	w.refresh(t)
	var attempt provider.Attempt
	w.persist(t, "prepare", func() (err error) { attempt, err = w.provider.Prepare(t.Context(), s); return err })
	var i provider.Instance
	w.persist(t, "launch", func() (err error) { i, err = w.provider.Launch(t.Context(), attempt); return err })
	w.persist(t, "get", func() (err error) { _, err = w.provider.Get(t.Context(), i.ProviderID); return err })
	w.persist(t, "tag", func() error { return w.provider.Tag(t.Context(), i.ProviderID, map[string]string{"Name": "n"}) })
	w.wantLiving(t, "a")
	w.persist(t, "terminate", func() error {
		err := w.provider.Terminate(t.Context(), i.ProviderID)
		if err != nil && provider.KindOf(err) == provider.NotFound {
			return nil
		}
		return err
	})
	w.clock.Step(time.Minute)
	w.persist(t, "list", func() error {
		list, err := w.provider.List(t.Context())
		if err == nil && len(list) != 0 {
			t.Errorf("listed after the end: %+v", list)
		}
		return err
	})
	w.wantLiving(t)
}

func (w *simulatedEC2) persist(t *testing.T, what string, do func() error) {
	t.Helper()
	for range 10 {
		err := do()
		if err == nil {
			return
		}
		if provider.KindOf(err).Definitive() {
			t.Fatalf("%s: a passing fault is taken for a definitive one: %v", what, err)
		}
		w.clock.Step(3 * time.Second)
	}
	t.Fatalf("%s: no success in ten tries", what)
}
