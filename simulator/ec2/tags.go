package sim

import (
	"maps"
	"slices"
	"strings"
)

// tags of a resource.
type tags map[string]string

func (t tags) with(key, value string) tags {
	out := maps.Clone(t)
	out[key] = value
	return out
}

// tagXML is a tag on the wire, in both directions.
type tagXML struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

func (t tags) list() []tagXML {
	keys := slices.Sorted(maps.Keys(t))
	out := make([]tagXML, len(keys))
	for i, k := range keys {
		out[i] = tagXML{k, t[k]}
	}
	return out
}

// checkTags is the set of rules for tags.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Tag.html
func checkTags(given []tagXML) error {
	for _, tag := range given {
		switch {
		case tag.Key == "":
			return failf(codeInvalidValue, "Tag keys must not be empty")
		case len([]rune(tag.Key)) > 127 || len([]rune(tag.Value)) > 256:
			return failf(codeInvalidValue, "Tag %q is longer than 127 characters for the key or 256 for the value", tag.Key)
		case strings.HasPrefix(strings.ToLower(tag.Key), "aws:"):
			return failf(codeInvalidValue, "Tag keys starting with 'aws:' are reserved for internal use")
		}
	}
	return nil
}

// merge adds tags, at most 50 for each resource, those of AWS (aws:) apart.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions
func (t tags) merge(given []tagXML) (tags, error) {
	out := maps.Clone(t)
	if out == nil {
		out = tags{}
	}
	for _, tag := range given {
		out[tag.Key] = tag.Value
	}
	own := 0
	for k := range out {
		if !strings.HasPrefix(k, "aws:") {
			own++
		}
	}
	if own > 50 {
		return nil, failf("TagLimitExceeded", "The maximum number of tags (50) for the resource has been reached.")
	}
	return out, nil
}

// tagSpecification tags what a call creates, by resource type.
type tagSpecification struct {
	ResourceType string   `xml:"resourceType"`
	Tags         []tagXML `query:"Tag" xml:"tagSet>item"`
}

// tagsFor picks the tags for a resource type out of specifications and checks
// all of them.
func tagsFor(specs []tagSpecification, kind string, allowed ...string) (tags, error) {
	out := tags{}
	for _, spec := range specs {
		if spec.ResourceType == "" {
			return nil, failf(codeInvalidValue, "Tag specification resource type must have a value")
		}
		if !slices.Contains(allowed, spec.ResourceType) {
			return nil, failf(codeInvalidValue, "'%s' is not a valid taggable resource type for this operation.", spec.ResourceType)
		}
		if err := checkTags(spec.Tags); err != nil {
			return nil, err
		}
		if spec.ResourceType != kind {
			continue
		}
		merged, err := out.merge(spec.Tags)
		if err != nil {
			return nil, err
		}
		out = merged
	}
	return out, nil
}

type tagsRequest struct {
	Resources []string `query:"ResourceId"`
	Tags      []tagXML `query:"Tag"`
}

type done struct {
	Return bool `xml:"return"`
}

// createTags adds or replaces tags of up to 1000 resources.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateTags.html
func createTags(s *Server, c *call, in *tagsRequest) (any, error) {
	switch {
	case len(in.Resources) == 0:
		return nil, missing("resourceIdSet")
	case len(in.Tags) == 0:
		return nil, missing("tagSet")
	case len(in.Resources) > 1000:
		return nil, failf(codeInvalidValue, "At most 1000 resources can be tagged at once, not %d", len(in.Resources))
	}
	if err := checkTags(in.Tags); err != nil {
		return nil, err
	}
	merged := make(map[*tags]tags, len(in.Resources))
	for _, id := range in.Resources {
		at, err := s.taggable(c, id)
		if err != nil {
			return nil, err
		}
		if merged[at], err = at.merge(in.Tags); err != nil {
			return nil, err
		}
	}
	if c.dryRun {
		return nil, errDryRun()
	}
	for at, now := range merged {
		*at = now
	}
	return done{true}, nil
}

// deleteTags removes tags; one with a value only when the value is the same,
// and every tag when none is named.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteTags.html
func deleteTags(s *Server, c *call, in *deleteTagsRequest) (any, error) {
	if len(in.Resources) == 0 {
		return nil, missing("resourceIdSet")
	}
	for _, id := range in.Resources {
		at, err := s.taggable(c, id)
		if err != nil {
			return nil, err
		}
		if c.dryRun {
			continue
		}
		left := maps.Clone(*at)
		maps.DeleteFunc(left, func(key, value string) bool { return in.removes(key, value) })
		*at = left
	}
	if c.dryRun {
		return nil, errDryRun()
	}
	return done{true}, nil
}

type deleteTagsRequest struct {
	Resources []string `query:"ResourceId"`
	Tags      []struct {
		Key   string
		Value *string
	} `query:"Tag"`
}

func (in *deleteTagsRequest) removes(key, value string) bool {
	if len(in.Tags) == 0 {
		return !strings.HasPrefix(key, "aws:")
	}
	for _, t := range in.Tags {
		if t.Key == key && (t.Value == nil || *t.Value == value) {
			return true
		}
	}
	return false
}

// taggable finds the tags of a resource by ID.
func (s *Server) taggable(c *call, id string) (*tags, error) {
	kind, _, _ := strings.Cut(id, "-")
	switch kind {
	case "i":
		i, err := s.instance(c, id)
		if err != nil {
			return nil, err
		}
		return &i.tags, nil
	case "lt":
		t, err := s.state.template(id, "")
		if err != nil {
			return nil, err
		}
		return &t.tags, nil
	case "subnet":
		if sn := s.state.subnet(id); sn != nil {
			return &sn.tags, nil
		}
		return nil, failf("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
	case "sg":
		if g := s.state.group(id); g != nil {
			return &g.tags, nil
		}
		return nil, failf("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
	case "ami":
		if im := s.state.image(id); im != nil {
			return &im.tags, nil
		}
		return nil, failf("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
	default:
		return nil, failf("InvalidID", "The ID '%s' is not valid", id)
	}
}

type tagDescription struct {
	ResourceID   string `xml:"resourceId"`
	ResourceType string `xml:"resourceType"`
	Key          string `xml:"key"`
	Value        string `xml:"value"`
}

// describeTags lists the tags of instances, templates, subnets and groups.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeTags.html
func describeTags(s *Server, c *call, in *describeTagsRequest) (any, error) {
	var all []tagDescription
	add := func(id, kind string, t tags) {
		for _, tag := range t.list() {
			all = append(all, tagDescription{id, kind, tag.Key, tag.Value})
		}
	}
	for _, i := range s.state.order {
		if i.visible(c.now) {
			add(i.id, "instance", i.tags)
		}
	}
	for _, t := range s.state.templates {
		add(t.id, "launch-template", t.tags)
	}
	for _, sn := range s.state.subnets {
		add(sn.id, "subnet", sn.tags)
	}
	for _, g := range s.state.groups {
		add(g.id, "security-group", g.tags)
	}
	found, err := choose(all, in.Filters, tagged[tagDescription]{fields: fields[tagDescription]{
		"key":           is(func(t tagDescription) string { return t.Key }),
		"resource-id":   is(func(t tagDescription) string { return t.ResourceID }),
		"resource-type": is(func(t tagDescription) string { return t.ResourceType }),
		"value":         is(func(t tagDescription) string { return t.Value }),
	}})
	if err != nil {
		return nil, err
	}
	items, next, err := page(found, in.paged, 5, 1000)
	return struct {
		Tags      []tagDescription `xml:"tagSet>item"`
		NextToken string           `xml:"nextToken,omitempty"`
	}{items, next}, err
}

type describeTagsRequest struct {
	paged
	Filters []filter `query:"Filter"`
}
