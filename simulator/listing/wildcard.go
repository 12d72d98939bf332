package listing

import (
	"strings"
)

// Wildcard matches text against a pattern of *, ? and \ escapes.
func Wildcard(pattern, text string) bool {
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
