package ec2

import (
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

type tagDescription struct {
	ResourceID   string `xml:"resourceId"`
	ResourceType string `xml:"resourceType"`
	Key          string `xml:"key"`
	Value        string `xml:"value"`
}

// describeTags lists the tags of instances, templates, subnets and groups.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeTags.html
func (s *tagger) describeTags(c *operation.Call, in *describeTagsRequest) (any, error) {
	var all []tagDescription
	add := func(id, kind string, t tag.Set) {
		for _, one := range t.List() {
			all = append(all, tagDescription{id, kind, one.Key, one.Value})
		}
	}
	for _, i := range s.instances.order {
		if i.visible(c.Now) {
			add(i.id, "instance", i.tagsSeen(c.Now))
		}
	}
	for _, t := range s.templates.all {
		add(t.id, "launch-template", t.tags)
	}
	for _, sn := range s.network.subnets {
		add(sn.id, "subnet", sn.tags)
	}
	for _, g := range s.network.groups {
		add(g.id, "security-group", g.tags)
	}
	found, err := listing.Choose(all, in.Filters, listing.By[tagDescription]{Fields: listing.Fields[tagDescription]{
		"key":           listing.Is(func(t tagDescription) string { return t.Key }),
		"resource-id":   listing.Is(func(t tagDescription) string { return t.ResourceID }),
		"resource-type": listing.Is(func(t tagDescription) string { return t.ResourceType }),
		"value":         listing.Is(func(t tagDescription) string { return t.Value }),
	}})
	if err != nil {
		return nil, err
	}
	items, next, err := listing.Page(found, in.Paging, 5, 1000)
	return struct {
		Tags      []tagDescription `xml:"tagSet>item"`
		NextToken string           `xml:"nextToken,omitempty"`
	}{items, next}, err
}

type describeTagsRequest struct {
	listing.Paging
	Filters []listing.Filter `query:"Filter"`
}
