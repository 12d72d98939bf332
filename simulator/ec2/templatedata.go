package ec2

import (
	"spokeshave.dev/simulator/tag"
)

// templateData is what a launch template says of instances, on the wire in
// both directions.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RequestLaunchTemplateData.html
//
// Size: one field for each element of EC2's request.
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
	TagSpecifications         []tag.Specification  `query:"TagSpecification" xml:"tagSpecificationSet>item"`
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
