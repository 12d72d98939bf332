package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSteps(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, text string
		want         []Step
		err          bool
	}{
		"two blocks": {
			reason: "only the second says what it prints; other languages are no commands",
			text:   "# A\n```sh\nkubectl get a\n```\n```yaml\na: b\n```\nwords\n```sh\nkubectl get b \\\n  c\n```\nprints\n```text\nNAME\n…\n```\n",
			want: []Step{
				{Line: 2, Commands: "kubectl get a\n"},
				{Line: 9, Commands: "kubectl get b \\\n  c\n", Prints: []string{"NAME", "…"}},
			},
		},
		"output of nothing": {reason: "nobody would look at it", text: "```text\na\n```\n", err: true},
		"two outputs":       {reason: "the second is nothing's", text: "```sh\na\n```\n```text\na\n```\n```text\nb\n```\n", err: true},
		"no end":            {reason: "the rest of the page would be commands", text: "```sh\na\n", err: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Steps(tc.text)
			if (err != nil) != tc.err {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	const output = "NAME    READY   AGE\nweb-1   1/1     12s\nweb-2   0/1     3s\n"
	for name, tc := range map[string]struct {
		reason string
		prints []string
		want   string
	}{
		"whole lines":   {reason: "widths of columns are not compared", prints: []string{"NAME READY AGE", "web-2 0/1 3s"}},
		"ellipsis":      {reason: "ages differ from run to run", prints: []string{"web-1 1/1 …", "…-2 …"}},
		"lines between": {reason: "a line of its own stands for any", prints: []string{"NAME …", "…", "web-2 …"}},
		"order":         {reason: "a later line comes later", prints: []string{"web-2 …", "web-1 …"}, want: "web-1 …"},
		"part":          {reason: "without an ellipsis a line is whole", prints: []string{"web-1"}, want: "web-1"},
		"no pattern":    {reason: "what stands there is no regular expression", prints: []string{"web-. 1/1 12s"}, want: "web-. 1/1 12s"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Missing(tc.prints, output); got != tc.want {
				t.Errorf("%s: %q is missing, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
