package sim

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// launchSpec is everything that a launch has settled: template, overrides and
// defaults laid over each other.
type launchSpec struct {
	kind     *catalog.Type
	zone     zone
	subnet   *subnet
	image    *image
	spot     bool
	maxPrice model.Price
	groups   []*securityGroup
	profile  *profile
	data     templateData
	// template and version are empty for a launch without template.
	template string
	version  int
}

// option is the capacity pool that the instance comes from.
func (l *launchSpec) option() model.Option {
	return model.Option{InstanceType: l.kind.Name, Zone: l.zone.name, CapacityType: l.capacityType()}
}

func (l *launchSpec) capacityType() model.CapacityType {
	if l.spot {
		return model.Spot
	}
	return model.OnDemand
}

// resolve settles a launch from template data in which overrides are applied.
func (s *Server) resolve(d templateData, where placementXML, subnetID string) (launchSpec, error) {
	l := launchSpec{data: d}
	if l.kind = s.state.kindOf(d.InstanceType); l.kind == nil {
		return l, failf(codeInvalidValue, "Invalid value '%s' for InstanceType.", d.InstanceType)
	}
	if d.ImageID == "" {
		return l, failf(codeMissing, "The request must contain the parameter ImageId")
	}
	var err error
	if l.image, err = s.state.findImage(d.ImageID); err != nil {
		return l, err
	}
	if l.subnet, err = s.place(l.kind.Name, where, subnetID); err != nil {
		return l, err
	}
	l.zone = l.subnet.zone
	if l.groups, err = s.groupsOf(&d); err != nil {
		return l, err
	}
	if l.profile, err = s.profileOf(d.IamInstanceProfile); err != nil {
		return l, err
	}
	if want := ec2Arch(l.kind.Arch); l.image.arch != want {
		return l, failf(codeInvalidValue, "The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again.", want, l.image.arch)
	}
	return l, nil
}

// place finds the subnet: the one named, else the default one of the zone
// named, else that of the first zone that sells the type.
func (s *Server) place(typeName string, where placementXML, subnetID string) (*subnet, error) {
	zoneName := where.AvailabilityZone
	if where.AvailabilityZoneID != "" {
		z, ok := s.state.zoneByID(where.AvailabilityZoneID)
		if !ok || zoneName != "" {
			return nil, failf(codeInvalidValue, "Invalid availability zone ID: [%s]", where.AvailabilityZoneID)
		}
		zoneName = z.name
	}
	if subnetID != "" {
		sn := s.state.subnet(subnetID)
		switch {
		case sn == nil:
			return nil, failf("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", subnetID)
		case zoneName != "" && zoneName != sn.zone.name:
			return nil, failf(codeInvalidValue, "The availability zone %s is not the one of subnet '%s', %s", zoneName, subnetID, sn.zone.name)
		}
		return sn, nil
	}
	for _, z := range s.state.zones {
		sells := s.state.sales[typeName] != nil && s.state.sales[typeName].zones[z.name]
		if z.name == zoneName || (zoneName == "" && sells) {
			return s.state.defaultSubnet(z), nil
		}
	}
	return nil, failf(codeInvalidValue, "Invalid availability zone: [%s]", zoneName)
}

func (s *Server) groupsOf(d *templateData) ([]*securityGroup, error) {
	ids := d.SecurityGroupIDs
	for _, n := range d.NetworkInterfaces {
		ids = append(ids, n.Groups...)
	}
	var out []*securityGroup
	seen := make(map[string]bool)
	for _, id := range ids {
		g := s.state.group(id)
		if g == nil {
			return nil, failf("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
		}
		if !seen[id] {
			seen[id] = true
			out = append(out, g)
		}
	}
	if len(out) == 0 {
		out = append(out, s.state.groups[0])
	}
	return out, nil
}

// profileOf finds the instance profile, which must hold a role.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_switch-role-ec2_instance-profiles.html
func (s *Server) profileOf(ref *profileRef) (*profile, error) {
	if ref == nil || (ref.Name == "" && ref.ARN == "") {
		return nil, nil //nolint:nilnil // an instance without a profile is a normal instance
	}
	for _, p := range s.state.profiles {
		if p.name != ref.Name && s.profileARN(p) != ref.ARN {
			continue
		}
		if len(p.roles) == 0 {
			return nil, failf(codeInvalidValue, "IAM Instance Profile \"%s\" has no associated IAM Roles", s.profileARN(p))
		}
		return p, nil
	}
	if ref.Name != "" {
		return nil, failf(codeInvalidValue, "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", ref.Name)
	}
	return nil, failf(codeInvalidValue, "Value (%s) for parameter iamInstanceProfile.arn is invalid. Invalid IAM Instance Profile ARN", ref.ARN)
}

// available says why a pool cannot give one more instance now: what AWS
// reports for pools without capacity, above the price, or beyond the quota.
func (s *Server) available(c *call, l *launchSpec) error {
	pool := l.option()
	if f := s.poolFault(c, pool); f != nil {
		return f
	}
	price := s.state.price(pool)
	if price <= 0 {
		return failf("Unsupported", "Your requested instance type (%s) is not supported in your requested Availability Zone (%s).", pool.InstanceType, pool.Zone)
	}
	if l.spot && l.maxPrice > 0 && l.maxPrice < price {
		return failf("SpotMaxPriceTooLow", "Your Spot request price of %s is lower than the minimum required Spot request fulfillment price of %s.",
			plainDollars(l.maxPrice), plainDollars(price))
	}
	if id := l.data.target(); id != "" {
		if err := s.reservable(c, l, id); err != nil {
			return err
		}
	} else if left, bounded := s.state.pools[pool]; bounded && left <= 0 {
		return s.soldOut(pool)
	}
	if l.subnet.free() <= 0 {
		return failf("InsufficientFreeAddressesInSubnet", "There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", l.subnet.id)
	}
	return s.withinQuota(c.now, l)
}

// withinQuota checks the account's vCPU quotas.
// https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html
func (s *Server) withinQuota(now time.Time, l *launchSpec) error {
	switch {
	case l.spot && s.cfg.SpotVCPUs > 0 && s.vcpusInUse(now, model.Spot)+l.kind.VCPU > s.cfg.SpotVCPUs:
		return failf("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
	case !l.spot && s.cfg.OnDemandVCPUs > 0 && s.vcpusInUse(now, model.OnDemand)+l.kind.VCPU > s.cfg.OnDemandVCPUs:
		return failf("VcpuLimitExceeded", "You have requested more vCPU capacity than your current vCPU limit of %d allows for the instance bucket that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.", s.cfg.OnDemandVCPUs)
	default:
		return nil
	}
}

// soldOut is the error of a pool without capacity.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/troubleshooting-launch.html#troubleshooting-launch-capacity
func (s *Server) soldOut(pool model.Option) error {
	if pool.CapacityType == model.Spot {
		return failf(codeNoCapacity, "There is no Spot capacity available that matches your request.")
	}
	var others []string
	for _, z := range s.state.zones {
		if sale := s.state.sales[pool.InstanceType]; z.name != pool.Zone && sale != nil && sale.zones[z.name] {
			others = append(others, z.name)
		}
	}
	return failf(codeNoCapacity, "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). Our system will be working on provisioning additional capacity. You can currently get %s capacity by not specifying an Availability Zone in your request or choosing %s.",
		pool.InstanceType, pool.Zone, pool.InstanceType, strings.Join(others, ", "))
}

// start launches one instance of a spec that is available.
func (s *Server) start(c *call, l launchSpec, given tags, origin instance) (*instance, error) {
	addr, err := l.subnet.takeAddress()
	if err != nil {
		return nil, err
	}
	if left, bounded := s.state.pools[l.option()]; bounded && l.data.target() == "" {
		s.state.pools[l.option()] = left - 1
	}
	i := &instance{
		id: s.newID("i"), reservation: origin.reservation, spec: l, addr: addr, dns: privateDNS(s.cfg.Region, addr),
		token: origin.token, fleet: origin.fleet, launched: c.now,
		runningAt: c.now.Add(s.state.pendingDelay), seenAt: c.now.Add(s.state.lag),
	}
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html: tags
	// of the request prevail over those of the template.
	i.tags = tags{}
	for _, spec := range l.data.TagSpecifications {
		if spec.ResourceType == "instance" {
			for _, t := range spec.Tags {
				i.tags[t.Key] = t.Value
			}
		}
	}
	maps.Copy(i.tags, given)
	maps.Copy(i.tags, s.systemTags(l, origin))
	if l.spot {
		i.spotRequest = "sir-" + strings.TrimPrefix(s.newID("x"), "x-")[9:]
	}
	if p := l.data.Placement; p != nil {
		i.partition = s.partition(p)
	}
	s.state.instances[i.id] = i
	s.state.order = append(s.state.order, i)
	return i, nil
}

// systemTags are those that EC2 adds itself.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/tag-ec2-fleet.html
func (s *Server) systemTags(l launchSpec, origin instance) tags {
	out := tags{}
	if origin.fleet != "" {
		out["aws:ec2:fleet-id"] = origin.fleet
	}
	if l.template != "" {
		out["aws:ec2launchtemplate:id"] = l.template
		out["aws:ec2launchtemplate:version"] = strconv.Itoa(l.version)
	}
	return out
}

func plainDollars(p model.Price) string { return strconv.FormatFloat(p.USD(), 'f', -1, 64) }
