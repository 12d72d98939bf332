package ec2

import (
	"slices"
	"strings"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/simulator/awserr"
)

// cardENIs are the interfaces that each network card takes. Types that say nothing of
// their cards have one.
func cardENIs(t *catalog.Type) []int {
	if len(t.Can.CardENIs) > 0 {
		return t.Can.CardENIs
	}
	return []int{t.ENIs}
}

func hasENA(t *catalog.Type) bool { return t.Can.ENA || len(t.Can.CardENIs) == 0 }

func strategies(t *catalog.Type) []string {
	if len(t.Can.Strategies) > 0 {
		return t.Can.Strategies
	}
	return []string{"partition", "spread"}
}

// enclaves says whether a type can be divided for Nitro Enclaves.
// https://docs.aws.amazon.com/enclaves/latest/user/nitro-enclave.html#nitro-enclave-reqs
func enclaves(t *catalog.Type) bool {
	return t.Hypervisor == "nitro" && t.VCPU >= 4 && !strings.HasPrefix(t.Name, "t")
}

// checkType is what EC2 refuses of template data for one type: what its hardware cannot do.
func checkType(t *catalog.Type, d *templateData) error {
	for i := range d.NetworkInterfaces {
		if err := checkInterface(t, &d.NetworkInterfaces[i]); err != nil {
			return err
		}
	}
	if n := efas(d); n > t.EFAs {
		return awserr.New("InvalidParameterCombination", "EFA interfaces are not supported on %s, or not %d of them.", t.Name, n)
	}
	switch {
	case d.CPUOptions != nil && d.CPUOptions.NestedVirtualization == "enabled" && !t.Can.NestedVirtualization:
		return awserr.New("UnsupportedOperation", "Nested virtualization is not supported on %s.", t.Name)
	case d.EnclaveOptions != nil && d.EnclaveOptions.Enabled && !enclaves(t):
		return awserr.New("UnsupportedOperation", "Nitro Enclaves are not supported on %s.", t.Name)
	}
	return nil
}

// checkInterface compares an interface with the network cards of a type.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-eni.html
func checkInterface(t *catalog.Type, n *networkInterface) error {
	cards, card, device := cardENIs(t), 0, 0
	if n.NetworkCardIndex != nil {
		card = *n.NetworkCardIndex
	}
	if n.DeviceIndex != nil {
		device = *n.DeviceIndex
	}
	switch {
	case card >= len(cards):
		return awserr.New(awserr.InvalidValue, "Value (%d) for parameter networkCardIndex is invalid. %s has %d network cards.", card, t.Name, len(cards))
	case device >= cards[card]:
		return awserr.New("AttachmentLimitExceeded", "Interface count %d exceeds the limit of network card %d of %s.", device+1, card, t.Name)
	case n.ConnectionTracking != nil && t.Hypervisor == "xen":
		return awserr.New("UnsupportedOperation", "Connection tracking timeouts are not supported on %s.", t.Name)
	}
	return nil
}

// efas counts the interfaces with an Elastic Fabric Adapter.
func efas(d *templateData) int {
	n := 0
	for i := range d.NetworkInterfaces {
		if strings.HasPrefix(d.NetworkInterfaces[i].InterfaceType, "efa") {
			n++
		}
	}
	return n
}

// checkPlacement compares the placement with the group it names.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
func (s *placements) checkPlacement(t *catalog.Type, p *placementXML) error {
	if p == nil {
		return nil
	}
	if err := awserr.OneOf("Placement.Tenancy", p.Tenancy, "default", "dedicated", "host"); err != nil {
		return err
	}
	g := s.find(p.GroupID, p.GroupName)
	switch {
	case g == nil && p.GroupID+p.GroupName != "":
		return awserr.New("InvalidPlacementGroup.Unknown", "The Placement Group '%s%s' is unknown.", p.GroupID, p.GroupName)
	case p.PartitionNumber != nil && (g == nil || g.Strategy != "partition" || *p.PartitionNumber < 1 || *p.PartitionNumber > g.Partitions):
		return awserr.New(awserr.InvalidValue, "The partition number %d is not one of the placement group.", *p.PartitionNumber)
	case g != nil && !slices.Contains(strategies(t), g.Strategy):
		return awserr.New(awserr.InvalidCombination, "%s placement groups are not supported by the '%s' instance type.", g.Strategy, t.Name)
	}
	return nil
}
