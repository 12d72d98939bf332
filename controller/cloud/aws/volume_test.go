package aws_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/aws"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

func TestVolumePrices(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	if err := w.server.SetVolumePrices([]sim.VolumePrice{{Type: "gp3", GiB: 0.0952, IOPS: 0.006, Throughput: 0.048}}); err != nil {
		t.Fatal(err)
	}
	w.provider = w.newProvider(t, w.url)
	if got := w.provider.VolumePrices(); got != nil {
		t.Errorf("before anything was asked: %v", got)
	}
	w.catalog(t, "default")
	// io2 is there: the list sells it by the GB-month, and the others by the GB-Mo.
	want := map[string]model.VolumePrice{
		"gp3": {GiB: 95_200, IOPS: 6_000, Throughput: 48_000}, "gp2": {GiB: 100_000},
		"io1": {GiB: 125_000, IOPS: 65_000}, "io2": {GiB: 125_000, IOPS: 65_000},
		"st1": {GiB: 45_000}, "sc1": {GiB: 15_000}, "standard": {GiB: 50_000},
	}
	if diff := cmp.Diff(want, w.provider.VolumePrices()); diff != "" {
		t.Errorf("prices (-want +got):\n%s", diff)
	}
	// What was known stays when the service does not answer, and it is asked again.
	w.order(t, sim.Fault{Action: "GetProducts", HTTPStatus: 500, Count: 2})
	w.clock.Step(13 * time.Hour)
	w.catalog(t, "default")
	if diff := cmp.Diff(want, w.provider.VolumePrices()); diff != "" {
		t.Errorf("without an answer (-want +got):\n%s", diff)
	}
	if err := w.server.SetVolumePrices([]sim.VolumePrice{{Type: "gp3", GiB: 0.1}}); err != nil {
		t.Fatal(err)
	}
	w.clock.Step(6 * time.Minute)
	w.catalog(t, "default")
	if got := w.provider.VolumePrices()["gp3"]; got != (model.VolumePrice{GiB: 100_000}) {
		t.Errorf("later: %+v, want the new price", got)
	}
	asked := w.requests("GetProducts")
	isolated := w.newProvider(t, w.url, func(c *aws.Config) { c.Isolated = true })
	if err := isolated.Sources().Refresh(t.Context()); err != nil || isolated.VolumePrices() != nil {
		t.Errorf("isolated: %v, %v; want none", isolated.VolumePrices(), err)
	}
	if n := w.requests("GetProducts") - asked; n != 0 {
		t.Errorf("isolated, and the Price List service was asked %d times", n)
	}
}

// Each of the three queries for volume prices, gone wrong in every way: what was
// known holds as a whole, never half of it, and it goes on when the fault is over.
func TestFaultMatrixOfVolumePrices(t *testing.T) {
	before := model.VolumePrice{GiB: 80_000, IOPS: 5_000, Throughput: 40_000}
	after := model.VolumePrice{GiB: 90_000, IOPS: 6_000, Throughput: 50_000}
	for query, family := range []string{"Storage", "System Operation", "Provisioned Throughput"} {
		for name, fault := range faults() {
			t.Run(family+"/"+name, func(t *testing.T) {
				t.Parallel()
				w := newEC2Of(t, "m7i.")
				w.catalog(t, "default")
				if got := w.provider.VolumePrices()["gp3"]; got != before {
					t.Fatalf("at first %+v, want %+v", got, before)
				}
				if err := w.server.SetVolumePrices([]sim.VolumePrice{{Type: "gp3", GiB: 0.09, IOPS: 0.006, Throughput: 0.05}}); err != nil {
					t.Fatal(err)
				}
				struck := fault
				struck.Action, struck.Skip = "GetProducts", 2+query // the first two ask for instances
				w.order(t, struck.Fault)
				w.clock.Step(13 * time.Hour)
				w.catalog(t, "default")
				if got := w.provider.VolumePrices()["gp3"]; got != before {
					t.Errorf("after the fault %+v, want what was known, %+v", got, before)
				}
				if left := w.server.State().Faults; len(left) > 0 {
					t.Errorf("the fault never struck: %+v", left)
				}
				w.clock.Step(6 * time.Minute)
				w.catalog(t, "default")
				if got := w.provider.VolumePrices()["gp3"]; got != after {
					t.Errorf("later %+v, want %+v", got, after)
				}
				w.throughLife(t)
			})
		}
	}
}
