package wording

import "testing"

func TestPlural(t *testing.T) {
	for want, c := range map[string]struct {
		n    int
		what string
	}{"1 class": {1, "class"}, "0 nodes": {0, "node"}, "2 classes": {2, "class"}} {
		if got := Plural(c.n, c.what); got != want {
			t.Errorf("%d %s: %q, want %q", c.n, c.what, got, want)
		}
	}
}
