package main

import (
	"slices"
	"strings"
	"testing"
)

// TestCompletedValues: the Tab key offers the values of flags and arguments that have a list, and no
// files in their place.
func TestCompletedValues(t *testing.T) {
	t.Setenv("KUBECONFIG", "")
	complete := func(args ...string) string {
		code, stdout, _ := command(t, append([]string{"__complete"}, args...)...)
		if code != exitOK {
			t.Errorf("%v: exit %d", args, code)
		}
		return strings.Join(strings.Fields(stdout), " ")
	}
	for _, tc := range []struct{ args, want string }{
		{"explain", "pod node nodeclaim nodepool :4"},
		{"explain pod", ":4"},
		{"policy new", "rank consolidate ceiling :4"},
		{"policy new rank x --lang", "assemblyscript c go rego rust :4"},
		{"top --sort", "price cpu memory age name :4"},
		{"spend --by", "namespace workload nodepool family capacity day :4"},
		{"spend export --format", "focus :4"},
		{"doctor -o", "text json html :4"},
	} {
		if got := complete(append(strings.Fields(tc.args), "")...); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.args, got, tc.want)
		}
	}
	for _, c := range leaves(rootCommand(t.Context())) {
		path := strings.Fields(c.CommandPath())[1:]
		if got := complete(append(path, "--output", "")...); !strings.HasSuffix(got, " :4") {
			t.Errorf("%v --output: %q", path, got)
		}
		region := c.Flags().Lookup("region")
		if region == nil || c.Name() == "export" && c.Parent().Name() == "spend" { // that is a name in a bill
			continue
		}
		if got := strings.Fields(complete(append(path, "--region", "")...)); !slices.Contains(got, "us-east-1") || slices.Contains(got, ":0") {
			t.Errorf("%v --region: %q", path, got)
		}
	}
}
