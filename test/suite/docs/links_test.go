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
	span    = regexp.MustCompile("`[^`\n]*`")
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
		for _, m := range linksOf(t, path) {
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

// linksOf returns the links of a page; patterns in the style of code look like some.
func linksOf(t *testing.T, page string) [][]string {
	t.Helper()
	return link.FindAllStringSubmatch(span.ReplaceAllString(prose(t, page), ""), -1)
}

// TestPagesAreListed: every page of docs can be found from docs/README.md, or from the
// README.md of its folder, which can.
func TestPagesAreListed(t *testing.T) {
	const docs = root + "/docs"
	listed := map[string]bool{docs + "/README.md": true}
	list := func(index string) {
		for _, m := range linksOf(t, index) {
			file, _, _ := strings.Cut(m[1], "#")
			listed[filepath.Join(filepath.Dir(index), filepath.FromSlash(file))] = true
		}
	}
	list(docs + "/README.md")
	pages := 0
	err := filepath.WalkDir(docs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		pages++
		if d.Name() == "README.md" && path != docs+"/README.md" {
			list(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(docs, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" && !listed[filepath.Join(path)] {
			t.Errorf("no list of pages leads to %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages < 50 {
		t.Errorf("%d pages were found: too few, the search is wrong", pages)
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
