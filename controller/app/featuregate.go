package app

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FeatureGates are those of Karpenter's feature gates that this controller has, with
// Karpenter's names. The flag is --feature-gates
// ("NodeRepair=true,StaticCapacity=false").
type FeatureGates struct {
	// NodeRepair replaces nodes whose conditions report that they are broken.
	NodeRepair bool
	// SpotToSpotConsolidation replaces spot nodes by cheaper spot nodes.
	SpotToSpotConsolidation bool
	// StaticCapacity keeps the number of nodes of a NodePool at its spec.replicas.
	StaticCapacity bool
}

// String implements pflag.Value.
func (g *FeatureGates) String() string {
	return fmt.Sprintf("NodeRepair=%t,SpotToSpotConsolidation=%t,StaticCapacity=%t", g.NodeRepair, g.SpotToSpotConsolidation, g.StaticCapacity)
}

// Type implements pflag.Value.
func (*FeatureGates) Type() string { return "gates" }

// Set implements pflag.Value. Gates that text does not name keep their value.
func (g *FeatureGates) Set(text string) error {
	var errs []error
	for each := range strings.SplitSeq(text, ",") {
		if each = strings.TrimSpace(each); each == "" {
			continue
		}
		name, value, _ := strings.Cut(each, "=")
		on, err := strconv.ParseBool(value)
		if err != nil {
			errs = append(errs, fmt.Errorf("feature gate %q: want %s=true or %s=false", each, name, name))
			continue
		}
		errs = append(errs, g.turn(name, on))
	}
	return errors.Join(errs...)
}

// turn sets a gate. Switching on a gate that this version does not have is an error and
// is not ignored.
func (g *FeatureGates) turn(name string, on bool) error {
	known := map[string]*bool{
		"NodeRepair": &g.NodeRepair, "SpotToSpotConsolidation": &g.SpotToSpotConsolidation, "StaticCapacity": &g.StaticCapacity,
	}
	absent := []string{"CapacityBuffer", "NodeOverlay"}
	switch gate := known[name]; {
	case name == "ReservedCapacity":
		// The EC2NodeClasses alone select the reservations that are used.
		return nil
	case gate != nil:
		*gate = on
		return nil
	case !slices.Contains(absent, name):
		return fmt.Errorf("feature gate %s: unknown; this version has NodeRepair, SpotToSpotConsolidation and StaticCapacity", name)
	case on:
		return fmt.Errorf("feature gate %s: this version does not have it; set %s=false, or leave it out", name, name)
	default:
		return nil
	}
}
