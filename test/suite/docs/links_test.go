// Package docs checks the repository's Markdown pages.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../../.."

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks fails when a relative link in a Markdown page names a file that does
// not exist, or a heading that its page does not have.
func TestLinks(t *testing.T) {
	pages, links := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "target") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		pages++
		for _, m := range link.FindAllStringSubmatch(prose(t, path), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			links++
			follow(t, path, m[1])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 40 || links < 100 {
		t.Errorf("%d pages with %d links were found: too few, the search is wrong", pages, links)
	}
}

// follow reports a link from a page that leads nowhere.
func follow(t *testing.T, page, target string) {
	t.Helper()
	file, anchor, _ := strings.Cut(target, "#")
	to := page
	if file != "" {
		to = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
	}
	if _, err := os.Stat(to); err != nil {
		t.Errorf("%s links to %s, which does not exist", page, target)
		return
	}
	if anchor != "" && filepath.Ext(to) == ".md" && !anchors(t, to)[anchor] {
		t.Errorf("%s links to %s, and %s has no such heading", page, target, to)
	}
}

// anchors are the names by which a page's headings can be linked to.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(prose(t, page), -1) {
		name := dropped.ReplaceAllString(strings.ToLower(m[1]), "")
		out[strings.ReplaceAll(name, " ", "-")] = true
	}
	return out
}

// prose is a page without its fenced code.
func prose(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return fenced.ReplaceAllString(string(text), "")
}
