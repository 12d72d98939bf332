package app

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"spokeshave.dev/controller/app/setting"
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
	// NoReservedCapacity leaves capacity reservations alone, whatever EC2NodeClasses
	// select: the gate ReservedCapacity, which is on unless it is switched off.
	NoReservedCapacity bool
	// Absent are the gates that are switched on and have no effect here, such as
	// "NodeOverlay=true", separated by commas.
	Absent string
}

// String implements pflag.Value.
func (g *FeatureGates) String() string {
	out := fmt.Sprintf("NodeRepair=%t,ReservedCapacity=%t,SpotToSpotConsolidation=%t,StaticCapacity=%t", g.NodeRepair, !g.NoReservedCapacity, g.SpotToSpotConsolidation, g.StaticCapacity)
	if g.Absent != "" {
		out += "," + g.Absent
	}
	return out
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
		name = strings.TrimSpace(name)
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		if err != nil {
			errs = append(errs, fmt.Errorf("feature gate %q: want %s=true or %s=false", each, name, name))
			continue
		}
		errs = append(errs, g.turn(name, on))
	}
	return errors.Join(errs...)
}

// turn sets a gate. Those of Karpenter that have no effect here are accepted: package
// setting says which they are. Others are an error.
func (g *FeatureGates) turn(name string, on bool) error { //nolint:revive // the value of the gate, not a mode
	switch name {
	case "NodeRepair":
		g.NodeRepair = on
	case "ReservedCapacity":
		g.NoReservedCapacity = !on
	case "SpotToSpotConsolidation":
		g.SpotToSpotConsolidation = on
	case "StaticCapacity":
		g.StaticCapacity = on
	default:
		if !setting.IsAbsentGate(name) {
			return setting.UnknownGate(name)
		}
		if on {
			g.Absent = strings.TrimPrefix(g.Absent+","+name+"=true", ",")
		}
	}
	return nil
}
