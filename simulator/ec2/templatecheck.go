package ec2

import (
	"encoding/base64"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/tag"
)

// check is what EC2 verifies of template data as such; whether image, groups
// and profile exist shows at launch.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/launch-template-restrictions.html
func (d *templateData) check() error {
	if err := checkUserData(d.UserData); err != nil {
		return err
	}
	if p := d.IamInstanceProfile; p != nil && p.ARN != "" && p.Name != "" {
		return awserr.New(awserr.InvalidCombination, "Specify either the name or the ARN of the instance profile, but not both")
	}
	if m := d.MetadataOptions; m != nil {
		if err := m.check(); err != nil {
			return err
		}
	}
	if m := d.InstanceMarketOptions; m != nil {
		if err := awserr.OneOf("marketType", m.MarketType, "spot", "capacity-block", "interruptible-capacity-reservation"); err != nil {
			return err
		}
	}
	for _, b := range d.BlockDeviceMappings {
		if err := b.check(); err != nil {
			return err
		}
	}
	if err := d.checkInterfaces(); err != nil {
		return err
	}
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateInstanceNetworkInterfaceSpecificationRequest.html
	if len(d.NetworkInterfaces) > 0 && len(d.SecurityGroupIDs)+len(d.SecurityGroups) > 0 {
		return awserr.New(awserr.InvalidCombination, "Network interfaces and an instance-level security groups may not be specified on the same request")
	}
	_, err := tag.For(d.TagSpecifications, "", "instance", "volume", "network-interface", "spot-instances-request", "elastic-gpu")
	return err
}

// checkInterfaces is what EC2 verifies of network interfaces whatever the type.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-instance-addressing.html
func (d *templateData) checkInterfaces() error {
	withIP := 0
	for i := range d.NetworkInterfaces {
		if d.NetworkInterfaces[i].InterfaceType != "efa-only" {
			withIP++
		}
	}
	for i := range d.NetworkInterfaces {
		n := &d.NetworkInterfaces[i]
		if err := awserr.OneOf("interfaceType", n.InterfaceType, "interface", "efa", "efa-only"); err != nil {
			return err
		}
		switch {
		case n.InterfaceType == "efa-only" && (n.ConnectionTracking != nil || n.AssociatePublicIPAddress != nil || n.Ipv4PrefixCount != nil ||
			n.Ipv6AddressCount != nil || n.Ipv6PrefixCount != nil || n.PrimaryIpv6 != nil):
			return awserr.New("InvalidParameterCombination", "An EFA-only network interface has no IP addresses.")
		case n.AssociatePublicIPAddress != nil && withIP > 1:
			return awserr.New(awserr.InvalidCombination, "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.")
		case n.PrimaryIpv6 != nil && *n.PrimaryIpv6 && (n.Ipv6AddressCount == nil || *n.Ipv6AddressCount < 1):
			return awserr.New(awserr.InvalidCombination, "A primary IPv6 address needs an IPv6 address on the network interface.")
		}
	}
	return nil
}

// checkUserData wants base64 of at most 16 kB.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html
func checkUserData(text string) error {
	raw, err := base64.StdEncoding.DecodeString(text)
	switch {
	case err != nil:
		return awserr.New("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	case len(raw) > 16384:
		return awserr.New("InvalidParameterValue", "User data is limited to 16384 bytes")
	default:
		return nil
	}
}

// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateInstanceMetadataOptionsRequest.html
func (m *metadataOptions) check() error {
	if n := m.HTTPPutResponseHopLimit; n != nil && (*n < 1 || *n > 64) {
		return awserr.New(awserr.InvalidValue, "Value (%d) for parameter HttpPutResponseHopLimit is invalid. Expecting a value between 1 and 64", *n)
	}
	if err := awserr.OneOf("HttpTokens", m.HTTPTokens, "optional", "required"); err != nil {
		return err
	}
	if err := awserr.OneOf("HttpEndpoint", m.HTTPEndpoint, "enabled", "disabled"); err != nil {
		return err
	}
	if err := awserr.OneOf("HttpProtocolIpv6", m.HTTPProtocolIpv6, "enabled", "disabled"); err != nil {
		return err
	}
	return awserr.OneOf("InstanceMetadataTags", m.InstanceMetadataTags, "enabled", "disabled")
}

// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateEbsBlockDeviceRequest.html
func (b *blockDevice) check() error {
	if b.Ebs == nil {
		return nil
	}
	if err := awserr.OneOf("volumeType", b.Ebs.VolumeType, "standard", "io1", "io2", "gp2", "gp3", "sc1", "st1"); err != nil {
		return err
	}
	if n := b.Ebs.VolumeSize; n != nil && (*n < 1 || *n > 65536) {
		return awserr.New(awserr.InvalidValue, "Volume of %dGiB is out of range: 1 to 65536", *n)
	}
	if n := b.Ebs.Throughput; n != nil && b.Ebs.VolumeType != "gp3" {
		return awserr.New("InvalidParameterCombination", "The parameter throughput is not supported for %s volumes.", b.Ebs.VolumeType)
	}
	return nil
}
