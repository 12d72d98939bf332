package launchtemplate

import (
	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// networkInterface is the request for one network interface.
type networkInterface = types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest

// efaInterface is an interface with an Elastic Fabric Adapter and IP addresses. A class
// cannot ask for one: it is attached where pods request the adapters.
const efaInterface = awsv1.InterfaceType(types.NetworkInterfaceTypeEfa)

// interfaces are the network interfaces, where more than EC2's default one is needed.
// The groups are the IDs of the security groups.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateInstanceNetworkInterfaceSpecificationRequest.html
func interfaces(spec *awsv1.EC2NodeClassSpec, groups []string, b Boot) []networkInterface {
	wanted := wantedInterfaces(spec, b)
	withIP := 0
	for _, w := range wanted {
		if w.InterfaceType != awsv1.InterfaceTypeEFAOnly {
			withIP++
		}
	}
	var out []networkInterface
	for _, w := range wanted {
		n := networkInterface{
			NetworkCardIndex: sdk.Int32(w.NetworkCardIndex),
			DeviceIndex:      sdk.Int32(w.DeviceIndex),
			InterfaceType:    sdk.String(string(w.InterfaceType)),
			Groups:           groups,
		}
		if w.InterfaceType != awsv1.InterfaceTypeEFAOnly { // which carries no IP
			addresses(&n, spec, b.IPv6)
			// EC2 takes a public address, or the refusal of one, only for an instance with one
			// interface; one with several gets none by itself.
			if withIP == 1 {
				n.AssociatePublicIpAddress = spec.AssociatePublicIPAddress
			}
		}
		out = append(out, n)
	}
	return out
}

// wantedInterfaces are those of the class, else one with an adapter on each of b.EFAs
// network cards, else the default one where something is to be said of it.
func wantedInterfaces(spec *awsv1.EC2NodeClassSpec, b Boot) []awsv1.NetworkInterface {
	switch {
	case len(spec.NetworkInterfaces) > 0:
		return spec.NetworkInterfaces
	case b.EFAs > 0:
		out := make([]awsv1.NetworkInterface, 0, b.EFAs)
		for card := range int32(b.EFAs) {
			// An instance has one interface with device index 0.
			out = append(out, awsv1.NetworkInterface{NetworkCardIndex: card, DeviceIndex: min(card, 1), InterfaceType: efaInterface})
		}
		return out
	case b.IPv6, spec.AssociatePublicIPAddress != nil, spec.ConnectionTracking != nil, spec.IPPrefixCount != nil:
		return []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}}
	default:
		return nil
	}
}

// addresses says which addresses an interface gets, and how connections on it are tracked.
// Pods of an IPv6 cluster need an interface with an IPv6 address, which subnets do not
// assign by themselves; the primary one stays while the interface exists.
func addresses(n *networkInterface, spec *awsv1.EC2NodeClassSpec, ipv6 bool) { //nolint:revive // a fact about the cluster, not a mode
	if ipv6 {
		n.Ipv6AddressCount, n.PrimaryIpv6, n.Ipv6PrefixCount = sdk.Int32(1), sdk.Bool(true), spec.IPPrefixCount
	} else if *n.NetworkCardIndex == 0 && *n.DeviceIndex == 0 {
		n.Ipv4PrefixCount = spec.IPPrefixCount
	}
	if t := spec.ConnectionTracking; t != nil {
		n.ConnectionTrackingSpecification = &types.ConnectionTrackingSpecificationRequest{
			TcpEstablishedTimeout: t.TCPEstablishedTimeout, UdpStreamTimeout: t.UDPStreamTimeout, UdpTimeout: t.UDPTimeout,
		}
	}
}
