package sim

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// filter narrows a Describe call: any of the values of each filter. Values may
// hold * and ?, with a backslash before those meant literally.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html
type filter struct {
	Name   string
	Values []string `query:"Value"`
}

// Bounds on filters, of the page above.
const (
	maxFilters      = 50
	maxFilterValues = 200
)

// fields are the filters of a kind of item, by name: each gives the item's
// values.
type fields[T any] map[string]func(T) []string

// is makes a filter of an attribute with one value.
func is[T any](value func(T) string) func(T) []string {
	return func(item T) []string { return []string{value(item)} }
}

// tagged adds the filters tag:<key> and tag-key to those of f.
type tagged[T any] struct {
	fields fields[T]
	tags   func(T) tags
}

// choose keeps the items that pass every filter.
func choose[T any](items []T, filters []filter, by tagged[T]) ([]T, error) {
	if len(filters) > maxFilters {
		return nil, failf("FilterLimitExceeded", "The maximum number of filters is %d", maxFilters)
	}
	tests := make([]func(T) []string, len(filters))
	for i, f := range filters {
		tests[i] = by.values(f.Name)
		switch {
		case tests[i] == nil:
			return nil, failf(codeInvalidValue, "The filter '%s' is invalid", f.Name)
		case len(f.Values) == 0:
			return nil, failf(codeInvalidValue, "The filter '%s' has no values", f.Name)
		case len(f.Values) > maxFilterValues:
			return nil, failf("FilterLimitExceeded", "The maximum number of filter values is %d", maxFilterValues)
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
func (by tagged[T]) values(name string) func(T) []string {
	if by.tags == nil {
		return by.fields[name]
	}
	if key, ok := strings.CutPrefix(name, "tag:"); ok {
		return func(item T) []string {
			if v, ok := by.tags(item)[key]; ok {
				return []string{v}
			}
			return nil
		}
	}
	if name == "tag-key" {
		return func(item T) []string { return slices.Collect(maps.Keys(by.tags(item))) }
	}
	return by.fields[name]
}

func anyMatch(patterns, values []string) bool {
	for _, p := range patterns {
		for _, v := range values {
			if wildcard(p, v) {
				return true
			}
		}
	}
	return false
}

// wildcard matches text against a pattern of *, ? and \ escapes.
func wildcard(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
			continue
		case p+1 < len(pattern) && pattern[p] == '\\' && pattern[p+1] == text[t]:
			p, t = p+2, t+1
			continue
		case p < len(pattern) && pattern[p] != '\\' && (pattern[p] == '?' || pattern[p] == text[t]):
			p, t = p+1, t+1
			continue
		case star < 0:
			return false
		}
		mark++
		p, t = star+1, mark
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// paged are the parameters of a call that answers in pages.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Query-Requests.html#api-pagination
type paged struct {
	MaxResults *int
	NextToken  string
}

// page cuts out the page asked for. Without MaxResults everything is one page.
func page[T any](items []T, p paged, least, most int) (cut []T, next string, err error) {
	from := 0
	if p.NextToken != "" {
		text, err := base64.RawURLEncoding.DecodeString(p.NextToken)
		if err != nil {
			return nil, "", failf("InvalidNextToken", "The token '%s' is invalid", p.NextToken)
		}
		if n, err := fmt.Sscanf(string(text), "after %d", &from); n != 1 || err != nil || from < 0 {
			return nil, "", failf("InvalidNextToken", "The token '%s' is invalid", p.NextToken)
		}
	}
	size := len(items)
	if p.MaxResults != nil {
		size = *p.MaxResults
		if size < least || size > most {
			return nil, "", failf(codeInvalidValue, "Value ( %d ) for parameter maxResults is invalid. Expecting a value between %d and %d.", size, least, most)
		}
	}
	from = min(from, len(items))
	to := min(from+size, len(items))
	if to < len(items) {
		next = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "after %d", to))
	}
	return items[from:to], next, nil
}
