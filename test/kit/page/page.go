// Package page finds the commands of a page of the documentation, for tests that follow it.
package page

import (
	"fmt"
	"strings"
)

// Commands returns the commands in the lists of a section, whose heading is given with its
// number signs.
func Commands(text, section string) ([]string, error) {
	_, rest, ok := strings.Cut(text, "\n"+section+"\n")
	if !ok {
		return nil, fmt.Errorf("the page has no section %q", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	var out []string
	for line := range strings.Lines(rest) {
		if command, ok := strings.CutPrefix(line, "       "); ok {
			out = append(out, strings.TrimSpace(command))
		}
	}
	return out, nil
}
