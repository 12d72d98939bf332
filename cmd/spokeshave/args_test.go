package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestMisuse: a command that cannot be understood is bad input. Its error says what is
// wrong, what was probably meant, and where the help is.
func TestMisuse(t *testing.T) {
	cases := map[string]struct {
		args []string
		want string
	}{
		"a misspelt command":                       {[]string{"explan", "pod", "web"}, `unknown command "explan" for "spokeshave"; did you mean explain?` + "\nsee spokeshave --help\n"},
		"with flags of the command that was meant": {[]string{"simulat", "-f", "x"}, `unknown command "simulat" for "spokeshave"; did you mean simulate?` + "\nsee spokeshave --help\n"},
		"a misspelt subcommand":                    {[]string{"policy", "lst", "-o", "json"}, `unknown command "lst" for "spokeshave policy"; did you mean list?` + "\nsee spokeshave policy --help\n"},
		"a word that is like none":                 {[]string{"policy", "delete", "x"}, `unknown command "delete" for "spokeshave policy"` + "\nsee spokeshave policy --help\n"},
		"an unknown flag":                          {[]string{"simulate", "--fille", "x"}, "simulate: unknown flag: --fille\nsee spokeshave simulate --help\n"},
		"a missing argument":                       {[]string{"explain", "pod"}, "an argument is missing: spokeshave explain pod|node|nodeclaim|nodepool NAME [flags]\nsee spokeshave explain --help\n"},
		"an argument too many":                     {[]string{"top", "nodes"}, `unexpected argument "nodes": spokeshave top [--watch [INTERVAL]] [flags]` + "\nsee spokeshave top --help\n"},
	}
	for reason, tc := range cases {
		t.Run(reason, func(t *testing.T) {
			code, stdout, stderr := command(t, tc.args...)
			if code != exitBadInput || stdout != "" || stderr != "spokeshave: "+tc.want {
				t.Errorf("exit %d, printed %q and %q, want 2 and %q", code, stdout, stderr, "spokeshave: "+tc.want)
			}
		})
	}
}

// TestNoKubeconfig: without a kubeconfig the error names the file that was looked for and
// the two ways to name another, and no variable that this program does not read.
func TestNoKubeconfig(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	t.Setenv("KUBECONFIG", missing)
	for _, name := range []string{"top", "doctor", "spend", "snapshot", "observe", "policy list", "explain pod web"} {
		code, stdout, stderr := command(t, strings.Fields(name)...)
		if want := "find the cluster: no kubeconfig in " + missing + ": name one with --kubeconfig or KUBECONFIG\n"; code != exitBadInput || stdout != "" || !strings.HasSuffix(stderr, want) {
			t.Errorf("%s: exit %d: %s%s", name, code, stdout, stderr)
		}
	}
}
