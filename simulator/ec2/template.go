package sim

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// template is a launch template.
type template struct {
	id, name string
	created  time.Time
	tags     tags
	fallback int // the default version
	latest   int
	versions []*templateVersion
}

type templateVersion struct {
	number      int
	description string
	created     time.Time
	data        templateData
	raw         *form
}

type createTemplateRequest struct {
	ClientToken        string
	LaunchTemplateName string
	VersionDescription string
	Data               *templateData      `query:"LaunchTemplateData"`
	TagSpecifications  []tagSpecification `query:"TagSpecification"`
}

// createTemplate makes a launch template with version 1.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateLaunchTemplate.html
func createTemplate(s *Server, c *call, in *createTemplateRequest) (any, error) {
	switch {
	case in.LaunchTemplateName == "":
		return nil, missing("LaunchTemplateName")
	case in.Data == nil:
		return nil, missing("LaunchTemplateData")
	case !regexp.MustCompile(`^[a-zA-Z0-9().\-/_]{3,128}$`).MatchString(in.LaunchTemplateName):
		return nil, failf("InvalidLaunchTemplateName.MalformedException", "A launch template name must be between 3 and 128 characters, and may contain letters, numbers, and the following characters: - ( ) . / _")
	}
	given, err := tagsFor(in.TagSpecifications, "launch-template", "launch-template")
	if err != nil {
		return nil, err
	}
	if err := in.Data.check(); err != nil {
		return nil, err
	}
	return s.once(c, in.ClientToken, func() (any, error) {
		if _, err := s.state.template("", in.LaunchTemplateName); err == nil {
			return nil, failf("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
		}
		if c.dryRun {
			return nil, errDryRun()
		}
		t := &template{id: s.newID("lt"), name: in.LaunchTemplateName, created: c.now, tags: given, fallback: 1, latest: 1}
		t.versions = []*templateVersion{{number: 1, description: in.VersionDescription, created: c.now, data: *in.Data, raw: c.form.kids["LaunchTemplateData"]}}
		s.state.templates = append(s.state.templates, t)
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
func createTemplateVersion(s *Server, c *call, in *createVersionRequest) (any, error) {
	t, err := s.state.template(in.LaunchTemplateID, in.LaunchTemplateName)
	switch {
	case err != nil:
		return nil, err
	case in.Data == nil:
		return nil, missing("LaunchTemplateData")
	}
	raw, data := c.form.kids["LaunchTemplateData"], in.Data
	if in.SourceVersion != "" {
		source, err := t.version(in.SourceVersion)
		if err != nil {
			return nil, err
		}
		raw, data = overlay(source.raw, raw), &templateData{}
		if err := decode(raw, data); err != nil {
			return nil, err
		}
	}
	if err := data.check(); err != nil {
		return nil, err
	}
	return s.once(c, in.ClientToken, func() (any, error) {
		if c.dryRun {
			return nil, errDryRun()
		}
		t.latest++
		v := &templateVersion{number: t.latest, description: in.VersionDescription, created: c.now, data: *data, raw: raw}
		t.versions = append(t.versions, v)
		return struct {
			Version versionXML `xml:"launchTemplateVersion"`
		}{s.versionXML(t, v)}, nil
	})
}

// overlay is below with the members of above in place of its own.
func overlay(below, above *form) *form {
	out := &form{kids: make(map[string]*form)}
	maps.Copy(out.kids, below.kids)
	maps.Copy(out.kids, above.kids)
	return out
}

type deleteTemplateRequest struct {
	LaunchTemplateID   string `query:"LaunchTemplateId"`
	LaunchTemplateName string
}

// deleteTemplate deletes a template with all versions; its instances live on.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteLaunchTemplate.html
func deleteTemplate(s *Server, c *call, in *deleteTemplateRequest) (any, error) {
	t, err := s.state.template(in.LaunchTemplateID, in.LaunchTemplateName)
	if err != nil {
		return nil, err
	}
	if c.dryRun {
		return nil, errDryRun()
	}
	s.state.templates = slices.DeleteFunc(s.state.templates, func(o *template) bool { return o == t })
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
func deleteTemplateVersions(s *Server, c *call, in *deleteVersionsRequest) (any, error) {
	t, err := s.state.template(in.LaunchTemplateID, in.LaunchTemplateName)
	switch {
	case err != nil:
		return nil, err
	case len(in.Versions) == 0:
		return nil, missing("LaunchTemplateVersion")
	case len(in.Versions) > 200:
		return nil, failf(codeInvalidValue, "At most 200 launch template versions can be deleted at once")
	case c.dryRun:
		return nil, errDryRun()
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
			entry.Error = &versionFail{"launchTemplateVersionDoesNotExist", failureOf(err).Message}
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

// template finds a template by ID or by name, of which one must be given.
func (st *state) template(id, name string) (*template, error) {
	switch {
	case id != "" && name != "":
		return nil, failf(codeCombination, "Specify either a launch template ID or a launch template name, but not both")
	case id == "" && name == "":
		return nil, missing("LaunchTemplateId or LaunchTemplateName")
	case id != "" && !wellFormedID("lt", id):
		return nil, failf("InvalidLaunchTemplateId.Malformed", "The launch template ID '%s' is malformed", id)
	}
	for _, t := range st.templates {
		if t.id == id || t.name == name {
			return t, nil
		}
	}
	if id != "" {
		return nil, failf("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
	}
	return nil, failf("InvalidLaunchTemplateName.NotFoundException", "The specified launch template, with template name %s, does not exist.", name)
}

// version finds a version by number, $Latest or $Default; empty is the default.
func (t *template) version(name string) (*templateVersion, error) {
	want := t.fallback
	switch name {
	case "", "$Default":
	case "$Latest":
		want = 0
		for _, v := range t.versions {
			want = max(want, v.number)
		}
	default:
		n, err := strconv.Atoi(name)
		if err != nil {
			return nil, failf(codeInvalidValue, "Invalid launch template version: either '$Default', '$Latest', or a numeric version are allowed.")
		}
		want = n
	}
	for _, v := range t.versions {
		if v.number == want {
			return v, nil
		}
	}
	return nil, failf("InvalidLaunchTemplateId.VersionNotFound", "Could not find launch template version %s of %s", name, t.id)
}
