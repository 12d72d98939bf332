package convert

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/*.golden.yaml")

func files(t *testing.T, names ...string) []File {
	t.Helper()
	var out []File
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, File{Name: name, Text: text})
	}
	return out
}

// TestGroups: what each kind of document becomes, with a note for every field that has no
// counterpart.
func TestGroups(t *testing.T) {
	for name, c := range map[string]struct {
		reason  string
		files   []string
		options Options
		needed  int
	}{
		"eksctl":  {"groups of a file share a class where they launch in the same way; defaults are eksctl's", []string{"eksctl.yaml"}, Options{}, 1},
		"asg":     {"the template's latest version holds, whichever file comes first; a launch configuration needs a person", []string{"asg.json", "templates.json"}, Options{Role: "shop-nodes", Cluster: "shop"}, 3},
		"managed": {"capacity, images, role and taints are EKS's words", []string{"managed.json"}, Options{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Groups(files(t, c.files...), c.options)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := r.WriteYAML(&b); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", name+".golden.yaml")
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if diff := cmp.Diff(string(want), b.String()); diff != "" || err != nil {
				t.Errorf("%s: %v\n%s", c.reason, err, diff)
			}
			if n := len(r.Needed()); n != c.needed {
				t.Errorf("%d notes need somebody, want %d: %v", n, c.needed, r.Notes)
			}
		})
	}
}
