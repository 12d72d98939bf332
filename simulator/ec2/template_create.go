package ec2

import (
	"regexp"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/query"
	"spokeshave.dev/simulator/tag"
)

type createTemplateRequest struct {
	ClientToken        string
	LaunchTemplateName string
	VersionDescription string
	Data               *templateData       `query:"LaunchTemplateData"`
	TagSpecifications  []tag.Specification `query:"TagSpecification"`
}

// createTemplate makes a launch template with version 1.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html
func (s *templates) createTemplate(c *operation.Call, in *createTemplateRequest) (any, error) {
	switch {
	case in.LaunchTemplateName == "":
		return nil, awserr.Missing("LaunchTemplateName")
	case in.Data == nil:
		return nil, awserr.Missing("LaunchTemplateData")
	case !regexp.MustCompile(`^[a-zA-Z0-9().\-/_]{3,128}$`).MatchString(in.LaunchTemplateName):
		return nil, awserr.New("InvalidLaunchTemplateName.MalformedException", "A launch template name must be between 3 and 128 characters, and may contain letters, numbers, and the following characters: - ( ) . / _")
	}
	given, err := tag.For(in.TagSpecifications, "launch-template", "launch-template")
	if err != nil {
		return nil, err
	}
	if err := in.Data.check(); err != nil {
		return nil, err
	}
	return s.tokens.once(c, in.ClientToken, func() (any, error) {
		if _, err := s.find("", in.LaunchTemplateName); err == nil {
			return nil, awserr.New("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
		}
		if most := s.limits.LaunchTemplates; most > 0 && len(s.all) >= most {
			return nil, awserr.New("MaxTemplateLimitExceeded", "You have reached the limit of %d launch templates in the Region.", most)
		}
		if c.DryRun {
			return nil, awserr.DryRun()
		}
		t := &template{id: s.ids.New("lt"), name: in.LaunchTemplateName, created: c.Now, tags: given, fallback: 1, latest: 1}
		t.versions = []*templateVersion{{number: 1, description: in.VersionDescription, created: c.Now, data: *in.Data, raw: c.Form.At("LaunchTemplateData")}}
		s.all = append(s.all, t)
		return struct {
			Template templateXML `xml:"launchTemplate"`
		}{s.templateXML(t)}, nil
	})
}

type createVersionRequest struct {
	ClientToken        string
	LaunchTemplateID   string `query:"LaunchTemplateId"`
	LaunchTemplateName string
	SourceVersion      string
	VersionDescription string
	ResolveAlias       bool
	Data               *templateData `query:"LaunchTemplateData"`
}

// createTemplateVersion adds a version, on top of a source version if one is
// named. https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplateVersion.html
func (s *templates) createTemplateVersion(c *operation.Call, in *createVersionRequest) (any, error) {
	t, err := s.find(in.LaunchTemplateID, in.LaunchTemplateName)
	switch {
	case err != nil:
		return nil, err
	case in.Data == nil:
		return nil, awserr.Missing("LaunchTemplateData")
	}
	raw, data := c.Form.At("LaunchTemplateData"), in.Data
	if in.SourceVersion != "" {
		source, err := t.version(in.SourceVersion)
		if err != nil {
			return nil, err
		}
		raw, data = query.Overlay(source.raw, raw), &templateData{}
		if err := query.Decode(raw, data); err != nil {
			return nil, err
		}
	}
	if err := data.check(); err != nil {
		return nil, err
	}
	return s.tokens.once(c, in.ClientToken, func() (any, error) {
		if c.DryRun {
			return nil, awserr.DryRun()
		}
		if most := s.limits.TemplateVersions; most > 0 && len(t.versions) >= most {
			return nil, awserr.New("MaxTemplateVersionLimitExceeded", "You have reached the limit of %d versions of launch template %s.", most, t.id)
		}
		t.latest++
		v := &templateVersion{number: t.latest, description: in.VersionDescription, created: c.Now, data: *data, raw: raw}
		t.versions = append(t.versions, v)
		return struct {
			Version versionXML `xml:"launchTemplateVersion"`
		}{s.versionXML(t, v)}, nil
	})
}
