package ec2

import (
	"slices"
	"strconv"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

type templateXML struct {
	ID        string    `xml:"launchTemplateId"`
	Name      string    `xml:"launchTemplateName"`
	Created   string    `xml:"createTime"`
	CreatedBy string    `xml:"createdBy"`
	Default   int       `xml:"defaultVersionNumber"`
	Latest    int       `xml:"latestVersionNumber"`
	Tags      []tag.Tag `xml:"tagSet>item"`
}

type versionXML struct {
	ID          string       `xml:"launchTemplateId"`
	Name        string       `xml:"launchTemplateName"`
	Number      int          `xml:"versionNumber"`
	Description string       `xml:"versionDescription,omitempty"`
	Default     bool         `xml:"defaultVersion"`
	Created     string       `xml:"createTime"`
	CreatedBy   string       `xml:"createdBy"`
	Data        templateData `xml:"launchTemplateData"`
}

func (s *templates) creator() string { return s.account.IAM("role/controller") }

func (s *templates) templateXML(t *template) templateXML {
	return templateXML{t.id, t.name, t.created.UTC().Format(isoMillis), s.creator(), t.fallback, t.latest, t.tags.List()}
}

func (s *templates) versionXML(t *template, v *templateVersion) versionXML {
	return versionXML{t.id, t.name, v.number, v.description, v.number == t.fallback, v.created.UTC().Format(isoMillis), s.creator(), v.data}
}

type templatesRequest struct {
	listing.Paging
	Filters        []listing.Filter `query:"Filter"`
	IDs            []string         `query:"LaunchTemplateId"`
	Names          []string         `query:"LaunchTemplateName"`
	IncludeManaged bool             `query:"IncludeManagedResources"`
}

// describeTemplates lists launch templates.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeLaunchTemplates.html
func (s *templates) describeTemplates(_ *operation.Call, in *templatesRequest) (any, error) {
	all := s.all
	if len(in.IDs)+len(in.Names) > 0 {
		all = nil
	}
	for _, id := range in.IDs {
		t, err := s.find(id, "")
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	for _, name := range in.Names {
		t, err := s.find("", name)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	found, err := listing.Choose(all, in.Filters, listing.By[*template]{
		Tags: func(t *template) tag.Set { return t.tags },
		Fields: listing.Fields[*template]{
			"create-time":          listing.Is(func(t *template) string { return t.created.UTC().Format(isoMillis) }),
			"launch-template-name": listing.Is(func(t *template) string { return t.name }),
		},
	})
	if err != nil {
		return nil, err
	}
	items, next, err := listing.Page(found, in.Paging, 1, 200)
	out := struct {
		Templates []templateXML `xml:"launchTemplates>item"`
		NextToken string        `xml:"nextToken,omitempty"`
	}{NextToken: next}
	for _, t := range items {
		out.Templates = append(out.Templates, s.templateXML(t))
	}
	return out, err
}

type versionsRequest struct {
	listing.Paging
	Filters            []listing.Filter `query:"Filter"`
	LaunchTemplateID   string           `query:"LaunchTemplateId"`
	LaunchTemplateName string
	Versions           []string `query:"LaunchTemplateVersion"`
	MinVersion         string
	MaxVersion         string
	ResolveAlias       bool
	IncludeManaged     bool `query:"IncludeManagedResources"`
}

// describeVersions lists versions: of one template, or the latest or
// default ones of all.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeLaunchTemplateVersions.html
func (s *templates) describeVersions(_ *operation.Call, in *versionsRequest) (any, error) {
	if len(in.Filters) > 0 {
		return nil, awserr.New(awserr.InvalidValue, "ec2sim does not filter launch template versions; name them")
	}
	all, err := s.versionsAsked(in)
	if err != nil {
		return nil, err
	}
	items, next, err := listing.Page(all, in.Paging, 1, 200)
	return struct {
		Versions  []versionXML `xml:"launchTemplateVersionSet>item"`
		NextToken string       `xml:"nextToken,omitempty"`
	}{items, next}, err
}

func (s *templates) versionsAsked(in *versionsRequest) ([]versionXML, error) {
	templates := s.all
	if in.LaunchTemplateID != "" || in.LaunchTemplateName != "" {
		t, err := s.find(in.LaunchTemplateID, in.LaunchTemplateName)
		if err != nil {
			return nil, err
		}
		templates = []*template{t}
	} else if len(in.Versions) == 0 {
		return nil, awserr.Missing("LaunchTemplateId or LaunchTemplateName, or LaunchTemplateVersion $Latest or $Default")
	}
	var out []versionXML
	for _, t := range templates {
		for _, name := range in.Versions {
			v, err := t.version(name)
			if err != nil {
				return nil, err
			}
			out = append(out, s.versionXML(t, v))
		}
		if len(in.Versions) > 0 {
			continue
		}
		for _, v := range slices.Backward(t.versions) {
			if within(v.number, in.MinVersion, in.MaxVersion) {
				out = append(out, s.versionXML(t, v))
			}
		}
	}
	return out, nil
}

// within compares with bounds that may be absent or not numbers.
func within(n int, least, most string) bool {
	if low, err := strconv.Atoi(least); err == nil && n < low {
		return false
	}
	high, err := strconv.Atoi(most)
	return err != nil || n <= high
}
