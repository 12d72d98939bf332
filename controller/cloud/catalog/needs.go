package catalog

import (
	"slices"
	"strings"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// Abilities are what a type can do that a node class may need.
type Abilities struct {
	// ENA says that its network interfaces are Elastic Network Adapters.
	ENA bool
	// CardENIs are the interfaces that each network card takes, by its index.
	CardENIs             []int
	NestedVirtualization bool
	// Strategies are the kinds of placement group that take it: cluster, partition, spread.
	Strategies []string
}

// Needs are what a node class needs of a type, beyond room for pods. EC2 refuses to launch
// others.
type Needs struct {
	// Nitro is needed for timeouts of connection tracking.
	Nitro                bool
	Interfaces           []awsv1.NetworkInterface
	NestedVirtualization bool
	// PlacementStrategy is the kind of the placement group, "" for none.
	PlacementStrategy string
	// NoA1 rules out a1, which AL2023 does not run on.
	NoA1 bool
}

// needsOf returns what a class's spec says of itself. Of the placement group it names it
// does not say the kind.
func needsOf(class *awsv1.EC2NodeClass) Needs {
	spec := &class.Spec
	cpu := spec.CPUOptions
	return Needs{
		Nitro:                spec.ConnectionTracking != nil,
		Interfaces:           spec.NetworkInterfaces,
		NestedVirtualization: cpu != nil && cpu.NestedVirtualization != nil && *cpu.NestedVirtualization == "enabled",
		NoA1:                 class.AMIFamily() == awsv1.AMIFamilyAL2023,
	}
}

// meets reports whether EC2 launches the type for a class that needs this.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/security-group-connection-tracking.html
// https://docs.aws.amazon.com/linux/al2023/ug/system-requirements.html
func (t *Type) meets(n *Needs) bool {
	switch {
	case n.Nitro && t.Hypervisor != "nitro",
		n.NestedVirtualization && !t.Can.NestedVirtualization,
		n.PlacementStrategy != "" && !slices.Contains(t.Can.Strategies, n.PlacementStrategy),
		n.NoA1 && strings.HasPrefix(t.Name, "a1."):
		return false
	}
	return len(n.Interfaces) == 0 || t.takes(n.Interfaces)
}

// takes reports whether the network cards of the type take the interfaces.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-eni.html
func (t *Type) takes(wanted []awsv1.NetworkInterface) bool {
	if !t.Can.ENA {
		return false
	}
	for _, w := range wanted {
		if int(w.NetworkCardIndex) >= len(t.Can.CardENIs) || int(w.DeviceIndex) >= t.Can.CardENIs[w.NetworkCardIndex] {
			return false
		}
	}
	return efaOnly(wanted) <= t.EFAs
}

// efaOnly counts the interfaces that carry no IP.
func efaOnly(all []awsv1.NetworkInterface) int {
	n := 0
	for _, i := range all {
		if i.InterfaceType == awsv1.InterfaceTypeEFAOnly {
			n++
		}
	}
	return n
}

// abilities are those of a type of the embedded catalogue, whose source does not say.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/enhanced-networking.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/amazon-ec2-nested-virtualization.html
func abilities(t *Type) Abilities {
	family, _, _ := strings.Cut(t.Name, ".")
	category, _ := split(family)
	out := Abilities{
		ENA:      t.Hypervisor != "xen" || slices.Contains(enaOnXen, family) || t.Name == "m4.16xlarge",
		CardENIs: cardENIs(t.Name, t.ENIs), Strategies: []string{"partition", "spread"},
	}
	if category != "t" {
		out.Strategies = []string{"cluster", "partition", "spread"}
	}
	for _, prefix := range []string{"c8i", "m8i", "r8i"} {
		out.NestedVirtualization = out.NestedVirtualization || strings.HasPrefix(family, prefix) && !t.BareMetal
	}
	return out
}

// enaOnXen are the families on Xen with Elastic Network Adapters.
var enaOnXen = []string{"f1", "g3", "g3s", "h1", "i3", "p2", "p3", "r4", "x1", "x1e"} //nolint:gochecknoglobals // a constant
