package ec2

import (
	"slices"
	"strings"

	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/query"
	"spokeshave.dev/simulator/tag"
)

// Access is what a call needs to be allowed: every request must be. A call that
// cannot be read needs nothing, because the operation refuses it.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func (s *Service) Access(c *operation.Call) []policy.Request {
	if c.Form == nil {
		return nil
	}
	switch c.Action {
	case "CreateFleet":
		return s.fleetAccess(c)
	case "RunInstances":
		return s.runAccess(c)
	case "CreateLaunchTemplate":
		var in createTemplateRequest
		if query.Decode(c.Form.Without("DryRun"), &in) != nil {
			return nil
		}
		a := access{account: s.account, actions: []string{c.Action}}
		a.creates([]string{"launch-template"}, in.TagSpecifications)
		return a.requests
	case "CreateLaunchTemplateVersion", "DeleteLaunchTemplate", "DeleteLaunchTemplateVersions":
		t, err := s.templates.find(c.Form.Text("LaunchTemplateId"), c.Form.Text("LaunchTemplateName"))
		if err != nil {
			return nil
		}
		a := access{account: s.account, actions: []string{c.Action}}
		a.uses("launch-template", t.id, t.tags)
		return a.requests
	case "CreateTags", "DeleteTags", "TerminateInstances":
		return s.resourceAccess(c)
	default:
		return []policy.Request{{Action: "ec2:" + c.Action, Resource: "*"}}
	}
}

// resourceAccess is that of calls which name existing resources.
func (s *Service) resourceAccess(c *operation.Call) []policy.Request {
	var in struct {
		Resources []string  `query:"ResourceId"`
		Instances []string  `query:"InstanceId"`
		Tags      []tag.Tag `query:"Tag"`
		Force     bool
		SkipOS    bool `query:"SkipOsShutdown"`
	}
	if query.Decode(c.Form.Without("DryRun"), &in) != nil {
		return nil
	}
	kinds := map[string]string{"i": "instance", "lt": "launch-template", "sg": "security-group", "ami": "image"}
	var out []policy.Request
	for _, id := range slices.Concat(in.Resources, in.Instances) {
		at, err := s.tagger.taggable(c, id)
		if err != nil {
			return nil
		}
		kind, _, _ := strings.Cut(id, "-")
		if long := kinds[kind]; long != "" {
			kind = long
		}
		r := policy.Request{Action: "ec2:" + c.Action, Resource: s.account.ARN("ec2", kind+"/"+id), Keys: tag.RequestKeys(in.Tags)}
		tag.ResourceKeys(r.Keys, "ec2", *at)
		out = append(out, r)
	}
	return out
}
