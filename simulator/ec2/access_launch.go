package ec2

import (
	"cmp"
	"slices"
	"strings"

	"spokeshave.dev/simulator/iam"
	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/query"
	"spokeshave.dev/simulator/tag"
)

// access collects what a call needs to be allowed: several actions on the same
// resources. Tags are created in the name of the first action.
type access struct {
	account  ids.Account
	actions  []string
	requests []policy.Request
}

// creates needs the actions on resources that do not exist yet, with the tags
// that they get, and CreateTags for those with tags.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/supported-iam-actions-tagging.html
func (a *access) creates(kinds []string, specs []tag.Specification) {
	for _, kind := range kinds {
		var given []tag.Tag
		for _, spec := range specs {
			if spec.ResourceType == kind {
				given = append(given, spec.Tags...)
			}
		}
		resource := a.account.ARN("ec2", kind+"/*")
		for _, action := range a.actions {
			a.requests = append(a.requests, policy.Request{Action: "ec2:" + action, Resource: resource, Keys: tag.RequestKeys(given)})
		}
		if len(given) > 0 {
			keys := tag.RequestKeys(given)
			keys["ec2:CreateAction"] = a.actions[:1]
			a.requests = append(a.requests, policy.Request{Action: "ec2:CreateTags", Resource: resource, Keys: keys})
		}
	}
}

// uses needs the actions on a resource that exists, once.
func (a *access) uses(kind, id string, tags tag.Set) {
	arn := a.account.ARN("ec2", kind+"/"+id)
	if kind == "image" { // images belong to no account in ARNs
		arn = strings.Replace(arn, ":"+a.account.ID+":", "::", 1)
	}
	if slices.ContainsFunc(a.requests, func(o policy.Request) bool { return o.Resource == arn }) {
		return
	}
	for _, action := range a.actions {
		r := policy.Request{Action: "ec2:" + action, Resource: arn, Keys: policy.Keys{}}
		tag.ResourceKeys(r.Keys, "ec2", tags)
		a.requests = append(a.requests, r)
	}
}

// launch is one way to launch that a request names: the template's data with the
// image and subnet that win.
type launch struct {
	template      *template
	data          templateData
	image, subnet string
}

// fleetAccess is that of CreateFleet, which also needs RunInstances, on the same
// resources but the fleet.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-prerequisites.html#ec2-fleet-iam-users
func (s *Service) fleetAccess(c *operation.Call) []policy.Request {
	var in createFleetRequest
	if query.Decode(c.Form.Without("DryRun"), &in) != nil || in.Target == nil {
		return nil
	}
	var launches []launch
	for i := range in.Configs {
		spec := in.Configs[i].Spec
		if spec == nil {
			return nil
		}
		l, ok := s.launchOf(spec)
		if !ok {
			return nil
		}
		if len(in.Configs[i].Overrides) == 0 {
			launches = append(launches, l)
		}
		for _, o := range in.Configs[i].Overrides {
			one := l
			one.image, one.subnet = cmp.Or(o.ImageID, l.image), cmp.Or(o.SubnetID, l.subnet)
			launches = append(launches, one)
		}
	}
	_, spot := in.Target.split()
	fleet := access{account: s.account, actions: []string{c.Action}}
	fleet.creates([]string{"fleet"}, in.TagSpecifications)
	both := access{account: s.account, actions: []string{c.Action, "RunInstances"}}
	kinds := created()
	if spot > 0 {
		kinds = append(kinds, "spot-instances-request")
	}
	s.launches(&both, kinds, in.TagSpecifications, launches)
	return slices.Concat(fleet.requests, both.requests, s.passAccess(launches))
}

// runAccess is that of RunInstances.
func (s *Service) runAccess(c *operation.Call) []policy.Request {
	var in runRequest
	if query.Decode(c.Form.Without("DryRun"), &in) != nil {
		return nil
	}
	l := launch{data: in.templateData}
	if in.LaunchTemplate != nil {
		var ok bool
		if l, ok = s.launchOf(in.LaunchTemplate); !ok {
			return nil
		}
		l.data.IamInstanceProfile = cmp.Or(in.IamInstanceProfile, l.data.IamInstanceProfile)
		l.data.InstanceMarketOptions = cmp.Or(in.InstanceMarketOptions, l.data.InstanceMarketOptions)
	}
	l.image, l.subnet = cmp.Or(in.ImageID, l.image), cmp.Or(in.SubnetID, l.subnet)
	for _, n := range in.NetworkInterfaces {
		l.subnet = cmp.Or(n.SubnetID, l.subnet)
	}
	kinds := created()
	if m := l.data.InstanceMarketOptions; m != nil && m.MarketType == "spot" {
		kinds = append(kinds, "spot-instances-request")
	}
	a := access{account: s.account, actions: []string{c.Action}}
	s.launches(&a, kinds, in.TagSpecifications, []launch{l})
	return append(a.requests, s.passAccess([]launch{l})...)
}

// launchOf is what a template says of a launch; not ok when there is none, which
// the operation refuses.
func (s *Service) launchOf(spec *fleetTemplateXML) (launch, bool) {
	t, err := s.templates.find(spec.ID, spec.Name)
	if err != nil {
		return launch{}, false
	}
	v, err := t.version(spec.Version)
	if err != nil {
		return launch{}, false
	}
	l := launch{template: t, data: v.data, image: v.data.ImageID}
	for _, n := range v.data.NetworkInterfaces {
		l.subnet = cmp.Or(l.subnet, n.SubnetID)
	}
	return l, true
}

// created are the kinds of resources that every launch creates.
func created() []string { return []string{"instance", "volume", "network-interface"} }

// launches adds what launches create, of the kinds given, and use. Tags of a template count as tags
// of the request.
func (s *Service) launches(a *access, kinds []string, given []tag.Specification, launches []launch) {
	specs := slices.Clone(given)
	if len(launches) > 0 {
		specs = append(slices.Clone(launches[0].data.TagSpecifications), specs...)
	}
	a.creates(kinds, specs)
	for i := range launches {
		l := &launches[i]
		if l.template != nil {
			a.uses("launch-template", l.template.id, l.template.tags)
		}
		if im, err := s.images.find(l.image); err == nil {
			a.uses("image", im.id, im.tags)
		}
		if sn := s.network.subnet(l.subnet); sn != nil {
			a.uses("subnet", sn.id, sn.tags)
		}
		groups, err := s.network.groupsOf(&l.data)
		if err != nil {
			continue
		}
		for _, g := range groups {
			a.uses("security-group", g.id, g.tags)
		}
	}
}

// passAccess needs PassRole for the roles that instances run under.
func (s *Service) passAccess(launches []launch) []policy.Request {
	var out []policy.Request
	for i := range launches {
		p := launches[i].data.IamInstanceProfile
		if p == nil || p.Name == "" && p.ARN == "" {
			continue
		}
		found, err := s.launcher.profiles.Resolve(p.Name, p.ARN)
		if err == nil && !slices.ContainsFunc(out, func(r policy.Request) bool { return r.Resource == found.RoleARN }) {
			out = append(out, iam.PassRole(found.RoleARN))
		}
	}
	return out
}
