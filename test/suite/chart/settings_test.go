package chart

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// given is a value on a command line of helm; several are separated by commas.
var given = regexp.MustCompile(`--set(?:-json|-string)? ["']?([A-Za-z][A-Za-z0-9_.\\/-]*)=`)

// node is a part of the chart's schema.
type node struct {
	Properties map[string]node `json:"properties"`
	// Additional is set where names are the user's.
	Additional any `json:"additionalProperties"`
}

// TestSettingsOfPages: every value that a page of the repository gives to helm is one of the
// chart's.
func TestSettingsOfPages(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(chartDir, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema node
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	found := 0
	err = filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "dist" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range given.FindAllStringSubmatch(string(page), -1) {
			found++
			if !schema.has(strings.Split(strings.ReplaceAll(m[1], `\.`, "\x00"), ".")) {
				t.Errorf("%s gives %s, which the chart does not know", path, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 20 {
		t.Errorf("%d values were found, want at least 20", found)
	}
}

// has reports whether a path of names leads to a value.
func (n *node) has(path []string) bool {
	if len(path) == 0 {
		return true
	}
	next, ok := n.Properties[path[0]]
	if !ok {
		return n.Additional != nil && n.Additional != false
	}
	return next.has(path[1:])
}
