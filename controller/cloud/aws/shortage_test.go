package aws_test

import (
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

// What each refusal of EC2 leaves out of the next decision, and what it leaves to fall
// back on at once. The refused launch asks for c7g.xlarge in us-west-2a.
func TestWhatARefusalLeavesOut(t *testing.T) {
	const spot, onDemand = model.Spot, model.OnDemand
	type offering struct {
		instanceType, zone string
		capacityType       model.CapacityType
	}
	var (
		itself    = offering{"c7g.xlarge", "us-west-2a", spot}
		smaller   = offering{"m7g.medium", "us-west-2a", spot}
		gpu       = offering{"g5.xlarge", "us-west-2a", spot}
		elsewhere = offering{"c7g.xlarge", "us-west-2b", spot}
		asWell    = offering{"m5.xlarge", "us-west-2a", spot}
		bought    = offering{"c7g.xlarge", "us-west-2a", onDemand}
		large     = offering{"m7i.2xlarge", "us-west-2b", onDemand}
		small     = offering{"m7i.large", "us-west-2a", onDemand}
	)
	for name, c := range map[string]struct {
		reason string
		code   string
		asked  model.CapacityType
		kind   provider.Kind
		gone   []offering
		left   []offering
	}{
		"sold out":       {"one pool is empty", "InsufficientInstanceCapacity", spot, provider.InsufficientCapacity, []offering{itself}, []offering{elsewhere, asWell, bought}},
		"unfulfillable":  {"one pool is empty", "UnfulfillableCapacity", spot, provider.InsufficientCapacity, []offering{itself}, []offering{elsewhere, bought}},
		"unsupported":    {"the type is not sold there", "Unsupported", onDemand, provider.InsufficientCapacity, []offering{bought}, []offering{itself, small}},
		"not possible":   {"the type is not sold there", "UnsupportedOperation", onDemand, provider.InsufficientCapacity, []offering{bought}, []offering{itself, small}},
		"price":          {"the spot price rose", "SpotMaxPriceTooLow", spot, provider.InsufficientCapacity, []offering{itself}, []offering{asWell, bought}},
		"spot quota":     {"all spot of the quota, at once", "MaxSpotInstanceCountExceeded", spot, provider.Quota, []offering{itself, smaller, elsewhere, asWell}, []offering{gpu, bought, small}},
		"vCPU quota":     {"what is smaller may fit", "VcpuLimitExceeded", onDemand, provider.Quota, []offering{bought, large}, []offering{small, itself}},
		"spot role":      {"there is no spot without it", "AuthFailure.ServiceLinkedRoleCreationNotPermitted", spot, provider.Quota, []offering{itself, gpu, elsewhere}, []offering{bought, small, large}},
		"addresses":      {"the subnet takes no type", "InsufficientFreeAddressesInSubnet", spot, provider.InsufficientCapacity, []offering{itself, bought, small, gpu}, []offering{elsewhere, large}},
		"not authorised": {"the next launch would be refused, too", "UnauthorizedOperation", spot, provider.Unauthorized, nil, []offering{itself, bought}},
		"no such subnet": {"a person has to correct it", "InvalidSubnetID.NotFound", spot, provider.NotFound, nil, []offering{itself, bought}},
		"parameter":      {"a person has to correct it", "InvalidParameterValue", spot, provider.Invalid, nil, []offering{itself, bought}},
		"busy":           {"EC2 did not try", "RequestLimitExceeded", spot, provider.Stale, nil, []offering{itself, bought}},
	} {
		for where, fault := range map[string]sim.Fault{
			"in the answer": {Offering: &sim.Offering{}, Code: c.code, Count: 1},
			"as the answer": {Action: "CreateFleet", Code: c.code, HTTPStatus: 400, Count: 1},
		} {
			if where == "as the answer" && (c.kind == provider.Stale || strings.HasPrefix(c.code, "Unsupported")) {
				continue // of a call it says something else
			}
			t.Run(name+"/"+where, func(t *testing.T) {
				t.Parallel()
				w := newEC2(t)
				w.order(t, fault)
				_, err := w.provider.Launch(t.Context(), w.prepare(t, spec("a", option("c7g.xlarge", "us-west-2a", c.asked))))
				wantKind(t, err, c.kind)
				available := func() map[offering]bool {
					got := w.catalog(t, "default")
					out := map[offering]bool{}
					for i := range got.Types {
						for _, o := range got.Types[i].Offerings {
							out[offering{got.Types[i].Name, o.Zone, o.CapacityType}] = o.Available
						}
					}
					return out
				}
				now := available()
				for _, o := range c.gone {
					if can, known := now[o]; can || !known {
						t.Errorf("%s: %+v can be had", c.reason, o)
					}
				}
				for _, o := range c.left {
					if !now[o] {
						t.Errorf("%s: %+v cannot be had", c.reason, o)
					}
				}
				w.clock.Step(3*time.Minute + time.Second)
				for o, can := range available() {
					if !can {
						t.Fatalf("three minutes later %+v cannot be had still", o)
					}
				}
			})
		}
	}
}
