package ec2

import (
	"strconv"
	"time"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/query"
	"spokeshave.dev/simulator/tag"
)

// templates are the account's launch templates, by creation.
type templates struct {
	account ids.Account
	ids     *ids.Source
	tokens  *tokens
	limits  Limits
	all     []*template
}

// template is a launch template.
type template struct {
	id, name string
	created  time.Time
	tags     tag.Set
	fallback int // the default version
	latest   int
	versions []*templateVersion
}

// templateVersion is one version; raw are the parameters that it was made of.
type templateVersion struct {
	number      int
	description string
	created     time.Time
	data        templateData
	raw         *query.Form
}

// find finds a template by ID or by name, of which one must be given.
func (s *templates) find(id, name string) (*template, error) {
	switch {
	case id != "" && name != "":
		return nil, awserr.New(awserr.InvalidCombination, "Specify either a launch template ID or a launch template name, but not both")
	case id == "" && name == "":
		return nil, awserr.Missing("LaunchTemplateId or LaunchTemplateName")
	case id != "" && !ids.WellFormed("lt", id):
		return nil, awserr.New("InvalidLaunchTemplateId.Malformed", "The launch template ID '%s' is malformed", id)
	}
	for _, t := range s.all {
		if t.id == id || t.name == name {
			return t, nil
		}
	}
	if id != "" {
		return nil, awserr.New("InvalidLaunchTemplateId.NotFound", "The specified launch template, with template ID %s, does not exist.", id)
	}
	return nil, awserr.New("InvalidLaunchTemplateName.NotFoundException", "The specified launch template, with template name %s, does not exist.", name)
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
			return nil, awserr.New(awserr.InvalidValue, "Invalid launch template version: either '$Default', '$Latest', or a numeric version are allowed.")
		}
		want = n
	}
	for _, v := range t.versions {
		if v.number == want {
			return v, nil
		}
	}
	return nil, awserr.New("InvalidLaunchTemplateId.VersionNotFound", "Could not find launch template version %s of %s", name, t.id)
}
