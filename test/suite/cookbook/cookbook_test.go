// Package cookbook tests the recipes of docs/cookbook: each is taken from its page, loaded
// as the controller loads it, and asked its cases.
package cookbook

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/rehearse/author"
	"spokeshave.dev/controller/rehearse/scaffold"
)

const pages = "../../../docs/cookbook"

// recipe is a section of a page with a policy.
type recipe struct {
	page, title string
	// anchor is the name of the section in links.
	anchor string
	// blocks are its fenced blocks, by kind: configmap, manifest, program, cases.
	blocks map[string]string
}

var (
	section = regexp.MustCompile(`(?m)^## `)
	fenced  = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// recipes returns the recipes of all pages but the first, which lists them.
func recipes(t *testing.T) []recipe {
	t.Helper()
	files, err := filepath.Glob(pages + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []recipe
	for _, file := range files {
		if filepath.Base(file) == "README.md" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range section.Split(string(text), -1)[1:] {
			title, rest, _ := strings.Cut(part, "\n")
			r := recipe{page: filepath.Base(file), title: title, blocks: map[string]string{}}
			r.anchor = strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
			for _, m := range fenced.FindAllStringSubmatch(rest, -1) {
				k := kind(m[1], m[2])
				if r.blocks[k] != "" || k == "" {
					t.Errorf("%s: %s: a block too many, or of an unknown kind:\n%s", r.page, title, m[2])
				}
				r.blocks[k] = m[2]
			}
			if len(r.blocks) > 0 {
				out = append(out, r)
			}
		}
	}
	return out
}

// kind says what a fenced block is.
func kind(language, text string) string {
	switch {
	case language == "go":
		return "program"
	case language != "yaml":
		return ""
	case strings.HasPrefix(text, "cases:"):
		return "cases"
	case strings.Contains(text, "\nkind: ConfigMap\n"):
		return "configmap"
	case strings.HasPrefix(text, "apiVersion: policy.spokeshave.dev/"):
		return "manifest"
	}
	return ""
}

// TestRecipes loads every recipe without a complaint and runs its cases.
func TestRecipes(t *testing.T) {
	all := recipes(t)
	if len(all) < 25 {
		t.Errorf("%d recipes were found, want at least 25", len(all))
	}
	names := map[string]bool{}
	for i := range all {
		r := &all[i]
		t.Run(strings.TrimSuffix(r.page, ".md")+"/"+r.anchor, func(t *testing.T) {
			path := r.write(t)
			sources, err := author.Open(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if len(sources) != 1 {
				t.Fatalf("%d policies, want one", len(sources))
			}
			s := &sources[0]
			if f := s.Find(t.Context(), author.Namespace, time.Unix(0, 0)); f.Reason != "" {
				t.Fatal(f.Reason)
			}
			if names[s.Name()] {
				t.Errorf("another recipe has the name %s: applied together, one would replace the other", s.Name())
			}
			names[s.Name()] = true
			results, err := s.Test(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(results) == 0 {
				t.Error("the recipe has no cases")
			}
			for _, c := range results {
				for _, f := range c.Failures {
					t.Errorf("%s\n%s", c.Name, f)
				}
			}
		})
	}
}

// write writes the recipe into a folder, as its page tells to, and returns the path to open.
func (r *recipe) write(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), r.anchor)
	files := map[string]string{"cases/cases.yaml": r.blocks["cases"]}
	path := dir
	switch {
	case r.blocks["configmap"] != "" && len(r.blocks) <= 2:
		r.check(t)
		path = filepath.Join(dir, "configmap.yaml")
		files["configmap.yaml"] = r.blocks["configmap"]
	case r.blocks["program"] != "" && r.blocks["manifest"] != "" && len(r.blocks) <= 3:
		hook := regexp.MustCompile(`(?m)^hooks: \[(\w+)\]$`).FindStringSubmatch(r.blocks["manifest"])
		if hook == nil {
			t.Fatal("policy.yaml names no hook, or several")
		}
		p := scaffold.Project{Name: r.anchor, Hook: hook[1], Language: "go"}
		if err := p.Write(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, "main_test.go")); err != nil {
			t.Fatal(err)
		}
		files["policy.yaml"], files["main.go"] = r.blocks["manifest"], r.blocks["program"]
	default:
		t.Fatal("want a ConfigMap, or policy.yaml and a program, and cases")
	}
	if files["cases/cases.yaml"] == "" {
		t.Fatal("the recipe has no cases")
	}
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// check holds the ConfigMap to what the API server and the controller look for.
func (r *recipe) check(t *testing.T) {
	t.Helper()
	var cm corev1.ConfigMap
	if err := yaml.UnmarshalStrict([]byte(r.blocks["configmap"]), &cm); err != nil {
		t.Fatal(err)
	}
	if cm.Namespace != author.Namespace || cm.Labels["spokeshave.dev/policy"] != "true" {
		t.Errorf("namespace %q and labels %v are not those of a policy", cm.Namespace, cm.Labels)
	}
}

// TestRecipesAreListed: the first page has a link to every recipe, and to nothing else.
func TestRecipesAreListed(t *testing.T) {
	text, err := os.ReadFile(pages + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed, there []string
	for _, m := range regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\((\w+\.md#[^)]+)\)`).FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[2]+" "+m[1])
	}
	for _, r := range recipes(t) {
		there = append(there, r.page+"#"+r.anchor+" "+r.title)
	}
	for _, l := range listed {
		if !slices.Contains(there, l) {
			t.Errorf("docs/cookbook/README.md lists %s, which is no recipe", l)
		}
	}
	for _, r := range there {
		if !slices.Contains(listed, r) {
			t.Errorf("docs/cookbook/README.md does not list %s", r)
		}
	}
}
