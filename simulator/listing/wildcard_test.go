package listing

import "testing"

func TestWildcard(t *testing.T) {
	for _, tc := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"a*c", "abbc", true},
		{"a*c", "abcd", false},
		{"?", "", false},
		{"a?", "ab", true},
		{`\*`, "*", true},
		{`\*`, "a", false},
		{`a\?*`, "a?b", true},
		{"*a*b*", "xaybz", true},
		{"*.large", "m5.xlarge", false},
		{"**", "x", true},
	} {
		if got := Wildcard(tc.pattern, tc.text); got != tc.want {
			t.Errorf("Wildcard(%q, %q) = %v", tc.pattern, tc.text, got)
		}
	}
}
