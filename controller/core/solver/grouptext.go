package solver

import (
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// appendText writes the text of the topology group, so that equal ones are found equal.
func (c *topologyGroup) appendText(b []byte) []byte {
	b = append(strconv.AppendQuote(b, c.key), ' ')
	b = append(strconv.AppendBool(b, c.forSpread), ' ')
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
	if c.honorAffinity {
		b = append(append(b, " on "...), selectorKey(c.filter)...)
	}
	if c.honorTaints {
		b = append(append(b, " tolerating "...), tolerationKey(c.filter.Tolerations)...)
	}
	for _, k := range c.keys {
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
		parts[i] = requirementKey(&s.Labels[i])
	}
	slices.Sort(parts)
	return append(b, strings.Join(parts, "&")...)
}
