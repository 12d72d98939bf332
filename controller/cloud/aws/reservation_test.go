package aws_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

// reserve makes reservations for team shaves, and has the class select them.
func (w *simulatedEC2) reserve(t *testing.T, all ...sim.Reservation) {
	t.Helper()
	for i := range all {
		all[i].Tags = map[string]string{"team": "shaves"}
	}
	if _, err := w.server.Reserve(all); err != nil {
		t.Fatal(err)
	}
	c := w.classes["default"]
	c.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "shaves"}}}
	w.resolve(t, c)
}

// reserved are the reserved offerings of the class, in words.
func (w *simulatedEC2) reserved(t *testing.T) []string {
	t.Helper()
	w.catalog(t, "default") // wants reservations that are not known
	w.clock.Step(10 * time.Second)
	c := w.catalog(t, "default")
	var out []string
	for i := range c.Types {
		for _, o := range c.Types[i].Offerings {
			if o.CapacityType == model.Reserved {
				out = append(out, fmt.Sprintf("%s %s %s free %d %v", c.Types[i].Name, o.Zone, o.Reservation.ID, o.Reservation.Free, o.Available))
			}
		}
	}
	return out
}

func (w *simulatedEC2) drawn() []string {
	var out []string
	for _, i := range w.server.State().Instances {
		out = append(out, i.Reservation)
	}
	slices.Sort(out)
	return out
}

func TestReservedLaunch(t *testing.T) {
	w := newEC2(t)
	w.reserve(t, sim.Reservation{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 1})
	if diff := cmp.Diff([]string{"m7i.large us-west-2a cr-01 free 1 true"}, w.reserved(t)); diff != "" {
		t.Errorf("offerings (-want +got):\n%s", diff)
	}
	s := spec("a", option("m7i.large", "us-west-2a", model.Reserved), option("m7i.large", "us-west-2a", model.OnDemand))
	got, err := w.provider.Launch(t.Context(), w.prepare(t, s))
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{
		awsv1.LabelCapacityReservationID: "cr-01", awsv1.LabelCapacityReservationType: "default", awsv1.LabelCapacityReservationInterruptible: "false",
	}
	if diff := cmp.Diff(labels, got.Labels); diff != "" || got.CapacityType != model.Reserved {
		t.Errorf("launched %s with labels (-want +got):\n%s", got.CapacityType, diff)
	}
	seen, err := w.provider.Get(t.Context(), got.ProviderID)
	if err != nil || seen.CapacityType != model.Reserved || seen.ReservationID != "cr-01" {
		t.Errorf("described as %s of %q, %v", seen.CapacityType, seen.ReservationID, err)
	}
	if diff := cmp.Diff([]string{"m7i.large us-west-2a cr-01 free 0 false"}, w.reserved(t)); diff != "" {
		t.Errorf("offerings after the launch (-want +got):\n%s", diff)
	}
	// A plan made before that is too late: the claim is given up and planned again.
	s.Claim = "b"
	_, err = w.provider.Launch(t.Context(), w.prepare(t, s))
	wantKind(t, err, provider.InsufficientCapacity)
	w.wantLiving(t, "a")
}

func TestReservationsTogether(t *testing.T) {
	w := newEC2(t)
	w.reserve(t,
		sim.Reservation{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 1},
		sim.Reservation{ID: "cr-02", Type: "m7i.large", Zone: "us-west-2a", Count: 2},
		sim.Reservation{ID: "cr-03", Type: "m7i.xlarge", Zone: "us-west-2b", Count: 1, Kind: "capacity-block", End: new(w.clock.Now().Add(time.Hour))})
	want := []string{"m7i.large us-west-2a  free 3 true", "m7i.xlarge us-west-2b cr-03 free 1 true"}
	if diff := cmp.Diff(want, w.reserved(t)); diff != "" {
		t.Errorf("offerings (-want +got):\n%s", diff)
	}
	for n := range 3 {
		s := spec(fmt.Sprintf("c%d", n), option("m7i.large", "us-west-2a", model.Reserved), option("m7i.xlarge", "us-west-2b", model.Reserved))
		if _, err := w.provider.Launch(t.Context(), w.prepare(t, s)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.provider.Launch(t.Context(), w.prepare(t, spec("block", option("m7i.xlarge", "us-west-2b", model.Reserved))))
	if err != nil || got.Labels[awsv1.LabelCapacityReservationType] != "capacity-block" {
		t.Errorf("launched into a block: %v, %v", got.Labels, err)
	}
	if diff := cmp.Diff([]string{"cr-01", "cr-02", "cr-02", "cr-03"}, w.drawn()); diff != "" {
		t.Errorf("drawn on (-want +got):\n%s", diff)
	}
	// A block near its end takes nobody, and its nodes drift.
	w.clock.Step(30 * time.Minute)
	w.resolve(t, w.classes["default"])
	if got := w.classes["default"].Status.CapacityReservations[2].State; got != awsv1.ReservationStateExpiring {
		t.Errorf("block in state %s, want expiring", got)
	}
	drift, err := w.provider.Drifted(t.Context(), provider.Launched{ProviderID: got.ProviderID, NodeClass: "default"})
	if err != nil || drift.Reason != provider.CapacityReservationDrift {
		t.Errorf("drift %+v, %v", drift, err)
	}
}

// A reservation that ends leaves its instances running, on demand.
func TestReservationEnds(t *testing.T) {
	w := newEC2(t)
	w.reserve(t, sim.Reservation{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 1, End: new(w.clock.Now().Add(time.Hour))})
	i, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.Reserved))))
	if err != nil {
		t.Fatal(err)
	}
	node := provider.Launched{ProviderID: i.ProviderID, NodeClass: "default", Labels: map[string]string{"karpenter.sh/capacity-type": "reserved"}}
	if drift, err := w.provider.Drifted(t.Context(), node); err != nil || drift.Reason != provider.NotDrifted {
		t.Errorf("before: drift %+v, %v", drift, err)
	}
	w.clock.Step(2 * time.Hour)
	w.resolve(t, w.classes["default"])
	if drift, err := w.provider.Drifted(t.Context(), node); err != nil || drift.Reason != provider.CapacityReservationDrift {
		t.Errorf("after: drift %+v, %v", drift, err)
	}
	_, err = w.provider.Prepare(t.Context(), spec("b", option("m7i.large", "us-west-2a", model.Reserved)))
	wantKind(t, err, provider.InsufficientCapacity)
}

// A controller that has just started knows the reservations from the class, and
// asks for their room itself.
func TestReservedAfterRestart(t *testing.T) {
	w := newEC2(t)
	w.reserve(t, sim.Reservation{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 4})
	w.provider = w.newProvider(t, w.url)
	if diff := cmp.Diff([]string{"m7i.large us-west-2a cr-01 free 4 true"}, w.reserved(t)); diff != "" {
		t.Errorf("offerings (-want +got):\n%s", diff)
	}
	w.order(t, sim.Fault{Action: "DescribeCapacityReservations", HTTPStatus: 500})
	w.provider = w.newProvider(t, w.url)
	if diff := cmp.Diff([]string{"m7i.large us-west-2a cr-01 free 0 false"}, w.reserved(t)); diff != "" {
		t.Errorf("offerings without an answer (-want +got):\n%s", diff)
	}
}

func TestReservationTerms(t *testing.T) {
	w := newEC2(t)
	w.reserve(t,
		sim.Reservation{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 1, Match: "targeted"},
		sim.Reservation{ID: "cr-02", Type: "m7g.large", Zone: "us-west-2b", Count: 1, Owner: "999999999999"})
	for name, c := range map[string]struct {
		reason string
		family string
		term   awsv1.CapacityReservationSelectorTerm
		want   []string
	}{
		"id":       {"by id", "", awsv1.CapacityReservationSelectorTerm{ID: "cr-02"}, []string{"cr-02"}},
		"owner":    {"shared by another account", "", awsv1.CapacityReservationSelectorTerm{OwnerID: "999999999999"}, []string{"cr-02"}},
		"criteria": {"open or targeted", "", awsv1.CapacityReservationSelectorTerm{InstanceMatchCriteria: "targeted"}, []string{"cr-01"}},
		"tags":     {"any value", "", awsv1.CapacityReservationSelectorTerm{Tags: map[string]string{"team": "*"}}, []string{"cr-01", "cr-02"}},
		"windows":  {"a reservation for Linux takes no Windows node", awsv1.AMIFamilyWindows2022, awsv1.CapacityReservationSelectorTerm{ID: "cr-01"}, nil},
		"gone":     {"an id that does not exist selects nothing", "", awsv1.CapacityReservationSelectorTerm{ID: "cr-99"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			class := w.classes["default"].DeepCopy()
			class.Spec.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{c.term}
			if c.family != "" {
				class.Spec.AMIFamily = &c.family
			}
			found, err := w.provider.NodeClasses().CapacityReservations(t.Context(), class)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, r := range found {
				ids = append(ids, r.ID)
			}
			if !slices.Equal(ids, c.want) {
				t.Errorf("%s: %v, want %v", c.reason, ids, c.want)
			}
		})
	}
}

func TestPlacementGroup(t *testing.T) {
	w := newEC2(t)
	if _, err := w.server.Place([]sim.PlacementGroup{{ID: "pg-01", Name: "close"}, {ID: "pg-02", Name: "other"}}); err != nil {
		t.Fatal(err)
	}
	c := w.classes["default"]
	c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("close")}
	w.resolve(t, c)
	attempt := w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.OnDemand)))
	if got := attempt.Labels[awsv1.LabelPlacementGroupID]; got != "pg-01" {
		t.Errorf("label %q, want pg-01", got)
	}
	i, err := w.provider.Launch(t.Context(), attempt)
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Step(3 * time.Minute)
	seen, err := w.provider.Get(t.Context(), i.ProviderID)
	if err != nil || seen.PlacementGroupID != "pg-01" {
		t.Errorf("launched into %q, %v", seen.PlacementGroupID, err)
	}
	node := provider.Launched{ProviderID: i.ProviderID, NodeClass: "default"}
	if drift, err := w.provider.Drifted(t.Context(), node); err != nil || drift.Reason != provider.NotDrifted {
		t.Errorf("drift %+v, %v", drift, err)
	}
	c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{ID: new("pg-02")}
	if drift, err := w.provider.Drifted(t.Context(), node); err != nil || drift.Reason != provider.PlacementGroupDrift {
		t.Errorf("drift after another group was chosen: %+v, %v", drift, err)
	}
}

// Interruptible reservations are drawn on by a request of their own, after those
// that nobody takes back.
func TestInterruptibleReservation(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	w.reserve(t,
		sim.Reservation{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 1},
		sim.Reservation{ID: "cr-02", Type: "m7i.large", Zone: "us-west-2a", Count: 2, Interruptible: true},
		sim.Reservation{ID: "cr-03", Type: "m7i.xlarge", Zone: "us-west-2b", Count: 1, Interruptible: true})
	want := []string{"m7i.large us-west-2a  free 3 true", "m7i.xlarge us-west-2b cr-03 free 1 true"}
	if diff := cmp.Diff(want, w.reserved(t)); diff != "" {
		t.Errorf("offerings (-want +got):\n%s", diff)
	}
	for n, wanted := range []struct{ id, interruptible string }{{"cr-01", "false"}, {"cr-02", "true"}, {"cr-02", "true"}, {"cr-03", "true"}} {
		s := spec(fmt.Sprintf("c%d", n), option("m7i.large", "us-west-2a", model.Reserved), option("m7i.xlarge", "us-west-2b", model.Reserved))
		i, err := w.provider.Launch(t.Context(), w.prepare(t, s))
		if err != nil {
			t.Fatal(err)
		}
		got := struct{ id, interruptible string }{i.Labels[awsv1.LabelCapacityReservationID], i.Labels[awsv1.LabelCapacityReservationInterruptible]}
		if got != wanted || i.CapacityType != model.Reserved || i.Labels[awsv1.LabelCapacityReservationType] != "default" {
			t.Errorf("launch %d drew on %+v (%v), want %+v", n, got, i.Labels, wanted)
		}
	}
	if diff := cmp.Diff([]string{"cr-01", "cr-02", "cr-02", "cr-03"}, w.drawn()); diff != "" {
		t.Errorf("drawn on (-want +got):\n%s", diff)
	}
}

// The instances of a capacity block are told of in time for a drain before EC2
// ends them, those of other reservations never.
func TestBlockEnding(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	end := w.clock.Now().Add(2 * time.Hour)
	w.reserve(t,
		sim.Reservation{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 1, Kind: "capacity-block", End: &end},
		sim.Reservation{ID: "cr-02", Type: "m7i.xlarge", Zone: "us-west-2b", Count: 1, End: &end})
	block, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", option("m7i.large", "us-west-2a", model.Reserved))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.provider.Launch(t.Context(), w.prepare(t, spec("b", option("m7i.xlarge", "us-west-2b", model.Reserved)))); err != nil {
		t.Fatal(err)
	}
	id, err := instances.InstanceID(block.ProviderID)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		reason  string
		forward time.Duration
		want    []provider.Event
	}{
		{"an hour to go", time.Hour, nil},
		{"forty minutes to go", 20 * time.Minute, []provider.Event{{
			Kind: provider.ReservationEnds, InstanceID: id, At: end.Add(-40 * time.Minute), Deadline: end.Add(-30 * time.Minute),
			Message: "capacity block cr-01 ends at 2026-08-03T12:00:00Z",
		}}},
		{"over", 41 * time.Minute, nil},
	} {
		w.clock.Step(step.forward)
		got, err := w.provider.Troubled(t.Context())
		if diff := cmp.Diff(step.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", step.reason, err, diff)
		}
	}
	if !provider.ReservationEnds.Drains() || provider.ReservationEnds.Forceful() {
		t.Error("the nodes of a block that ends are to be drained")
	}
}

// The partition is known once EC2 describes the instance.
func TestPlacementPartition(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	if _, err := w.server.Place([]sim.PlacementGroup{{ID: "pg-01", Name: "apart", Strategy: "partition", Partitions: 2}}); err != nil {
		t.Fatal(err)
	}
	c := w.classes["default"]
	c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("apart")}
	w.resolve(t, c)
	for n, want := range []string{"1", "2", "1"} {
		i, err := w.provider.Launch(t.Context(), w.prepare(t, spec(fmt.Sprintf("c%d", n), option("m7i.large", "us-west-2a", model.OnDemand))))
		if err != nil {
			t.Fatal(err)
		}
		seen, err := w.provider.Get(t.Context(), i.ProviderID)
		if got := seen.Labels[awsv1.LabelPlacementGroupPartition]; err != nil || got != want {
			t.Errorf("instance %d is in partition %q, %v; want %s", n, got, err, want)
		}
	}
}

// TestReservationsOff: with the feature gate ReservedCapacity off there are no reserved
// offerings, even where a class's status still lists reservations, and none are found for
// the status.
func TestReservationsOff(t *testing.T) {
	w := newEC2(t)
	w.reserve(t, sim.Reservation{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 1})
	if len(w.reserved(t)) != 1 || len(w.classes["default"].Status.CapacityReservations) != 1 {
		t.Fatal("the class has no reserved offering to leave out")
	}
	w.provider = w.newProvider(t, w.url, func(cfg *aws.Config) { cfg.NoReservations = true })
	if got := w.reserved(t); len(got) != 0 {
		t.Errorf("reserved offerings: %v", got)
	}
	if got, err := w.provider.NodeClasses().CapacityReservations(t.Context(), w.classes["default"]); len(got) != 0 || err != nil {
		t.Errorf("found for the status: %v, %v", got, err)
	}
	s := spec("a", option("m7i.large", "us-west-2a", model.OnDemand))
	if _, err := w.provider.Launch(t.Context(), w.prepare(t, s)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{""}, w.drawn()); diff != "" {
		t.Errorf("the instance is in a reservation (-want +got):\n%s", diff)
	}
	if len(w.classes["default"].Spec.CapacityReservationSelectorTerms) == 0 {
		t.Error("the class itself was changed")
	}
}
