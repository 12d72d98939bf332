package table

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const nodes = "NODE\tPOOL\t$/H\nip-10-0-32-4.us-west-2.compute.internal\tgeneral\t0.0860\nip-10-0-32-5.us-west-2.compute.internal\tgeneral\t0.0235\n\nin all 0.1095, which is a sentence longer than the table\n"

func TestFit(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		width  int
		want   string
	}{
		"no terminal": {
			reason: "what a file is given is whole", width: 0,
			want: "NODE                                     POOL     $/H\nip-10-0-32-4.us-west-2.compute.internal  general  0.0860\nip-10-0-32-5.us-west-2.compute.internal  general  0.0235\n\nin all 0.1095, which is a sentence longer than the table\n",
		},
		"wide": {
			reason: "what fits is left alone", width: 56,
			want: "NODE                                     POOL     $/H\nip-10-0-32-4.us-west-2.compute.internal  general  0.0860\nip-10-0-32-5.us-west-2.compute.internal  general  0.0235\n\nin all 0.1095, which is a sentence longer than the table\n",
		},
		"narrow": {
			reason: "the widest column gives way, in the middle; sentences do not", width: 36,
			want: "NODE                 POOL     $/H\nip-10-0-32-4…ternal  general  0.0860\nip-10-0-32-5…ternal  general  0.0235\n\nin all 0.1095, which is a sentence longer than the table\n",
		},
		"too narrow": {
			reason: "no column is made unreadable", width: 10,
			want: "NODE      POOL     $/H\nip-10…al  general  0.0860\nip-10…al  general  0.0235\n\nin all 0.1095, which is a sentence longer than the table\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w := Within(&out, tc.width)
			_, _ = io.WriteString(w, nodes)
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestProse: a sentence at the end of a row is not shortened, and does not make the others
// shorter.
func TestProse(t *testing.T) {
	var out bytes.Buffer
	w := Within(&out, 30).Prose()
	_, _ = io.WriteString(w, "NAME\tREASON\nbudget\tbudget.rego:3:9: a value that is too large for this line\n")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("NAME    REASON\nbudget  budget.rego:3:9: a value that is too large for this line\n", out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestSpare: columns that can be spared are left out before what is left is shortened beyond
// reading, in their order and no more than needed.
func TestSpare(t *testing.T) {
	const wide = "NODE\tSTATE\tTYPE\tPODS\t$/H\nip-10-0-32-4.us-west-2.compute.internal\tInitialized\tc8gd.4xlarge\t15/234\t0.0860\n\n1 node\n"
	for width, tc := range map[int]struct{ reason, want string }{
		0:  {"what a file is given is whole", "NODE                                     STATE        TYPE          PODS    $/H\nip-10-0-32-4.us-west-2.compute.internal  Initialized  c8gd.4xlarge  15/234  0.0860\n\n1 node\n"},
		60: {"a shorter name is enough", "NODE               STATE        TYPE          PODS    $/H\nip-10-0-32-…ernal  Initialized  c8gd.4xlarge  15/234  0.0860\n\n1 node\n"},
		50: {"the first one is left out", "NODE                  TYPE          PODS    $/H\nip-10-0-32-4.…ternal  c8gd.4xlarge  15/234  0.0860\n\n1 node\n"},
		40: {"both are left out", "NODE                TYPE          $/H\nip-10-0-32-4…ernal  c8gd.4xlarge  0.0860\n\n1 node\n"},
	} {
		var out bytes.Buffer
		w := Within(&out, width).Spare("STATE", "PODS", "OTHER")
		_, _ = io.WriteString(w, wide)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, out.String()); diff != "" {
			t.Errorf("%d characters, %s: -want +got\n%s", width, tc.reason, diff)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		most       int
	}{
		{"web-75f88cb46d-2kz9s", "web-75f88cb46d-2kz9s", 20},
		{"web-75f88cb46d-2kz9s", "web-75f8…kz9s", 13},
		{"größer-als-alles", "größer…les", 10},
	} {
		if got := shorten(tc.text, tc.most); got != tc.want || utf8.RuneCountInString(got) > tc.most {
			t.Errorf("%s in %d characters: %s, want %s", tc.text, tc.most, got, tc.want)
		}
	}
}

// FuzzFit: whatever the text, no line is wider than the line that it was or than the width,
// unless its columns are narrow already, and the number of cells stays.
func FuzzFit(f *testing.F) {
	f.Add(nodes, 36, false)
	f.Add("\t\t\na\tb", 3, true)
	f.Fuzz(func(t *testing.T, text string, width int, prose bool) {
		g := read(text)
		if width > 0 {
			g.shorten(width, prose)
		}
		got := g.text()
		if !utf8.ValidString(text) {
			return
		}
		before, after := strings.Split(text, "\n"), strings.Split(got, "\n")
		if len(before) != len(after) {
			t.Fatalf("%d lines of %d", len(after), len(before))
		}
		for i := range before {
			if strings.Count(before[i], "\t") != strings.Count(after[i], "\t") || utf8.RuneCountInString(after[i]) > utf8.RuneCountInString(before[i]) {
				t.Errorf("%q became %q", before[i], after[i])
			}
		}
	})
}
