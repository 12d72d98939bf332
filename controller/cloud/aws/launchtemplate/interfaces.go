package launchtemplate

import (
	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// interfaces are the network interfaces, where the class asks for more than
// EC2's default one.
func interfaces(spec *awsv1.EC2NodeClassSpec, groups []string) []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest {
	wanted := spec.NetworkInterfaces
	if len(wanted) == 0 {
		if spec.AssociatePublicIPAddress == nil && spec.ConnectionTracking == nil && spec.IPPrefixCount == nil {
			return nil
		}
		wanted = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}}
	}
	var out []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest
	for _, w := range wanted {
		n := types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{
			NetworkCardIndex: sdk.Int32(w.NetworkCardIndex),
			DeviceIndex:      sdk.Int32(w.DeviceIndex),
			InterfaceType:    sdk.String(string(w.InterfaceType)),
			Groups:           groups,
		}
		if t := spec.ConnectionTracking; t != nil && w.InterfaceType != awsv1.InterfaceTypeEFAOnly { // which carries no IP
			n.ConnectionTrackingSpecification = &types.ConnectionTrackingSpecificationRequest{
				TcpEstablishedTimeout: t.TCPEstablishedTimeout, UdpStreamTimeout: t.UDPStreamTimeout, UdpTimeout: t.UDPTimeout,
			}
		}
		if w.NetworkCardIndex == 0 && w.DeviceIndex == 0 {
			n.Ipv4PrefixCount = spec.IPPrefixCount
			// EC2 takes a public address only for an instance with one interface.
			if len(wanted) == 1 {
				n.AssociatePublicIpAddress = spec.AssociatePublicIPAddress
			}
		}
		out = append(out, n)
	}
	return out
}
