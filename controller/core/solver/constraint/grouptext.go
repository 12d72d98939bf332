package constraint

import (
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// appendText appends the text of the group: equal groups have equal texts.
func (c *Group) appendText(b []byte) []byte {
	b = append(strconv.AppendQuote(b, c.Key), ' ')
	b = append(strconv.AppendBool(b, c.ForSpread), ' ')
	if len(c.selectors) == 1 {
		b = appendPodSelector(b, c.selectors[0])
	} else {
		parts := make([]string, len(c.selectors))
		for i, s := range c.selectors {
			parts[i] = string(appendPodSelector(nil, s))
		}
		slices.Sort(parts)
		b = append(b, strings.Join(slices.Compact(parts), " & ")...)
	}
	if c.HonorAffinity {
		b = append(append(b, " on "...), SelectorText(c.Filter)...)
	}
	if c.HonorTaints {
		b = append(append(b, " tolerating "...), TolerationText(c.Filter.Tolerations)...)
	}
	for _, k := range c.Keys {
		b = strconv.AppendQuote(append(b, " with "...), k)
	}
	return b
}

func appendPodSelector(b []byte, s *model.PodSelector) []byte {
	if s.Nothing {
		return append(b, "nothing"...)
	}
	for i, n := range s.Namespaces {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendQuote(b, n)
	}
	b = append(b, ": "...)
	if len(s.Labels) == 1 {
		return appendRequirement(b, &s.Labels[0])
	}
	parts := make([]string, len(s.Labels))
	for i := range s.Labels {
		parts[i] = RequirementText(&s.Labels[i])
	}
	slices.Sort(parts)
	return append(b, strings.Join(parts, "&")...)
}
