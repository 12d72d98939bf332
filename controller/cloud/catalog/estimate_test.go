package catalog

import (
	"math"
	"slices"
	"testing"

	"spokeshave.dev/controller/core/model"
)

func estimator(t *testing.T, region string) *Estimator {
	t.Helper()
	e, err := NewEstimator(region)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestNoTypeIsWithoutAPrice: in every region of every partition, and in regions that are
// newer than the catalogue, each type has a price, and one that no list has says so.
func TestNoTypeIsWithoutAPrice(t *testing.T) {
	types, _, err := Load("us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	types = append(types, Type{Name: "m99z.3xlarge", VCPU: 12, MemoryMiB: 1 << 15}, Type{Name: "q1.large", VCPU: 2, MemoryMiB: 1 << 13})
	for _, region := range append(Regions(), "cn-northwest-1", "ap-southeast-6", "us-iso-east-1", "xx-north-9") {
		e := estimator(t, region)
		exact := 0
		for i := range types {
			price, known := e.Price(&types[i])
			if price <= 0 {
				t.Errorf("%s: %s costs %d", region, types[i].Name, price)
			}
			if known {
				exact++
			}
		}
		if want := len(e.known); exact > want || slices.Contains(Regions(), region) && exact < want/2 {
			t.Errorf("%s: %d prices are exact, of %d in its list", region, exact, want)
		}
	}
}

// TestEstimates: prices by each of the rules.
func TestEstimates(t *testing.T) {
	for name, c := range map[string]struct {
		reason, region string
		t              Type
		exact          bool
		low, high      float64
	}{
		"listed":        {"the price list of Cape Town has it", "af-south-1", Type{Name: "m5.large", VCPU: 2}, true, 0.127, 0.127},
		"GovCloud":      {"so has that of GovCloud", "us-gov-west-1", Type{Name: "m5.large", VCPU: 2}, true, 0.121, 0.121},
		"China, a size": {"another size of the family, in CNY", "cn-north-1", Type{Name: "m5.24xlarge", VCPU: 96}, false, 48.5, 48.7},
		"China, listed": {"GPUs do not follow vCPUs: each size is listed", "cn-north-1", Type{Name: "g5.12xlarge", VCPU: 48}, true, 53.64, 53.65},
		"Ningxia":       {"nothing is listed: as in Beijing", "cn-northwest-1", Type{Name: "c5.xlarge", VCPU: 4}, false, 1.479, 1.479},
		"China, newer":  {"a family that China's list lacks costs as many times more as others of its category", "cn-north-1", Type{Name: "m7i.xlarge", VCPU: 4}, false, 1.5, 3},
		"new region":    {"as in the region next to it", "ap-southeast-6", Type{Name: "m5.large", VCPU: 2}, false, 0.120, 0.120},
		"new family":    {"the dearest of its category per vCPU", "us-east-1", Type{Name: "m99z.xlarge", VCPU: 4}, false, 0.19, 1},
	} {
		t.Run(name, func(t *testing.T) {
			price, exact := estimator(t, c.region).Price(&c.t)
			if usd := price.USD(); exact != c.exact || usd < c.low-1e-9 || usd > c.high+1e-9 {
				t.Errorf("%s: %s in %s is %v (exact %t), want %v to %v (exact %t)", c.reason, c.t.Name, c.region, usd, exact, c.low, c.high, c.exact)
			}
		})
	}
}

// TestEstimatesAreNear: prices that are known, derived as if their family were not in the
// list, are off by little; the middle one by less than 1 %, nine of ten by less than 3 %.
func TestEstimatesAreNear(t *testing.T) {
	for _, region := range []string{"eu-central-1", "ap-northeast-1", "sa-east-1", "us-gov-west-1", "af-south-1"} {
		e := estimator(t, region)
		types, _, err := Load(region)
		if err != nil {
			t.Fatal(err)
		}
		var off []float64
		for i := range types {
			want, _ := e.Price(&types[i])
			family := pricedAt(&types[i], 0).family
			without := &Estimator{reference: e.reference, ratios: e.ratios, known: slices.DeleteFunc(slices.Clone(e.known), func(p priced) bool { return p.family == family })}
			got, exact := without.Price(&types[i])
			if exact {
				t.Fatalf("%s: %s was to be derived", region, types[i].Name)
			}
			off = append(off, math.Abs(float64(got-want))/float64(want))
		}
		slices.Sort(off)
		median, ninth := off[len(off)/2], off[len(off)*9/10]
		t.Logf("%s: of %d prices the median is off by %.1f %%, nine of ten by at most %.1f %%", region, len(off), 100*median, 100*ninth)
		if median > 0.01 || ninth > 0.03 {
			t.Errorf("%s: derived prices are off by %.3f (median) and %.3f (nine of ten)", region, median, ninth)
		}
	}
}

// TestEstimatedIsSaid: an offering at a derived price says so.
func TestEstimatedIsSaid(t *testing.T) {
	types := []Type{{Name: "m9z.large", Arch: "amd64", VCPU: 2, MemoryMiB: 8192, ENIs: 3, IPv4PerENI: 10}}
	out := Lower(types, []Sale{{Type: "m9z.large", OnDemand: 5, Estimated: true, Zones: []string{"a"}, Spot: map[string]model.Price{"a": 2}}}, Options{})
	for _, o := range out.Types[0].Offerings {
		if o.Estimated != (o.CapacityType == model.OnDemand) {
			t.Errorf("%s: estimated %t", o.CapacityType, o.Estimated)
		}
	}
}
