package aws_test

import (
	"testing"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/cmd/ec2sim/sim"
	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/provider"
	"spokeshave.dev/controller/provider/aws/nodeclass"
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

// Every call of the launch and terminate paths, gone wrong in every way: nothing
// is doubled, nothing leaks, and it goes on when the fault is over.
func TestFaultMatrix(t *testing.T) {
	for _, action := range []string{"CreateLaunchTemplate", "CreateFleet", "DescribeInstances", "CreateTags", "TerminateInstances"} {
		for name, fault := range faults() {
			for _, lag := range []time.Duration{0, 20 * time.Second} {
				t.Run(action+"/"+name+"/lag "+lag.String(), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t)
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

// Every call on the way to a class that is ready, and to its catalogue, gone
// wrong in every way: it gets ready, and nodes are launched from it.
func TestFaultMatrixOfClasses(t *testing.T) {
	for _, action := range []string{
		"DescribeSubnets", "DescribeSecurityGroups", "DescribeImages", "GetParameter", "DescribeCluster",
		"GetInstanceProfile", "CreateInstanceProfile", "AddRoleToInstanceProfile",
		"DescribeCapacityReservations", "DescribePlacementGroups",
		"DescribeInstanceTypes", "DescribeInstanceTypeOfferings", "DescribeSpotPriceHistory", "GetProducts",
	} {
		for name, fault := range faults() {
			t.Run(action+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorldOf(t, "m7i.")
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
					resolver := nodeclass.Resolver{Cloud: w.provider, Clock: w.clock.Now}
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

// Every call of upkeep and of the watch on zones and instances, gone wrong in every
// way: what was known holds, and it goes on when the fault is over.
func TestFaultMatrixOfUpkeep(t *testing.T) {
	for _, action := range []string{
		"DescribeLaunchTemplates", "DeleteLaunchTemplate", "ListInstanceProfiles", "GetInstanceProfile", "RemoveRoleFromInstanceProfile", "DeleteInstanceProfile",
		"DescribeInstanceStatus", "DescribeInstances", "GetManagedResource", "DescribeCluster",
	} {
		for name, fault := range faults() {
			t.Run(action+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newWorldOf(t, "m7i.")
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
				w.persist(t, "sweep templates", func() error { _, err := w.provider.SweepTemplates(t.Context()); return err })
				w.persist(t, "sweep profiles", func() error { _, err := w.provider.SweepProfiles(t.Context(), nil, nil); return err })
				w.persist(t, "look for trouble", func() error {
					found, err := w.provider.Troubled(t.Context())
					if err == nil && len(found) != 1 {
						t.Errorf("trouble %+v, want the end of the block", found)
					}
					return err
				})
				w.persist(t, "ask for shifts", func() error {
					on, err := w.provider.ZonalShifts(t.Context())
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

// Some of those who share a request get an instance, and the answer is lost, late
// or refused besides: the others solve again, nothing is doubled.
func TestFaultMatrixOfPartialSuccess(t *testing.T) {
	for name, fault := range faults() {
		for _, lag := range []time.Duration{0, 20 * time.Second} {
			t.Run(name+"/lag "+lag.String(), func(t *testing.T) {
				t.Parallel()
				w := newWorldOf(t, "m7i.")
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
			})
		}
	}
}

// throughLife launches an instance, looks at it, tags it and ends it, repeating
// what fails as the reconcilers do.
func (w *world) throughLife(t *testing.T) {
	t.Helper()
	s := spec("a", option("m7i.large", "us-west-2a", model.OnDemand))
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

func (w *world) persist(t *testing.T, what string, do func() error) {
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
