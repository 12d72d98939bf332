package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMakeOfPages: every target of make that a page names exists, and the Makefile reads every
// variable that it is given there.
func TestMakeOfPages(t *testing.T) {
	text, err := os.ReadFile(root + "/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(string(text), -1) {
		targets[m[1]] = true
	}
	variables := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)\$\(?(?:call [A-Z]+,\$\()?([A-Z]+)\b|^([A-Z]+) \?=|\$\(or \$\(([A-Z]+)\)`).FindAllStringSubmatch(string(text), -1) {
		variables[m[1]+m[2]+m[3]] = true
	}
	found := 0
	for page, commands := range commandsOfPages(t, "make") {
		for _, c := range commands {
			for _, word := range strings.Fields(c)[1:] {
				name, _, given := strings.Cut(word, "=")
				switch {
				case !regexp.MustCompile(`^[A-Za-z-]+$`).MatchString(name), strings.HasPrefix(name, "-"):
				case given:
					found++
					if !variables[name] {
						t.Errorf("%s: %s: the Makefile does not read %s", page, c, name)
					}
				case name == strings.ToLower(name):
					found++
					if !targets[name] {
						t.Errorf("%s: %s: make has no target %s", page, c, name)
					}
				}
			}
		}
	}
	if found < 60 {
		t.Errorf("%d targets and variables were found, want at least 60", found)
	}
}

// TestGoOfPages: every package that a page has Go run, build or test exists, and has the tests,
// benchmarks and fuzz targets that are named there.
func TestGoOfPages(t *testing.T) {
	found := 0
	for page, commands := range commandsOfPages(t, "go") {
		for _, c := range commands {
			found += goCommand(t, page, strings.Fields(c))
		}
	}
	if found < 20 {
		t.Errorf("%d packages were found, want at least 20", found)
	}
}

// goCommand reports what of a command of Go does not exist, and returns how many packages it
// names.
func goCommand(t *testing.T, page string, words []string) (packages int) {
	t.Helper()
	module := root
	if i := slices.Index(words, "-C"); i > 0 {
		module = filepath.Join(root, words[i+1])
	}
	var named []string
	for i, w := range words {
		if i > 0 && slices.Contains([]string{"-run", "-bench", "-fuzz"}, words[i-1]) {
			named = append(named, strings.Trim(w, "'^$"))
		}
	}
	for _, w := range words {
		if !strings.HasPrefix(w, "./") || w == "./PACKAGE" {
			continue
		}
		folder := filepath.Join(module, strings.TrimSuffix(w, "..."))
		var source strings.Builder
		files := 0
		_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error { // no file is found where there is an error
			if err != nil || filepath.Ext(path) != ".go" {
				return err
			}
			files++
			text, err := os.ReadFile(path)
			source.Write(text)
			return err
		})
		if packages++; files == 0 {
			t.Errorf("%s: %s: there is no Go program in %s", page, strings.Join(words, " "), w)
			continue
		}
		for _, name := range named {
			if len(name) > 1 && !strings.ContainsAny(name, `|./\`) && !regexp.MustCompile(`(?m)^func \w*`+name).MatchString(source.String()) { // -run x is for none
				t.Errorf("%s: %s: %s is not in %s", page, strings.Join(words, " "), name, w)
			}
		}
		if strings.HasPrefix(words[1], "run") { // what follows is the program's
			break
		}
	}
	return packages
}

// commandsOfPages returns the commands of a program on all pages, by page: in blocks, and in
// the middle of a sentence.
func commandsOfPages(t *testing.T, program string) map[string][]string {
	t.Helper()
	block := regexp.MustCompile(`(?m)^(?: {4,}|\$ )?(` + program + ` [a-zA-Z-].*)$`)
	inline := regexp.MustCompile("`(" + program + " [a-zA-Z-][^`\n]*)`")
	end := regexp.MustCompile(`\s(?:[|>;#]|&&|\|\||…).*|…`)
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (slices.Contains([]string{"node_modules", "dist", "testdata", "target", "adr"}, d.Name()) || d.Name() != ".." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		page, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		joined := strings.ReplaceAll(string(text), "\\\n", " ")
		fences := fenced.FindAllString(joined, -1)
		for _, m := range append(block.FindAllStringSubmatch(strings.Join(fences, "\n"), -1), block.FindAllStringSubmatch(indented(joined), -1)...) {
			out[page] = append(out[page], strings.TrimSpace(end.ReplaceAllString(m[1], "")))
		}
		for _, m := range inline.FindAllStringSubmatch(joined, -1) {
			out[page] = append(out[page], strings.TrimSpace(end.ReplaceAllString(m[1], "")))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// indented returns the lines of a page that are indented as code.
func indented(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    ") {
			out.WriteString(line)
		}
	}
	return out.String()
}
