package sim

import (
	"encoding/base64"
	"strconv"
	"time"
)

type describeInstances struct {
	paged
	Filters        []filter `query:"Filter"`
	IDs            []string `query:"InstanceId"`
	IncludeManaged bool     `query:"IncludeManagedResources"`
}

type reservationXML struct {
	ID        string        `xml:"reservationId"`
	Owner     string        `xml:"ownerId"`
	Instances []instanceXML `xml:"instancesSet>item"`
}

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
	Tags           []tagXML        `xml:"tagSet>item"`
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

// answerInstances lists instances by ID or filter.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstances.html
func answerInstances(s *Server, c *call, in *describeInstances) (any, error) {
	all, err := s.instancesAsked(c, in.IDs, in.paged)
	if err != nil {
		return nil, err
	}
	found, err := choose(all, in.Filters, tagged[*instance]{tags: func(i *instance) tags { return i.tags }, fields: s.instanceFields(c)})
	if err != nil {
		return nil, err
	}
	items, next, err := page(found, in.paged, 5, 1000)
	out := struct {
		Reservations []*reservationXML `xml:"reservationSet>item"`
		NextToken    string            `xml:"nextToken,omitempty"`
	}{NextToken: next}
	byID := make(map[string]*reservationXML)
	for _, i := range items {
		r := byID[i.reservation]
		if r == nil {
			r = &reservationXML{ID: i.reservation, Owner: s.cfg.Account}
			byID[i.reservation] = r
			out.Reservations = append(out.Reservations, r)
		}
		r.Instances = append(r.Instances, s.instanceXML(i, c.now))
	}
	return out, err
}

// instancesAsked are the instances named, or all; naming some and asking for
// pages exclude each other.
func (s *Server) instancesAsked(c *call, ids []string, p paged) ([]*instance, error) {
	if len(ids) > 0 {
		if p.MaxResults != nil {
			return nil, failf(codeCombination, "The parameter instancesSet cannot be used with the parameter maxResults")
		}
		return s.findInstances(c, ids)
	}
	var out []*instance
	for _, i := range s.state.order {
		if i.visible(c.now) {
			out = append(out, i)
		}
	}
	return out, nil
}

func (s *Server) instanceFields(c *call) fields[*instance] {
	return fields[*instance]{
		"architecture":            is(func(i *instance) string { return i.spec.image.arch }),
		"availability-zone":       is(func(i *instance) string { return i.spec.zone.name }),
		"availability-zone-id":    is(func(i *instance) string { return i.spec.zone.id }),
		"capacity-reservation-id": is(func(i *instance) string { return i.drawn() }),
		"client-token":            is(func(i *instance) string { return i.token }),
		"image-id":                is(func(i *instance) string { return i.spec.image.id }),
		"instance-id":             is(func(i *instance) string { return i.id }),
		"instance-lifecycle":      is(func(i *instance) string { return i.spotOnly() }),
		"instance-state-code":     is(func(i *instance) string { return strconv.Itoa(i.state(c.now).Code) }),
		"instance-state-name":     is(func(i *instance) string { return i.state(c.now).Name }),
		"instance-type":           is(func(i *instance) string { return i.spec.kind.Name }),
		"private-dns-name":        is(func(i *instance) string { return i.dns }),
		"private-ip-address":      is(func(i *instance) string { return i.addr.String() }),
		"reservation-id":          is(func(i *instance) string { return i.reservation }),
		"subnet-id":               is(func(i *instance) string { return i.spec.subnet.id }),
		"vpc-id":                  is(func(*instance) string { return s.state.vpcID }),
		"instance.group-id": func(i *instance) []string {
			var out []string
			for _, g := range i.spec.groups {
				out = append(out, g.id)
			}
			return out
		},
	}
}

// spotOnly is the lifecycle as DescribeInstances has it: empty for on-demand.
func (i *instance) spotOnly() string {
	if i.spec.spot {
		return "spot"
	}
	return ""
}

func (s *Server) instanceXML(i *instance, now time.Time) instanceXML {
	state := i.state(now)
	out := instanceXML{
		ID: i.id, ImageID: i.spec.image.id, State: state, Type: i.spec.kind.Name, Launched: i.launched.UTC().Format(isoMillis),
		Placement: placementXML{AvailabilityZone: i.spec.zone.name, AvailabilityZoneID: i.spec.zone.id, Tenancy: "default"},
		Platform:  i.spec.image.platform(), Details: i.spec.image.details(), Monitoring: monitoringXML{"disabled"},
		Architecture: i.spec.image.arch, RootType: "ebs", RootName: i.spec.image.rootDevice, Virtualization: "hvm",
		Lifecycle: i.spotOnly(), SpotRequest: i.spotRequest, Token: i.token, Tags: i.tags.list(), Hypervisor: "xen",
		EbsOptimized: true, ENA: true, CPU: coresOf(i.spec.kind),
	}
	if m := i.spec.data.Monitoring; m != nil && m.Enabled {
		out.Monitoring.State = "enabled"
	}
	if m := i.spec.data.MetadataOptions; m != nil {
		out.Metadata = *m
	}
	if out.Draws = i.spec.data.CapacityReservation; i.drawn() != "" {
		if r := s.state.reservation(i.drawn()); r != nil && r.state(now) == "active" {
			out.Reservation = r.ID
		}
	}
	if p := i.spec.data.Placement; p != nil {
		if g := s.state.placementGroup(p.GroupID, p.GroupName); g != nil {
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
		out.Profile = &profileIDXML{s.profileARN(p), p.id}
	}
	// A terminated instance has lost its network.
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/terminating-instances.html
	if state == terminated() {
		return out
	}
	for _, g := range i.spec.groups {
		out.Groups = append(out.Groups, groupXML{g.id, g.name})
	}
	out.PrivateDNS, out.Address, out.SubnetID, out.VPCID, out.SourceDest = i.dns, i.addr.String(), i.spec.subnet.id, s.state.vpcID, true
	out.Interfaces = s.interfaces(i, out.Groups)
	return out
}

func (s *Server) interfaces(i *instance, groups []groupXML) []interfaceXML {
	kind := "interface"
	if n := i.spec.data.NetworkInterfaces; len(n) > 0 && n[0].InterfaceType != "" {
		kind = n[0].InterfaceType
	}
	return []interfaceXML{{
		ID: fixedID(s.cfg.Seed, "eni", i.id), SubnetID: i.spec.subnet.id, VPCID: s.state.vpcID, Owner: s.cfg.Account,
		Status: "in-use", Address: i.addr.String(), DNS: i.dns, Type: kind, Groups: groups,
	}}
}

type instanceAttribute struct {
	ID        string `query:"InstanceId"`
	Attribute string
}

type attributeValue struct {
	Value string `xml:"value,omitempty"`
}

// answerInstanceAttribute tells an instance's type or user data.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceAttribute.html
func answerInstanceAttribute(s *Server, c *call, in *instanceAttribute) (any, error) {
	i, err := s.instance(c, in.ID)
	if err != nil {
		return nil, err
	}
	out := struct {
		ID       string          `xml:"instanceId"`
		UserData *attributeValue `xml:"userData"`
		Type     *attributeValue `xml:"instanceType"`
	}{ID: i.id}
	switch in.Attribute {
	case "userData":
		out.UserData = &attributeValue{i.spec.data.UserData}
	case "instanceType":
		out.Type = &attributeValue{i.spec.kind.Name}
	default:
		return nil, failf(codeInvalidValue, "Value (%s) for parameter attribute is invalid, or ec2sim does not know it", in.Attribute)
	}
	return out, nil
}

// userData is the instance's user data, decoded.
func (i *instance) userData() string {
	raw, err := base64.StdEncoding.DecodeString(i.spec.data.UserData)
	if err != nil {
		return ""
	}
	return string(raw)
}
