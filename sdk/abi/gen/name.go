package main

import (
	"regexp"
	"strings"
)

var words = regexp.MustCompile(`GiB|GPUs|VCPU|CPU|USD|ABI|AMD64|ARM64|[A-Z][a-z0-9]*|[a-z0-9]+`)

// snake is PoolLabelsFirst as pool_labels_first.
func snake(name string) string {
	return strings.ToLower(strings.Join(words.FindAllString(name, -1), "_"))
}

// upper is CapacityOnDemand as CAPACITY_ON_DEMAND.
func upper(name string) string { return strings.ToUpper(snake(name)) }

// camel is VCPU as vcpu and CPUUtilisation as cpuUtilisation.
func camel(name string) string {
	w := words.FindAllString(name, -1)
	w[0] = strings.ToLower(w[0])
	return strings.Join(w, "")
}

// wrap breaks a comment into lines behind a prefix.
func wrap(prefix, text string) string {
	var out strings.Builder
	line := prefix
	for w := range strings.FieldsSeq(text) {
		if len(line)+1+len(w) > 80 {
			out.WriteString(line + "\n")
			line = prefix
		}
		line += " " + w
	}
	out.WriteString(line + "\n")
	return out.String()
}
