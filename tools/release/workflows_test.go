package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const repositoryRoot = "../.."

// workflow is what a file in .github/workflows says.
type workflow struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Permissions map[string]string
		Steps       []struct {
			Uses, Run string
			Env       map[string]string
		}
		Env map[string]string
	}
}

// TestWorkflows: workflows run targets of the Makefile and nothing else, with variables that
// the Makefile reads, so that whatever they do can be done without them. Actions only set up
// the machine, and are named by digest: a tag can be moved. A job gets identity tokens if it
// signs with them, and no other does.
func TestWorkflows(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(repositoryRoot, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	target := func(name string) bool { return strings.Contains(string(makefile), "\n.PHONY: "+name+"\n"+name+":") }
	command, pinned := regexp.MustCompile(`^make ([a-z-]+)((?: [A-Z]+=[A-Za-z_:/]+)*)$`), regexp.MustCompile(`^(actions/(checkout|setup-go|setup-node)|docker/login-action)@[0-9a-f]{40}$`)
	files, err := filepath.Glob(filepath.Join(repositoryRoot, ".github/workflows/*.yml"))
	if err != nil || len(files) < 2 {
		t.Fatalf("workflows %v, %v", files, err)
	}
	ran := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if diff := cmp.Diff(map[string]string{"contents": "read"}, w.Permissions); diff != "" {
			t.Errorf("%s: permissions of all jobs (-want +got):\n%s", file, diff)
		}
		for name, job := range w.Jobs {
			signs, identity := false, job.Permissions["id-token"] == "write"
			var variables []string
			for variable := range job.Env {
				variables = append(variables, variable)
			}
			for _, step := range job.Steps {
				m := command.FindStringSubmatch(step.Run)
				switch {
				case step.Uses != "" && step.Run == "" && pinned.MatchString(step.Uses):
				case m != nil && step.Uses == "" && target(m[1]):
					ran[m[1]] = true
					signs = signs || m[1] == "release-sign"
					for _, given := range strings.Fields(m[2]) {
						variable, value, _ := strings.Cut(given, "=")
						variables = append(variables, variable)
						if from, ok := strings.CutPrefix(value, "env://"); ok && step.Env[from] == "" {
							t.Errorf("%s: job %s: %s names the variable %s, which the step does not set", file, name, step.Run, from)
						}
					}
				default:
					t.Errorf("%s: job %s: the step %q%q is neither a target of the Makefile nor an action by digest", file, name, step.Uses, step.Run)
				}
			}
			if signs != identity {
				t.Errorf("%s: job %s: signs with its identity: %t, may do so: %t", file, name, signs, identity)
			}
			for _, variable := range variables {
				if !strings.Contains(string(makefile), "$("+variable+")") {
					t.Errorf("%s: job %s: the Makefile does not read %s", file, name, variable)
				}
			}
		}
	}
	for _, want := range []string{"ci", "docs", "licences", "release", "release-publish", "release-push", "release-sign", "verify", "vulncheck"} {
		if !ran[want] {
			t.Errorf("no workflow runs make %s", want)
		}
	}
}

// TestUpdates: every module and npm package of the repository gets proposals for updates.
func TestUpdates(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repositoryRoot, ".github/dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Updates []struct {
			Ecosystem   string `json:"package-ecosystem"`
			Directories []string
		}
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, u := range config.Updates {
		if len(u.Directories) > 0 {
			slices.Sort(u.Directories)
			got[u.Ecosystem] = u.Directories
		}
	}
	want := map[string][]string{}
	kinds := map[string]string{"go.mod": "gomod", "package.json": "npm"}
	err = filepath.WalkDir(repositoryRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() == "dist" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if kind := kinds[d.Name()]; kind != "" {
			dir, err := filepath.Rel(repositoryRoot, filepath.Dir(path))
			if err != nil {
				return err
			}
			want[kind] = append(want[kind], strings.TrimSuffix("/"+filepath.ToSlash(dir), "."))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range want {
		slices.Sort(all)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("folders with dependencies (-repository +dependabot.yml):\n%s", diff)
	}
}
