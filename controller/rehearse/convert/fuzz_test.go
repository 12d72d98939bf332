package convert

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// FuzzGroups: whatever a file says, there is an error or manifests, and every group has a
// NodePool of its own name.
func FuzzGroups(f *testing.F) {
	names, err := filepath.Glob("testdata/*.[jy]*")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Groups([]File{{Name: "input", Text: text}}, Options{})
		if err != nil {
			return
		}
		if err := r.WriteYAML(io.Discard); err != nil {
			t.Error(err)
		}
		seen, classes := map[string]bool{}, map[string]bool{}
		for _, c := range r.Classes {
			classes[c.Name] = true
		}
		for _, p := range r.NodePools {
			if seen[p.Name] || !classes[p.Spec.Template.Spec.NodeClassRef.Name] {
				t.Errorf("NodePool %s is there twice, or its class %s is not", p.Name, p.Spec.Template.Spec.NodeClassRef.Name)
			}
			seen[p.Name] = true
		}
	})
}
