package provider

import (
	"strconv"
	"strings"
)

// Group names the claims of one decision that are launched with the same options,
// labels and taints, so that one request can launch them all. The zero value is no
// group.
type Group struct {
	Name string
	// Size is the number of claims in the group, 1 or more.
	Size int
}

// String returns "<name>/<size>", and "" for the zero value.
func (g Group) String() string {
	if g.Size == 0 {
		return ""
	}
	return g.Name + "/" + strconv.Itoa(g.Size)
}

// ParseGroup parses what String returned. Any other text gives the zero value: its
// claims are launched without waiting for others.
func ParseGroup(text string) Group {
	at := strings.LastIndexByte(text, '/')
	if at <= 0 {
		return Group{}
	}
	size, err := strconv.Atoi(text[at+1:])
	if err != nil || size < 1 {
		return Group{}
	}
	return Group{Name: text[:at], Size: size}
}
