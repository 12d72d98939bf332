package listing

import (
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/tag"
)

// Filter narrows a Describe call: any of the values of each filter. Values may
// hold * and ?, with a backslash before those meant literally.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html
type Filter struct {
	Name   string
	Values []string `query:"Value"`
}

// Bounds on filters, of the page above.
const (
	maxFilters      = 50
	maxFilterValues = 200
)

// Fields are the filters of a kind of item, by name: each gives the item's
// values.
type Fields[T any] map[string]func(T) []string

// Is makes a filter of an attribute with one value.
func Is[T any](value func(T) string) func(T) []string {
	return func(item T) []string { return []string{value(item)} }
}

// By is what items can be filtered by: Fields and, where Tags is set, the filters
// tag:<key> and tag-key.
type By[T any] struct {
	Fields Fields[T]
	Tags   func(T) tag.Set
}

// Choose keeps the items that pass every filter.
func Choose[T any](items []T, filters []Filter, by By[T]) ([]T, error) {
	if len(filters) > maxFilters {
		return nil, awserr.New("FilterLimitExceeded", "The maximum number of filters is %d", maxFilters)
	}
	tests := make([]func(T) []string, len(filters))
	for i, f := range filters {
		tests[i] = by.values(f.Name)
		switch {
		case tests[i] == nil:
			return nil, awserr.New(awserr.InvalidValue, "The filter '%s' is invalid", f.Name)
		case len(f.Values) == 0:
			return nil, awserr.New(awserr.InvalidValue, "The filter '%s' has no values", f.Name)
		case len(f.Values) > maxFilterValues:
			return nil, awserr.New("FilterLimitExceeded", "The maximum number of filter values is %d", maxFilterValues)
		}
	}
	var out []T
next:
	for _, item := range items {
		for i, f := range filters {
			if !anyMatch(f.Values, tests[i](item)) {
				continue next
			}
		}
		out = append(out, item)
	}
	return out, nil
}

// values finds the test for a filter's name; nil when there is no such filter.
func (by By[T]) values(name string) func(T) []string {
	if by.Tags == nil {
		return by.Fields[name]
	}
	if key, ok := strings.CutPrefix(name, "tag:"); ok {
		return func(item T) []string {
			if v, ok := by.Tags(item)[key]; ok {
				return []string{v}
			}
			return nil
		}
	}
	if name == "tag-key" {
		return func(item T) []string { return slices.Collect(maps.Keys(by.Tags(item))) }
	}
	return by.Fields[name]
}

func anyMatch(patterns, values []string) bool {
	for _, p := range patterns {
		for _, v := range values {
			if Wildcard(p, v) {
				return true
			}
		}
	}
	return false
}
