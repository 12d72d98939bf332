package policy

import "strings"

// pattern is a text in which some characters are wildcards: * matches any
// characters or none, ? one.
type pattern []glyph

// glyph is a character of a pattern; wild is one of * and ? as a wildcard.
type glyph struct {
	char rune
	wild bool
}

// literal is a pattern without policy variables. Its * and ? are wildcards when
// wild is true.
func literal(text string, wild bool) pattern {
	out := make(pattern, 0, len(text))
	for _, r := range text {
		out = append(out, glyph{r, wild && (r == '*' || r == '?')})
	}
	return out
}

// expand replaces policy variables: ${*}, ${?} and ${$} are these characters
// themselves, and ${aws:RequestedRegion} is the value of that key. It is not ok
// when a key has not exactly one value, which makes the comparison fail; a
// default (${key, 'text'}) stands in for a key that is absent.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
func expand(text string, wild bool, keys Keys) (p pattern, ok bool) {
	for {
		before, rest, found := strings.Cut(text, "${")
		p = append(p, literal(before, wild)...)
		if !found {
			return p, true
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return append(p, literal("${"+rest, wild)...), true
		}
		value, ok := variable(name, keys)
		if !ok {
			return nil, false
		}
		p, text = append(p, literal(value, false)...), after
	}
}

func variable(name string, keys Keys) (value string, ok bool) {
	if name == "*" || name == "?" || name == "$" {
		return name, true
	}
	key, fallback, hasFallback := strings.Cut(name, ",")
	values, present := keys.get(strings.TrimSpace(key))
	switch {
	case len(values) == 1:
		return values[0], true
	case !present && hasFallback:
		return strings.Trim(strings.TrimSpace(fallback), "'"), true
	default:
		return "", false
	}
}

// matches compares the whole of a text.
func (p pattern) matches(text string) bool {
	runes := []rune(text)
	at, next, star, mark := 0, 0, -1, 0
	for next < len(runes) {
		switch {
		case at < len(p) && p[at].wild && p[at].char == '*':
			star, mark = at, next
			at++
		case at < len(p) && (p[at].wild || p[at].char == runes[next]):
			at, next = at+1, next+1
		case star >= 0:
			mark++
			at, next = star+1, mark
		default:
			return false
		}
	}
	for at < len(p) && p[at].wild && p[at].char == '*' {
		at++
	}
	return at == len(p)
}

// split cuts a pattern at colons into n parts at most.
func (p pattern) split(n int) []pattern {
	var out []pattern
	from := 0
	for i, g := range p {
		if g.char == ':' && len(out) < n-1 {
			out, from = append(out, p[from:i]), i+1
		}
	}
	return append(out, p[from:])
}
