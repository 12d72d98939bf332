package ec2

import (
	"maps"
	"strconv"
	"strings"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/fault"
	"spokeshave.dev/simulator/iam"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

// launcher settles launches and carries them out.
type launcher struct {
	account      ids.Account
	ids          *ids.Source
	market       *market.Market
	faults       *fault.Schedule
	profiles     Profiles
	quota        Quota
	limits       Limits
	network      *network
	images       *images
	instances    *instances
	reservations *reservations
	placements   *placements
}

// launchSpec is everything that a launch has settled: template, overrides and
// defaults laid over each other.
type launchSpec struct {
	kind     *catalog.Type
	zone     market.Zone
	subnet   *subnet
	image    *image
	spot     bool
	maxPrice model.Price
	groups   []*securityGroup
	profile  *iam.Profile
	data     templateData
	// template and version are empty for a launch without template.
	template string
	version  int
}

// option is the capacity pool that the instance comes from.
func (l *launchSpec) option() model.Option {
	return model.Option{InstanceType: l.kind.Name, Zone: l.zone.Name, CapacityType: l.capacityType()}
}

func (l *launchSpec) capacityType() model.CapacityType {
	if l.spot {
		return model.Spot
	}
	return model.OnDemand
}

// resolve settles a launch from template data in which overrides are applied.
func (s *launcher) resolve(d templateData, where placementXML, subnetID string) (launchSpec, error) {
	l := launchSpec{data: d}
	if l.kind = s.market.Type(d.InstanceType); l.kind == nil {
		return l, awserr.New(awserr.InvalidValue, "Invalid value '%s' for InstanceType.", d.InstanceType)
	}
	if d.ImageID == "" {
		return l, awserr.New(awserr.MissingParameter, "The request must contain the parameter ImageId")
	}
	var err error
	if l.image, err = s.images.find(d.ImageID); err != nil {
		return l, err
	}
	if l.subnet, err = s.network.place(l.kind.Name, where, subnetID); err != nil {
		return l, err
	}
	l.zone = l.subnet.zone
	if l.groups, err = s.network.groupsOf(&d); err != nil {
		return l, err
	}
	if p := d.IamInstanceProfile; p != nil && (p.Name != "" || p.ARN != "") {
		found, err := s.profiles.Resolve(p.Name, p.ARN)
		if err != nil {
			return l, err
		}
		l.profile = &found
	}
	if err := checkType(l.kind, &l.data); err != nil {
		return l, err
	}
	if err := s.placements.checkPlacement(l.kind, d.Placement); err != nil {
		return l, err
	}
	if want := ec2Arch(l.kind.Arch); l.image.arch != want {
		return l, awserr.New(awserr.InvalidValue, "The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI. Specify an instance type and an AMI that have matching architectures, and try again.", want, l.image.arch)
	}
	return l, nil
}

// start launches one instance of a spec that is available.
func (s *launcher) start(c *operation.Call, l launchSpec, given tag.Set, origin instance) (*instance, error) {
	addr, err := l.subnet.takeAddress()
	if err != nil {
		return nil, err
	}
	if l.data.target() == "" {
		s.market.Take(l.option())
	}
	i := &instance{
		id: s.ids.New("i"), reservation: origin.reservation, spec: l, addr: addr, dns: privateDNS(s.account.Region, addr),
		token: origin.token, fleet: origin.fleet, launched: c.Now,
		runningAt: c.Now.Add(s.instances.pace.Pending), seenAt: c.Now.Add(s.instances.pace.Lag), taggedAt: c.Now.Add(s.instances.pace.Lag + s.limits.TagLag),
	}
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html: tags
	// of the request prevail over those of the template.
	i.tags = tag.Set{}
	for _, spec := range l.data.TagSpecifications {
		if spec.ResourceType == "instance" {
			for _, t := range spec.Tags {
				i.tags[t.Key] = t.Value
			}
		}
	}
	maps.Copy(i.tags, given)
	maps.Copy(i.tags, systemTags(l, origin))
	if l.spot {
		i.spotRequest = "sir-" + strings.TrimPrefix(s.ids.New("x"), "x-")[9:]
	}
	if p := l.data.Placement; p != nil {
		i.partition = s.placements.partition(p)
	}
	s.instances.add(i)
	return i, nil
}

// systemTags are those that EC2 adds itself.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/tag-ec2-fleet.html
func systemTags(l launchSpec, origin instance) tag.Set {
	out := tag.Set{}
	if origin.fleet != "" {
		out["aws:ec2:fleet-id"] = origin.fleet
	}
	if l.template != "" {
		out["aws:ec2launchtemplate:id"] = l.template
		out["aws:ec2launchtemplate:version"] = strconv.Itoa(l.version)
	}
	return out
}
