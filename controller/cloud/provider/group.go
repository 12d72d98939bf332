package provider

import (
	"strconv"
	"strings"
)

// Group names claims of one decision that are launched with the same options, labels and
// taints, so that one request can serve them. The zero value is no group.
type Group struct {
	Name string
	// Size is how many claims there are, 1 or more.
	Size int
}

// String writes a group as "<name>/<size>", the zero value as "".
func (g Group) String() string {
	if g.Size == 0 {
		return ""
	}
	return g.Name + "/" + strconv.Itoa(g.Size)
}

// ParseGroup reads what String wrote. Anything else is no group: its claims are launched
// without waiting for others.
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
