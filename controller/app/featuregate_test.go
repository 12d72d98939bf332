package app

import (
	"strings"
	"testing"
)

func TestFeatureGates(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, text string
		want         FeatureGates
		err          string
	}{
		"none":      {reason: "an empty value changes nothing", text: ""},
		"Karpenter": {reason: "a setting of Karpenter's chart", text: "ReservedCapacity=true,SpotToSpotConsolidation=true,NodeRepair=false,NodeOverlay=false,StaticCapacity=true,CapacityBuffer=false", want: FeatureGates{SpotToSpotConsolidation: true, StaticCapacity: true}},
		"spaces":    {reason: "people write them", text: " NodeRepair=true , ", want: FeatureGates{NodeRepair: true}},
		"absent":    {reason: "a gate of Karpenter's that has no effect is accepted; the log says so", text: "NodeOverlay=true,CapacityBuffer=true", want: FeatureGates{Absent: "NodeOverlay=true,CapacityBuffer=true"}},
		"reserved":  {reason: "capacity reservations can be switched off", text: "ReservedCapacity=false", want: FeatureGates{NoReservedCapacity: true}},
		"blanks":    {reason: "Karpenter takes blanks around the sign", text: "NodeRepair\t= true", want: FeatureGates{NodeRepair: true}},
		"unknown":   {reason: "a misspelt gate would be silently off", text: "NodeRepairs=true", err: "NodeRepairs: unknown: did you mean NodeRepair?"},
		"no value":  {reason: "a gate alone is not clear", text: "NodeRepair", err: "want NodeRepair=true"},
	} {
		t.Run(name, func(t *testing.T) {
			var got FeatureGates
			err := got.Set(tc.text)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("%s: got error %v, want one with %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil || got != tc.want {
				t.Errorf("%s: got %+v, %v, want %+v", tc.reason, got, err, tc.want)
			}
			var again FeatureGates
			if err := again.Set(got.String()); err != nil || again != got {
				t.Errorf("%q read back as %+v, %v", got.String(), again, err)
			}
		})
	}
}
