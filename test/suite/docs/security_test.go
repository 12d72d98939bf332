package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuaranteesAreProved: every test that docs/security.md names exists, in the folder
// that it names, and every row about what somebody tries says what proves it, or that it
// is not covered.
func TestGuaranteesAreProved(t *testing.T) {
	text, err := os.ReadFile(root + "/docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testsByFolder(t)
	everywhere := map[string]bool{}
	for _, all := range tests {
		for name := range all {
			everywhere[name] = true
		}
	}
	named := regexp.MustCompile("`([a-z0-9/]+) (Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(text), -1)
	for _, m := range named {
		if !tests[m[1]][m[2]] {
			t.Errorf("docs/security.md names %s in %s, which does not exist", m[2], m[1])
		}
	}
	for _, m := range regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(text), -1) {
		if !everywhere[m[1]] {
			t.Errorf("docs/security.md names %s, which does not exist", m[1])
		}
	}
	attacked := attacksByName(t)
	told := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:"+actors+")/[a-z-]+)`").FindAllStringSubmatch(string(text), -1) {
		if told[m[1]] = true; !attacked[m[1]] {
			t.Errorf("docs/security.md names the attack %s, which does not exist", m[1])
		}
	}
	for name := range attacked {
		if !told[name] {
			t.Errorf("docs/security.md does not say what the attack %s proves", name)
		}
	}
	proof := regexp.MustCompile("Test|adr/|`(?:" + actors + ")/")
	model, _, _ := strings.Cut(string(text), "\n## Who may read\n")
	rows := regexp.MustCompile(`(?m)^\| (.+) \| (.+) \| (.+) \|$`).FindAllStringSubmatch(model, -1)
	tries := 0
	for _, row := range rows {
		if row[1] == "tries to" || row[1] == "what happens" || strings.HasPrefix(row[1], "--") {
			continue
		}
		tries++
		yes := strings.HasPrefix(row[2], "yes")
		if !proof.MatchString(row[3]) && !yes {
			t.Errorf("nothing proves that somebody who tries to %q cannot: %s", row[1], row[3])
		}
	}
	if len(named) < 40 || tries < 30 {
		t.Errorf("%d tests and %d attempts were found: too few, the search is wrong", len(named), tries)
	}
}

// actors are who makes attacks, in a regular expression.
const actors = "author|tenant|node|reader|editor|neighbour|account|leader|operator"

// attacksByName returns the names of the attacks in the tables of test/suite/attack.
func attacksByName(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "test/suite/attack/*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^\s+"((?:`+actors+`)/[a-z-]+)":`).FindAllStringSubmatch(string(text), -1) {
			out[m[1]] = true
		}
	}
	return out
}

// testsByFolder returns the names of all tests by the folder that they are in.
func testsByFolder(t *testing.T) map[string]map[string]bool {
	t.Helper()
	out, function := map[string]map[string]bool{}, regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`)
	for _, top := range []string{"api", "cmd", "controller", "sdk", "simulator", "test"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			folder, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			folder = filepath.ToSlash(folder)
			for _, m := range function.FindAllStringSubmatch(string(text), -1) {
				if out[folder] == nil {
					out[folder] = map[string]bool{}
				}
				out[folder][m[1]] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}
