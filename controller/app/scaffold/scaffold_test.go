package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/app/author"
)

// TestProjects makes a project of every kind and takes it through what its
// README says, without a network.
func TestProjects(t *testing.T) {
	// What the go command would have to fetch, it must not find.
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	for _, language := range []string{"rego", "go"} {
		for _, hook := range Hooks() {
			t.Run(language+"/"+hook, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "my-"+hook)
				p := Project{Name: "my-" + hook, Hook: hook, Language: language}
				if err := p.Write(dir); err != nil {
					t.Fatal(err)
				}
				if language == "go" {
					goTest(t, dir)
				}
				check(t, dir)
			})
		}
	}
}

func goTest(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "test", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test: %v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || strings.Contains(string(text), "indirect") {
		t.Errorf("go.mod: %v\n%s", err, text)
	}
}

// check vets the policy and asks it the cases that it came with.
func check(t *testing.T, dir string) {
	t.Helper()
	sources, err := author.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &sources[0]
	if f := s.Find(t.Context(), author.Namespace, time.Unix(0, 0)); f.Reason != "" || f.Notes != nil {
		t.Fatalf("%s %v", f.Reason, f.Notes)
	}
	results, err := s.Test(t.Context())
	if err != nil || len(results) == 0 {
		t.Fatalf("%d cases, %v", len(results), err)
	}
	for _, r := range results {
		for _, f := range r.Failures {
			t.Errorf("%s: %s", r.Name, f)
		}
	}
}

func TestRefused(t *testing.T) {
	for want, p := range map[string]Project{
		"cannot be a policy's name": {Name: "My Policy", Hook: "rank", Language: "rego"},
		`hook "rang"`:               {Name: "a", Hook: "rang", Language: "rego"},
		`language "perl"`:           {Name: "a", Hook: "rank", Language: "perl"},
		"is there already":          {Name: "a", Hook: "rank", Language: "rego"},
	} {
		if err := p.Write(t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
