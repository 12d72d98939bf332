package client

import (
	"maps"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Filter is a filter of a Describe call: the name, and the values of which one must match.
func Filter(name string, values ...string) types.Filter {
	return types.Filter{Name: sdk.String(name), Values: values}
}

// TagFilters selects by tags; "*" as a value matches any value of the key.
func TagFilters(tags map[string]string) []types.Filter {
	var out []types.Filter
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if tags[key] == "*" {
			out = append(out, Filter("tag-key", key))
			continue
		}
		out = append(out, Filter("tag:"+key, tags[key]))
	}
	return out
}

// Tags sorts tags by key, so that equal ones make equal requests.
func Tags(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, types.Tag{Key: sdk.String(key), Value: sdk.String(tags[key])})
	}
	return out
}

// TagMap is what EC2 says of tags, by key.
func TagMap(tags []types.Tag) map[string]string {
	out := make(map[string]string, len(tags))
	for _, t := range tags {
		out[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	return out
}
