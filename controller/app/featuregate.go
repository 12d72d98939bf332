package app

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FeatureGates are Karpenter's feature gates, by Karpenter's names, as written
// in --feature-gates ("NodeRepair=true,StaticCapacity=false").
type FeatureGates struct {
	// NodeRepair replaces nodes whose conditions say that they are broken.
	NodeRepair bool
	// SpotToSpotConsolidation replaces spot nodes by cheaper spot nodes.
	SpotToSpotConsolidation bool
	// StaticCapacity keeps as many nodes of a NodePool as its replicas say.
	StaticCapacity bool
}

// String implements pflag.Value.
func (g *FeatureGates) String() string {
	return fmt.Sprintf("NodeRepair=%t,SpotToSpotConsolidation=%t,StaticCapacity=%t", g.NodeRepair, g.SpotToSpotConsolidation, g.StaticCapacity)
}

// Type implements pflag.Value.
func (*FeatureGates) Type() string { return "gates" }

// Set implements pflag.Value. Gates that are not named keep their value.
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

// turn switches a gate. What this version does not have is refused instead of
// being ignored.
func (g *FeatureGates) turn(name string, on bool) error {
	known := map[string]*bool{
		"NodeRepair": &g.NodeRepair, "SpotToSpotConsolidation": &g.SpotToSpotConsolidation, "StaticCapacity": &g.StaticCapacity,
	}
	absent := []string{"CapacityBuffer", "NodeOverlay"}
	switch gate := known[name]; {
	case name == "ReservedCapacity":
		// Which reservations are used, the EC2NodeClasses say alone.
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
