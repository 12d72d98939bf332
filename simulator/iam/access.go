package iam

import (
	"cmp"

	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/query"
	"spokeshave.dev/simulator/tag"
)

// Access is what a call needs to be allowed.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
func (s *Service) Access(c *operation.Call) []policy.Request {
	var in struct {
		Profile    string `query:"InstanceProfileName"`
		Role       string `query:"RoleName"`
		Path       string
		PathPrefix string
		Marker     string
		MaxItems   int
		Tags       []tag.Tag
		TagKeys    []string
	}
	if c.Form == nil || query.Decode(c.Form, &in) != nil {
		return nil // the operation refuses what it cannot read
	}
	r := policy.Request{Action: "iam:" + c.Action, Keys: tag.RequestKeys(in.Tags, in.TagKeys...)}
	switch c.Action {
	case "GetRole":
		r.Resource = s.account.IAM("role/" + in.Role)
	case "ListInstanceProfiles":
		r.Resource = s.account.IAM("instance-profile/*")
	case "CreateInstanceProfile":
		// IAM's guide wants iam:TagInstanceProfile too for tags given here; IAM lets
		// Karpenter do without.
		r.Resource = s.profileARN(&profile{name: in.Profile, path: cmp.Or(in.Path, "/")})
	default:
		r.Resource = s.account.IAM("instance-profile/" + in.Profile)
		if p := s.profiles[in.Profile]; p != nil {
			r.Resource = s.profileARN(p)
			tag.ResourceKeys(r.Keys, "iam", p.tags)
		}
	}
	if c.Action != "AddRoleToInstanceProfile" {
		return []policy.Request{r}
	}
	return []policy.Request{r, PassRole(s.account.IAM("role/" + in.Role))}
}

// PassRole is what everyone needs who has EC2 use a role.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html
func PassRole(roleARN string) policy.Request {
	return policy.Request{Action: "iam:PassRole", Resource: roleARN, Keys: policy.Keys{"iam:PassedToService": {"ec2.amazonaws.com"}}}
}
