package sim

import "encoding/base64"

// templateData is what a launch template says of instances, on the wire in
// both directions.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RequestLaunchTemplateData.html
type templateData struct {
	ImageID                   string               `query:"ImageId" xml:"imageId,omitempty"`
	InstanceType              string               `xml:"instanceType,omitempty"`
	KeyName                   string               `xml:"keyName,omitempty"`
	UserData                  string               `xml:"userData,omitempty"`
	EbsOptimized              *bool                `xml:"ebsOptimized"`
	DisableAPITermination     *bool                `query:"DisableApiTermination" xml:"disableApiTermination"`
	DisableAPIStop            *bool                `query:"DisableApiStop" xml:"disableApiStop"`
	ShutdownBehavior          string               `query:"InstanceInitiatedShutdownBehavior" xml:"instanceInitiatedShutdownBehavior,omitempty"`
	IamInstanceProfile        *profileRef          `xml:"iamInstanceProfile"`
	Monitoring                *enabled             `xml:"monitoring"`
	Placement                 *placementXML        `xml:"placement"`
	MetadataOptions           *metadataOptions     `xml:"metadataOptions"`
	CPUOptions                *cpuOptions          `query:"CpuOptions" xml:"cpuOptions"`
	CreditSpecification       *credit              `xml:"creditSpecification"`
	EnclaveOptions            *enabled             `xml:"enclaveOptions"`
	MaintenanceOptions        *maintenance         `xml:"maintenanceOptions"`
	PrivateDNSNameOptions     *dnsOptions          `query:"PrivateDnsNameOptions" xml:"privateDnsNameOptions"`
	InstanceMarketOptions     *marketOptions       `xml:"instanceMarketOptions"`
	CapacityReservation       *capacityReservation `query:"CapacityReservationSpecification" xml:"capacityReservationSpecification"`
	NetworkPerformanceOptions *networkPerformance  `xml:"networkPerformanceOptions"`
	SecurityGroupIDs          []string             `query:"SecurityGroupId" xml:"securityGroupIdSet>item"`
	SecurityGroups            []string             `query:"SecurityGroup" xml:"securityGroupSet>item"`
	BlockDeviceMappings       []blockDevice        `query:"BlockDeviceMapping" xml:"blockDeviceMappingSet>item"`
	NetworkInterfaces         []networkInterface   `query:"NetworkInterface" xml:"networkInterfaceSet>item"`
	TagSpecifications         []tagSpecification   `query:"TagSpecification" xml:"tagSpecificationSet>item"`
}

type enabled struct {
	Enabled bool `xml:"enabled"`
}

type maintenance struct {
	AutoRecovery string `xml:"autoRecovery,omitempty"`
}

type networkPerformance struct {
	BandwidthWeighting string `xml:"bandwidthWeighting,omitempty"`
}

type credit struct {
	CPUCredits string `query:"CpuCredits" xml:"cpuCredits,omitempty"`
}

type dnsOptions struct {
	HostnameType string `xml:"hostnameType,omitempty"`
	A            *bool  `query:"EnableResourceNameDnsARecord" xml:"enableResourceNameDnsARecord"`
	AAAA         *bool  `query:"EnableResourceNameDnsAAAARecord" xml:"enableResourceNameDnsAAAARecord"`
}

type profileRef struct {
	ARN  string `query:"Arn" xml:"arn,omitempty"`
	Name string `xml:"name,omitempty"`
}

type placementXML struct {
	Affinity           string `xml:"affinity,omitempty"`
	AvailabilityZone   string `xml:"availabilityZone,omitempty"`
	AvailabilityZoneID string `query:"AvailabilityZoneId" xml:"availabilityZoneId,omitempty"`
	GroupID            string `query:"GroupId" xml:"groupId,omitempty"`
	GroupName          string `xml:"groupName,omitempty"`
	HostID             string `query:"HostId" xml:"hostId,omitempty"`
	PartitionNumber    *int   `xml:"partitionNumber"`
	Tenancy            string `xml:"tenancy,omitempty"`
}

type metadataOptions struct {
	HTTPEndpoint            string `query:"HttpEndpoint" xml:"httpEndpoint,omitempty"`
	HTTPProtocolIpv6        string `query:"HttpProtocolIpv6" xml:"httpProtocolIpv6,omitempty"`
	HTTPPutResponseHopLimit *int   `query:"HttpPutResponseHopLimit" xml:"httpPutResponseHopLimit"`
	HTTPTokens              string `query:"HttpTokens" xml:"httpTokens,omitempty"`
	InstanceMetadataTags    string `xml:"instanceMetadataTags,omitempty"`
}

type cpuOptions struct {
	CoreCount            *int   `xml:"coreCount"`
	ThreadsPerCore       *int   `xml:"threadsPerCore"`
	AmdSevSnp            string `xml:"amdSevSnp,omitempty"`
	NestedVirtualization string `xml:"nestedVirtualization,omitempty"`
}

type marketOptions struct {
	MarketType  string       `xml:"marketType,omitempty"`
	SpotOptions *spotOptions `xml:"spotOptions"`
}

type spotOptions struct {
	MaxPrice             string `xml:"maxPrice,omitempty"`
	SpotInstanceType     string `xml:"spotInstanceType,omitempty"`
	InterruptionBehavior string `query:"InstanceInterruptionBehavior" xml:"instanceInterruptionBehavior,omitempty"`
}

type capacityReservation struct {
	Preference string             `query:"CapacityReservationPreference" xml:"capacityReservationPreference,omitempty"`
	Target     *reservationTarget `query:"CapacityReservationTarget" xml:"capacityReservationTarget"`
}

type reservationTarget struct {
	ID       string `query:"CapacityReservationId" xml:"capacityReservationId,omitempty"`
	GroupARN string `query:"CapacityReservationResourceGroupArn" xml:"capacityReservationResourceGroupArn,omitempty"`
}

type blockDevice struct {
	DeviceName  string `xml:"deviceName,omitempty"`
	VirtualName string `xml:"virtualName,omitempty"`
	NoDevice    string `xml:"noDevice,omitempty"`
	Ebs         *ebs   `xml:"ebs"`
}

type ebs struct {
	DeleteOnTermination      *bool  `xml:"deleteOnTermination"`
	Encrypted                *bool  `xml:"encrypted"`
	Iops                     *int   `xml:"iops"`
	KmsKeyID                 string `query:"KmsKeyId" xml:"kmsKeyId,omitempty"`
	SnapshotID               string `query:"SnapshotId" xml:"snapshotId,omitempty"`
	Throughput               *int   `xml:"throughput"`
	VolumeInitializationRate *int   `xml:"volumeInitializationRate"`
	VolumeSize               *int   `xml:"volumeSize"`
	VolumeType               string `xml:"volumeType,omitempty"`
}

type networkInterface struct {
	NetworkCardIndex         *int       `xml:"networkCardIndex"`
	DeviceIndex              *int       `xml:"deviceIndex"`
	InterfaceType            string     `xml:"interfaceType,omitempty"`
	Description              string     `xml:"description,omitempty"`
	SubnetID                 string     `query:"SubnetId" xml:"subnetId,omitempty"`
	Groups                   []string   `query:"SecurityGroupId" xml:"groupSet>groupId"`
	AssociatePublicIPAddress *bool      `query:"AssociatePublicIpAddress" xml:"associatePublicIpAddress"`
	DeleteOnTermination      *bool      `xml:"deleteOnTermination"`
	Ipv4PrefixCount          *int       `xml:"ipv4PrefixCount"`
	Ipv6AddressCount         *int       `xml:"ipv6AddressCount"`
	Ipv6PrefixCount          *int       `xml:"ipv6PrefixCount"`
	PrimaryIpv6              *bool      `xml:"primaryIpv6"`
	SecondaryAddresses       *int       `query:"SecondaryPrivateIpAddressCount" xml:"secondaryPrivateIpAddressCount"`
	ConnectionTracking       *conntrack `query:"ConnectionTrackingSpecification" xml:"connectionTrackingSpecification"`
}

type conntrack struct {
	TCPEstablishedTimeout *int `query:"TcpEstablishedTimeout" xml:"tcpEstablishedTimeout"`
	UDPStreamTimeout      *int `query:"UdpStreamTimeout" xml:"udpStreamTimeout"`
	UDPTimeout            *int `query:"UdpTimeout" xml:"udpTimeout"`
}

// check is what EC2 verifies of template data as such; whether image, groups
// and profile exist shows at launch.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/launch-template-restrictions.html
func (d *templateData) check() error {
	if err := checkUserData(d.UserData); err != nil {
		return err
	}
	if p := d.IamInstanceProfile; p != nil && p.ARN != "" && p.Name != "" {
		return failf(codeCombination, "Specify either the name or the ARN of the instance profile, but not both")
	}
	if m := d.MetadataOptions; m != nil {
		if err := m.check(); err != nil {
			return err
		}
	}
	if m := d.InstanceMarketOptions; m != nil {
		if err := oneOf("marketType", m.MarketType, "spot", "capacity-block", "interruptible-capacity-reservation"); err != nil {
			return err
		}
	}
	for _, b := range d.BlockDeviceMappings {
		if err := b.check(); err != nil {
			return err
		}
	}
	for _, n := range d.NetworkInterfaces {
		if err := oneOf("interfaceType", n.InterfaceType, "interface", "efa", "efa-only"); err != nil {
			return err
		}
	}
	// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateInstanceNetworkInterfaceSpecificationRequest.html
	if len(d.NetworkInterfaces) > 0 && len(d.SecurityGroupIDs)+len(d.SecurityGroups) > 0 {
		return failf(codeCombination, "Network interfaces and an instance-level security groups may not be specified on the same request")
	}
	_, err := tagsFor(d.TagSpecifications, "", "instance", "volume", "network-interface", "spot-instances-request", "elastic-gpu")
	return err
}

// checkUserData wants base64 of at most 16 kB.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html
func checkUserData(text string) error {
	raw, err := base64.StdEncoding.DecodeString(text)
	switch {
	case err != nil:
		return failf("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
	case len(raw) > 16384:
		return failf("InvalidParameterValue", "User data is limited to 16384 bytes")
	default:
		return nil
	}
}

// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateInstanceMetadataOptionsRequest.html
func (m *metadataOptions) check() error {
	if n := m.HTTPPutResponseHopLimit; n != nil && (*n < 1 || *n > 64) {
		return failf(codeInvalidValue, "Value (%d) for parameter HttpPutResponseHopLimit is invalid. Expecting a value between 1 and 64", *n)
	}
	if err := oneOf("HttpTokens", m.HTTPTokens, "optional", "required"); err != nil {
		return err
	}
	if err := oneOf("HttpEndpoint", m.HTTPEndpoint, "enabled", "disabled"); err != nil {
		return err
	}
	if err := oneOf("HttpProtocolIpv6", m.HTTPProtocolIpv6, "enabled", "disabled"); err != nil {
		return err
	}
	return oneOf("InstanceMetadataTags", m.InstanceMetadataTags, "enabled", "disabled")
}

// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateEbsBlockDeviceRequest.html
func (b *blockDevice) check() error {
	if b.Ebs == nil {
		return nil
	}
	if err := oneOf("volumeType", b.Ebs.VolumeType, "standard", "io1", "io2", "gp2", "gp3", "sc1", "st1"); err != nil {
		return err
	}
	if n := b.Ebs.VolumeSize; n != nil && (*n < 1 || *n > 65536) {
		return failf(codeInvalidValue, "Volume of %dGiB is out of range: 1 to 65536", *n)
	}
	if n := b.Ebs.Throughput; n != nil && b.Ebs.VolumeType != "gp3" {
		return failf("InvalidParameterCombination", "The parameter throughput is not supported for %s volumes.", b.Ebs.VolumeType)
	}
	return nil
}
