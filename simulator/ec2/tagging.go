package ec2

import (
	"maps"
	"strings"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

// tagger answers what is asked and ordered about tags of any resource.
type tagger struct {
	instances *instances
	templates *templates
	network   *network
	images    *images
}

type tagsRequest struct {
	Resources []string  `query:"ResourceId"`
	Tags      []tag.Tag `query:"Tag"`
}

type done struct {
	Return bool `xml:"return"`
}

// createTags adds or replaces tags of up to 1000 resources.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateTags.html
func (s *tagger) createTags(c *operation.Call, in *tagsRequest) (any, error) {
	switch {
	case len(in.Resources) == 0:
		return nil, awserr.Missing("resourceIdSet")
	case len(in.Tags) == 0:
		return nil, awserr.Missing("tagSet")
	case len(in.Resources) > 1000:
		return nil, awserr.New(awserr.InvalidValue, "At most 1000 resources can be tagged at once, not %d", len(in.Resources))
	}
	if err := tag.Check(in.Tags); err != nil {
		return nil, err
	}
	merged := make(map[*tag.Set]tag.Set, len(in.Resources))
	for _, id := range in.Resources {
		at, err := s.taggable(c, id)
		if err != nil {
			return nil, err
		}
		if merged[at], err = at.Merge(in.Tags); err != nil {
			return nil, err
		}
	}
	if c.DryRun {
		return nil, awserr.DryRun()
	}
	for at, now := range merged {
		*at = now
	}
	return done{true}, nil
}

// deleteTags removes tags; one with a value only when the value is the same,
// and every tag when none is named.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DeleteTags.html
func (s *tagger) deleteTags(c *operation.Call, in *deleteTagsRequest) (any, error) {
	if len(in.Resources) == 0 {
		return nil, awserr.Missing("resourceIdSet")
	}
	for _, id := range in.Resources {
		at, err := s.taggable(c, id)
		if err != nil {
			return nil, err
		}
		if c.DryRun {
			continue
		}
		left := maps.Clone(*at)
		maps.DeleteFunc(left, func(key, value string) bool { return in.removes(key, value) })
		*at = left
	}
	if c.DryRun {
		return nil, awserr.DryRun()
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
func (s *tagger) taggable(c *operation.Call, id string) (*tag.Set, error) {
	kind, _, _ := strings.Cut(id, "-")
	switch kind {
	case "i":
		i, err := s.instances.find(c, id)
		if err != nil {
			return nil, err
		}
		return &i.tags, nil
	case "lt":
		t, err := s.templates.find(id, "")
		if err != nil {
			return nil, err
		}
		return &t.tags, nil
	case "subnet":
		if sn := s.network.subnet(id); sn != nil {
			return &sn.tags, nil
		}
		return nil, awserr.New("InvalidSubnetID.NotFound", "The subnet ID '%s' does not exist", id)
	case "sg":
		if g := s.network.group(id); g != nil {
			return &g.tags, nil
		}
		return nil, awserr.New("InvalidGroup.NotFound", "The security group '%s' does not exist", id)
	case "ami":
		if im := s.images.byID(id); im != nil {
			return &im.tags, nil
		}
		return nil, awserr.New("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
	default:
		return nil, awserr.New("InvalidID", "The ID '%s' is not valid", id)
	}
}
