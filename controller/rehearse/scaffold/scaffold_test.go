package scaffold

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/rehearse/author"
)

// TestProjects creates a project of every kind and runs the steps of its README without
// a network.
func TestProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("compilers do the work here: the race detector would find nothing in three minutes")
	}
	// Downloads by the go command must fail.
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	for _, language := range Languages() {
		for _, hook := range Hooks() {
			t.Run(language+"/"+hook, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "my-"+hook)
				p := Project{Name: "my-" + hook, Hook: hook, Language: language}
				if err := p.Write(dir); err != nil {
					t.Fatal(err)
				}
				build(t, dir, language)
				check(t, dir)
			})
		}
	}
}

// absent skips the test when a compiler is missing, except in CI, where all are
// installed.
func absent(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// build runs the README's steps before policy test.
func build(t *testing.T, dir, language string) {
	t.Helper()
	switch language {
	case "go":
		run(t, dir, "go", "test", ".")
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil || strings.Contains(string(text), "indirect") {
			t.Errorf("go.mod: %v\n%s", err, text)
		}
	case "c":
		need(t, "make", "clang", "wasm-ld")
		run(t, dir, "make")
	case "rust":
		need(t, "make")
		t.Setenv("PATH", rust(t)+string(filepath.ListSeparator)+os.Getenv("PATH"))
		run(t, dir, "make")
	case "assemblyscript":
		need(t, "node")
		asc, err := filepath.Abs("../../../sdk/assemblyscript/node_modules/assemblyscript/bin/asc.js")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(asc); err != nil {
			absent(t, "no asc: npm ci --prefix sdk/assemblyscript installs it")
		}
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`"build": "asc (.*)"`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("no build script in %s", text)
		}
		run(t, dir, "node", append([]string{asc}, strings.Fields(string(m[1]))...)...)
	}
}

// rust returns the folder of the first Rust installation that has the target.
func rust(t *testing.T) string {
	t.Helper()
	for _, bin := range filepath.SplitList(os.Getenv("PATH")) {
		lib, err := exec.CommandContext(t.Context(), filepath.Join(bin, "rustc"), "--print", "target-libdir", "--target", "wasm32-unknown-unknown").Output()
		if err != nil {
			continue
		}
		if _, err := os.Stat(strings.TrimSpace(string(lib))); err == nil {
			return bin
		}
	}
	absent(t, "no Rust for wasm32-unknown-unknown")
	return ""
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			absent(t, "no %s", p)
		}
	}
}

func run(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// TestCompiler: the project requires the version of AssemblyScript with which the SDK
// is tested.
func TestCompiler(t *testing.T) {
	p := Project{Name: "a", Hook: "rank", Language: "assemblyscript"}
	files, err := p.Files()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile("../../../sdk/assemblyscript/package.json")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`"assemblyscript": "([^"]+)"`)
	ours, want := version.FindStringSubmatch(files["package.json"]), version.FindStringSubmatch(string(theirs))
	if ours == nil || want == nil || ours[1] != want[1] {
		t.Errorf("asks for %v, the SDK for %v", ours, want)
	}
}

// check vets the policy and runs the cases in its folder.
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
