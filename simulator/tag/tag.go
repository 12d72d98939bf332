package tag

import (
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/simulator/awserr"
)

// Set is the tags of a resource, by key.
type Set map[string]string

// With is a copy with one tag more.
func (t Set) With(key, value string) Set {
	out := maps.Clone(t)
	out[key] = value
	return out
}

// Tag is a tag on the wire, in both directions.
type Tag struct {
	Key   string `xml:"key"`
	Value string `xml:"value"`
}

// List is the tags, sorted by key.
func (t Set) List() []Tag {
	keys := slices.Sorted(maps.Keys(t))
	out := make([]Tag, len(keys))
	for i, k := range keys {
		out[i] = Tag{k, t[k]}
	}
	return out
}

// Check applies the rules for tags.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Tag.html
func Check(given []Tag) error {
	for _, tag := range given {
		switch {
		case tag.Key == "":
			return awserr.New(awserr.InvalidValue, "Tag keys must not be empty")
		case len([]rune(tag.Key)) > 127 || len([]rune(tag.Value)) > 256:
			return awserr.New(awserr.InvalidValue, "Tag %q is longer than 127 characters for the key or 256 for the value", tag.Key)
		case strings.HasPrefix(strings.ToLower(tag.Key), "aws:"):
			return awserr.New(awserr.InvalidValue, "Tag keys starting with 'aws:' are reserved for internal use")
		}
	}
	return nil
}

// Merge is a copy with tags added or replaced. A resource has at most 50, those
// of AWS (aws:) apart.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html#tag-restrictions
func (t Set) Merge(given []Tag) (Set, error) {
	out := maps.Clone(t)
	if out == nil {
		out = Set{}
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
		return nil, awserr.New("TagLimitExceeded", "The maximum number of tags (50) for the resource has been reached.")
	}
	return out, nil
}

// Specification tags what a call creates, by resource type.
type Specification struct {
	ResourceType string `xml:"resourceType"`
	Tags         []Tag  `query:"Tag" xml:"tagSet>item"`
}

// For picks the tags for a resource type out of specifications and checks
// all of them.
func For(specs []Specification, kind string, allowed ...string) (Set, error) {
	out := Set{}
	for _, spec := range specs {
		if spec.ResourceType == "" {
			return nil, awserr.New(awserr.InvalidValue, "Tag specification resource type must have a value")
		}
		if !slices.Contains(allowed, spec.ResourceType) {
			return nil, awserr.New(awserr.InvalidValue, "'%s' is not a valid taggable resource type for this operation.", spec.ResourceType)
		}
		if err := Check(spec.Tags); err != nil {
			return nil, err
		}
		if spec.ResourceType != kind {
			continue
		}
		merged, err := out.Merge(spec.Tags)
		if err != nil {
			return nil, err
		}
		out = merged
	}
	return out, nil
}
