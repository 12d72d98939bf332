package tag

import (
	"slices"

	"spokeshave.dev/simulator/iam/policy"
)

// RequestKeys are the condition keys of the tags that a request gives, and of
// tag keys that it names without values. Without any there is no key.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/access_tags.html
func RequestKeys(given []Tag, keys ...string) policy.Keys {
	out := policy.Keys{}
	for _, t := range given {
		out["aws:RequestTag/"+t.Key] = []string{t.Value}
		keys = append(keys, t.Key)
	}
	if len(keys) > 0 {
		slices.Sort(keys)
		out["aws:TagKeys"] = slices.Compact(keys)
	}
	return out
}

// ResourceKeys adds the condition keys of a resource's tags: aws:ResourceTag/x,
// and the service's own form of it.
func ResourceKeys(to policy.Keys, service string, tags Set) {
	for key, value := range tags {
		to["aws:ResourceTag/"+key] = []string{value}
		to[service+":ResourceTag/"+key] = []string{value}
	}
}
