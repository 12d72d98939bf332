package iam

import (
	"time"
)

func (s *Service) profileARN(p *profile) string {
	return s.account.IAM("instance-profile" + p.path + p.name)
}

type profileXML struct {
	Path    string    `xml:"Path"`
	Name    string    `xml:"InstanceProfileName"`
	ID      string    `xml:"InstanceProfileId"`
	ARN     string    `xml:"Arn"`
	Created string    `xml:"CreateDate"`
	Roles   []roleXML `xml:"Roles>member"`
	Tags    []iamTag  `xml:"Tags>member"`
}

type roleXML struct {
	Path    string `xml:"Path"`
	Name    string `xml:"RoleName"`
	ID      string `xml:"RoleId"`
	ARN     string `xml:"Arn"`
	Created string `xml:"CreateDate"`
}

type iamTag struct {
	Key   string
	Value string
}

func (s *Service) profileXML(p *profile) profileXML {
	out := profileXML{Path: p.path, Name: p.name, ID: p.id, ARN: s.profileARN(p), Created: p.created.UTC().Format(time.RFC3339)}
	for _, r := range p.roles {
		out.Roles = append(out.Roles, s.roleXML(r))
	}
	for _, t := range p.tags.List() {
		out.Tags = append(out.Tags, iamTag(t))
	}
	return out
}

func (s *Service) roleXML(name string) roleXML {
	return roleXML{"/", name, s.ids.Upper("AROA", name), s.account.IAM("role/" + name), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)}
}
