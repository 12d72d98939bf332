package ec2

import (
	"slices"
	"strconv"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
)

type deleteTemplateRequest struct {
	LaunchTemplateID   string `query:"LaunchTemplateId"`
	LaunchTemplateName string
}

// deleteTemplate deletes a template with all versions; its instances live on.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteLaunchTemplate.html
func (s *templates) deleteTemplate(c *operation.Call, in *deleteTemplateRequest) (any, error) {
	t, err := s.find(in.LaunchTemplateID, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	if c.DryRun {
		return nil, awserr.DryRun()
	}
	s.all = slices.DeleteFunc(s.all, func(o *template) bool { return o == t })
	return struct {
		Template templateXML `xml:"launchTemplate"`
	}{s.templateXML(t)}, nil
}

type deleteVersionsRequest struct {
	LaunchTemplateID   string `query:"LaunchTemplateId"`
	LaunchTemplateName string
	Versions           []string `query:"LaunchTemplateVersion"`
}

type deletedVersion struct {
	ID     string       `xml:"launchTemplateId"`
	Name   string       `xml:"launchTemplateName"`
	Number string       `xml:"versionNumber"`
	Error  *versionFail `xml:"responseError"`
}

type versionFail struct {
	Code    string `xml:"code"`
	Message string `xml:"message"`
}

// deleteTemplateVersions deletes up to 200 versions, never the default one.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteLaunchTemplateVersions.html
func (s *templates) deleteTemplateVersions(c *operation.Call, in *deleteVersionsRequest) (any, error) {
	t, err := s.find(in.LaunchTemplateID, in.LaunchTemplateName)
	switch {
	case err != nil:
		return nil, err
	case len(in.Versions) == 0:
		return nil, awserr.Missing("LaunchTemplateVersion")
	case len(in.Versions) > 200:
		return nil, awserr.New(awserr.InvalidValue, "At most 200 launch template versions can be deleted at once")
	case c.DryRun:
		return nil, awserr.DryRun()
	}
	out := struct {
		Deleted []deletedVersion `xml:"successfullyDeletedLaunchTemplateVersionSet>item"`
		Kept    []deletedVersion `xml:"unsuccessfullyDeletedLaunchTemplateVersionSet>item"`
	}{}
	for _, number := range in.Versions {
		entry := deletedVersion{ID: t.id, Name: t.name, Number: number}
		v, err := t.version(number)
		switch {
		case err != nil:
			entry.Error = &versionFail{"launchTemplateVersionDoesNotExist", awserr.Of(err).Message}
		case v.number == t.fallback:
			entry.Error = &versionFail{"launchTemplateVersionDoesNotExist", "The default version cannot be deleted: " + strconv.Itoa(v.number)}
		}
		if entry.Error != nil {
			out.Kept = append(out.Kept, entry)
			continue
		}
		t.versions = slices.DeleteFunc(t.versions, func(o *templateVersion) bool { return o == v })
		out.Deleted = append(out.Deleted, entry)
	}
	return out, nil
}
