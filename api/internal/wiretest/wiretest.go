// Package wiretest checks that Go types say on the wire what manifests say: a
// manifest is read strictly, written back and compared, and together the
// manifests must set every field there is.
//
// Not here: what the API server accepts; see test/suite/api.
package wiretest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Suite is a folder of manifests and the types they are read into.
type Suite struct {
	// Dir holds the manifests.
	Dir string
	// Kinds has an object of every kind; it is not changed.
	Kinds map[string]runtime.Object
}

// Decode reads a manifest of the suite strictly, and also as a plain tree.
func (s Suite) Decode(t *testing.T, file string) (runtime.Object, map[string]any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(s.Dir, file))
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(raw, &tree); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	kind, _ := tree["kind"].(string)
	if s.Kinds[kind] == nil {
		t.Fatalf("%s: unknown kind %q", file, kind)
	}
	obj := s.Kinds[kind].DeepCopyObject()
	if err := yaml.UnmarshalStrict(raw, obj); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return obj, tree
}

// Run checks every manifest, and that they leave no field out.
func (s Suite) Run(t *testing.T) {
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".yaml" {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			obj, tree := s.Decode(t, e.Name())
			roundTrip(t, obj, tree)
			collect(seen, tree["kind"].(string), tree)
		})
	}
	var missing []string
	for kind, obj := range s.Kinds {
		own := reflect.TypeOf(obj).Elem()
		for _, part := range []string{"Spec", "Status"} {
			f, _ := own.FieldByName(part)
			for _, path := range fields(kind+"."+strings.ToLower(part), f.Type, own.PkgPath()) {
				if !seen[path] {
					missing = append(missing, path)
				}
			}
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("no manifest in %s sets, under that name:\n%s", s.Dir, strings.Join(missing, "\n"))
	}
}

func roundTrip(t *testing.T, obj runtime.Object, want map[string]any) {
	t.Helper()
	data, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("written back, the manifest differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(obj, obj.DeepCopyObject()); diff != "" {
		t.Errorf("deep copy differs (-original +copy):\n%s", diff)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	back := reflect.New(reflect.TypeOf(obj).Elem()).Interface()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(content, back, true); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(obj), back); diff != "" {
		t.Errorf("converted to unstructured and back, the object differs (-want +got):\n%s", diff)
	}
}

// collect notes the path of every field in a decoded manifest, without list indices.
func collect(seen map[string]bool, path string, v any) {
	seen[path] = true
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			collect(seen, path+"."+k, x)
		}
	case []any:
		for _, x := range v {
			collect(seen, path, x)
		}
	}
}

// fields lists the path of every JSON field of t, descending into structs of pkg.
func fields(path string, t reflect.Type, pkg string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	wraps := t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Anonymous // another type, read in another way
	if t.Kind() != reflect.Struct || t.PkgPath() != pkg || wraps {
		return []string{path}
	}
	var out []string
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			out = append(out, fields(path+"."+name, f.Type, pkg)...)
		}
	}
	return out
}
