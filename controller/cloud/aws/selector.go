package aws

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// tagFilters selects by tags; "*" as a value matches any.
func tagFilters(tags map[string]string) []types.Filter {
	var out []types.Filter
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if tags[key] == "*" {
			out = append(out, filter("tag-key", key))
			continue
		}
		out = append(out, filter("tag:"+key, tags[key]))
	}
	return out
}
