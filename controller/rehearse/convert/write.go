package convert

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// WriteYAML writes classes and NodePools as manifests, each NodePool below the notes about
// its group.
func (r *Result) WriteYAML(w io.Writer) error {
	var b strings.Builder
	for _, c := range r.Classes {
		if err := manifest(&b, c); err != nil {
			return err
		}
	}
	for _, p := range r.NodePools {
		for _, n := range r.Notes {
			if n.NodePool != p.Name {
				continue
			}
			todo := ""
			if n.Needed {
				todo = "TO DO: "
			}
			fmt.Fprintf(&b, "# %s%s: %s\n", todo, n.Field, n.Text)
		}
		if err := manifest(&b, p); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "---\n"))
	return err
}

// manifest writes an object as its author would, without a status.
func manifest(b *strings.Builder, object any) error {
	plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("write %T: %w", object, err)
	}
	delete(plain, "status")
	raw, err := yaml.Marshal(plain)
	if err != nil {
		return fmt.Errorf("write %T: %w", object, err)
	}
	b.Write(raw)
	b.WriteString("---\n")
	return nil
}
