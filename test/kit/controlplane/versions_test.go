package controlplane

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecipe(t *testing.T) {
	r, err := loadRecipe(".")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(r.key, r.kubernetes+"-") || !strings.HasPrefix(r.kubernetes, "v1.") {
		t.Errorf("key = %q for Kubernetes %q, want one that begins with the version", r.key, r.kubernetes)
	}
	again, err := loadRecipe("stages")
	if err != nil {
		t.Fatal(err)
	}
	if again.key != r.key {
		t.Errorf("key from a subfolder = %q, want %q", again.key, r.key)
	}
}

func TestFindRoot(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ours/go.mod", "// The product.\nmodule spokeshave.dev\n")
	write("ours/a/b/go.mod", "module spokeshave.dev/a/b\n")
	write("theirs/go.mod", "module example.com\n")
	cases := map[string]struct {
		reason string
		dir    string
		want   string // relative to root; empty means an error
	}{
		"Root":   {"the folder itself may be the root", "ours", "ours"},
		"Nested": {"a nested module is passed over", "ours/a/b", "ours"},
		"Other":  {"another project is not ours", "theirs", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := findRoot(filepath.Join(root, tc.dir))
			if tc.want == "" {
				if err == nil {
					t.Errorf("findRoot = %s, want an error: %s", got, tc.reason)
				}
				return
			}
			if err != nil || got != filepath.Join(root, tc.want) {
				t.Errorf("findRoot = %s, %v, want %s: %s", got, err, tc.want, tc.reason)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"etcd", ".helm.partial"} {
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got := missing(dir, []target{{name: "etcd"}, {name: "helm"}})
	if diff := cmp.Diff(map[string]bool{"helm": true}, got); diff != "" {
		t.Errorf("a program whose build was interrupted must count as missing (-want +got):\n%s", diff)
	}
}

// TestBuildOneReportsTheCompiler builds a package that does not exist.
func TestBuildOneReportsTheCompiler(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := buildOne(t.Context(), target{name: "absent", module: dir, pkg: "./absent"}, dir)
	if err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("buildOne of an absent package = %v, want what the go command said", err)
	}
	if len(missing(dir, []target{{name: "absent"}})) != 1 {
		t.Error("a failed build left a program behind")
	}
}

func TestRequiredVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go.mod")
	text := "module m\nrequire a.b/single v1.0.0\nrequire (\n\ta.b/block v2.1.0 // indirect\n)\nreplace a.b/replaced => a.b/replaced v0.1.0\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for module, want := range map[string]string{"a.b/single": "v1.0.0", "a.b/block": "v2.1.0", "a.b/replaced": "", "a.b/absent": ""} {
		got, err := requiredVersion(file, module)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("requiredVersion(%s) = %q, %v, want %q", module, got, err, want)
		}
	}
}

// TestShared holds the control plane's modules against the product's: where both
// require one, they agree, or it is compiled twice on a fresh machine. That is
// a minute or two for the Kubernetes libraries, which most else builds on.
func TestShared(t *testing.T) {
	root, err := findRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	ours := requirements(t, filepath.Join(root, "go.mod"))
	theirs := requirements(t, filepath.Join(root, "test", "kit", "controlplane", "build", "go.mod"))
	var apart []string
	for module, version := range theirs {
		if v, ok := ours[module]; ok && v != version {
			apart = append(apart, module)
		}
	}
	slices.Sort(apart)
	if len(apart) > 0 {
		t.Errorf("at other versions than the product's: %v\nrun go get with the product's versions in test/kit/controlplane/build", apart)
	}
	if len(ours) < 50 || len(theirs) < 100 {
		t.Errorf("read %d and %d requirements: too few to have read the files", len(ours), len(theirs))
	}
}

// requirements are the modules that a go.mod requires, with their versions.
func requirements(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(f) >= 2 && strings.Contains(f[0], ".") && strings.HasPrefix(f[1], "v") {
			out[f[0]] = f[1]
		}
	}
	return out
}
