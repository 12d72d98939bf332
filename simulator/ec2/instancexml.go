package ec2

import (
	"time"

	"spokeshave.dev/simulator/tag"
)

type reservationXML struct {
	ID        string        `xml:"reservationId"`
	Owner     string        `xml:"ownerId"`
	Instances []instanceXML `xml:"instancesSet>item"`
}

// instanceXML is an instance as DescribeInstances answers it.
//
// Size: one field for each element of EC2's answer.
type instanceXML struct {
	ID             string          `xml:"instanceId"`
	ImageID        string          `xml:"imageId"`
	State          instanceState   `xml:"instanceState"`
	PrivateDNS     string          `xml:"privateDnsName"`
	DNS            string          `xml:"dnsName"`
	Reason         string          `xml:"reason"`
	LaunchIndex    int             `xml:"amiLaunchIndex"`
	Type           string          `xml:"instanceType"`
	Launched       string          `xml:"launchTime"`
	Placement      placementXML    `xml:"placement"`
	Platform       string          `xml:"platform,omitempty"`
	Details        string          `xml:"platformDetails"`
	Monitoring     monitoringXML   `xml:"monitoring"`
	SubnetID       string          `xml:"subnetId,omitempty"`
	VPCID          string          `xml:"vpcId,omitempty"`
	Address        string          `xml:"privateIpAddress,omitempty"`
	SourceDest     bool            `xml:"sourceDestCheck"`
	Groups         []groupXML      `xml:"groupSet>item"`
	StateReason    *stateReason    `xml:"stateReason"`
	Architecture   string          `xml:"architecture"`
	RootType       string          `xml:"rootDeviceType"`
	RootName       string          `xml:"rootDeviceName"`
	Virtualization string          `xml:"virtualizationType"`
	Lifecycle      string          `xml:"instanceLifecycle,omitempty"`
	SpotRequest    string          `xml:"spotInstanceRequestId,omitempty"`
	Token          string          `xml:"clientToken"`
	Tags           []tag.Tag       `xml:"tagSet>item"`
	Hypervisor     string          `xml:"hypervisor"`
	Interfaces     []interfaceXML  `xml:"networkInterfaceSet>item"`
	Profile        *profileIDXML   `xml:"iamInstanceProfile"`
	EbsOptimized   bool            `xml:"ebsOptimized"`
	ENA            bool            `xml:"enaSupport"`
	CPU            *cpuOptions     `xml:"cpuOptions"`
	Metadata       metadataOptions `xml:"metadataOptions"`
	Reservation    string          `xml:"capacityReservationId,omitempty"`
	// Draws is what the launch said of reservations.
	Draws *capacityReservation `xml:"capacityReservationSpecification"`
}

type monitoringXML struct {
	State string `xml:"state"`
}

type groupXML struct {
	ID   string `xml:"groupId"`
	Name string `xml:"groupName"`
}

type profileIDXML struct {
	ARN string `xml:"arn"`
	ID  string `xml:"id"`
}

type interfaceXML struct {
	ID       string     `xml:"networkInterfaceId"`
	SubnetID string     `xml:"subnetId"`
	VPCID    string     `xml:"vpcId"`
	Owner    string     `xml:"ownerId"`
	Status   string     `xml:"status"`
	Address  string     `xml:"privateIpAddress"`
	DNS      string     `xml:"privateDnsName"`
	Type     string     `xml:"interfaceType"`
	Groups   []groupXML `xml:"groupSet>item"`
}

// instanceXML is what DescribeInstances says of an instance.
func (s *reader) instanceXML(i *instance, now time.Time) instanceXML {
	state := i.state(now)
	out := instanceXML{
		ID: i.id, ImageID: i.spec.image.id, State: state, Type: i.spec.kind.Name, Launched: i.launched.UTC().Format(isoMillis),
		Placement: placementXML{AvailabilityZone: i.spec.zone.Name, AvailabilityZoneID: i.spec.zone.ID, Tenancy: "default"},
		Platform:  i.spec.image.platform(), Details: i.spec.image.details(), Monitoring: monitoringXML{"disabled"},
		Architecture: i.spec.image.arch, RootType: "ebs", RootName: i.spec.image.rootDevice, Virtualization: "hvm",
		Lifecycle: i.spotOnly(), SpotRequest: i.spotRequest, Token: i.token, Tags: i.tagsSeen(now).List(), Hypervisor: "xen",
		EbsOptimized: true, ENA: true, CPU: coresOf(i.spec.kind),
	}
	if m := i.spec.data.Monitoring; m != nil && m.Enabled {
		out.Monitoring.State = "enabled"
	}
	if m := i.spec.data.MetadataOptions; m != nil {
		out.Metadata = *m
	}
	if out.Draws = i.spec.data.CapacityReservation; i.drawn() != "" {
		if r := s.reservations.find(i.drawn()); r != nil && r.state(now) == "active" {
			out.Reservation = r.ID
		}
	}
	if p := i.spec.data.Placement; p != nil {
		if g := s.placements.find(p.GroupID, p.GroupName); g != nil {
			out.Placement.GroupID, out.Placement.GroupName = g.ID, g.Name
			if i.partition > 0 {
				out.Placement.PartitionNumber = &i.partition
			}
		}
	}
	if !i.endAt.IsZero() && state.Code >= shuttingDown().Code {
		why := i.reason
		out.StateReason, out.Reason = &why, why.Message
	}
	if p := i.spec.profile; p != nil {
		out.Profile = &profileIDXML{p.ARN, p.ID}
	}
	// A terminated instance has lost its network.
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/terminating-instances.html
	if state == terminated() {
		return out
	}
	for _, g := range i.spec.groups {
		out.Groups = append(out.Groups, groupXML{g.id, g.name})
	}
	out.PrivateDNS, out.Address, out.SubnetID, out.VPCID, out.SourceDest = i.dns, i.addr.String(), i.spec.subnet.id, s.network.vpcID, true
	out.Interfaces = s.interfaces(i, out.Groups)
	return out
}

func (s *reader) interfaces(i *instance, groups []groupXML) []interfaceXML {
	kind := "interface"
	if n := i.spec.data.NetworkInterfaces; len(n) > 0 && n[0].InterfaceType != "" {
		kind = n[0].InterfaceType
	}
	return []interfaceXML{{
		ID: s.ids.Fixed("eni", i.id), SubnetID: i.spec.subnet.id, VPCID: s.network.vpcID, Owner: s.account.ID,
		Status: "in-use", Address: i.addr.String(), DNS: i.dns, Type: kind, Groups: groups,
	}}
}
