package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestPathsExist: where to make a change names files and folders that exist.
func TestPathsExist(t *testing.T) {
	text, err := os.ReadFile(root + "/docs/contributing/where.md")
	if err != nil {
		t.Fatal(err)
	}
	path := regexp.MustCompile("`((?:api|charts|cmd|controller|docs|examples|policies|sdk|simulator|test|tools)/[A-Za-z0-9_/.*-]+)`")
	found := path.FindAllStringSubmatch(string(text), -1)
	if len(found) < 40 {
		t.Fatalf("%d paths were found, want at least 40", len(found))
	}
	for _, m := range found {
		if m[1] == "cmd/spokeshave/NAME.go" {
			continue // stands for the new file
		}
		if at, err := filepath.Glob(filepath.Join(root, m[1])); err != nil || len(at) == 0 {
			t.Errorf("docs/contributing/where.md names %s, which does not exist", m[1])
		}
	}
}
