package simulator_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readAll joins the files below a folder whose names end so.
func readAll(t *testing.T, root, suffix string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		text, err := os.ReadFile(path)
		out.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestRules holds the table of docs/internals/ec2sim.md against the code: options
// are flags, tests exist, error codes and sources stand in the code.
func TestRules(t *testing.T) {
	page, err := os.ReadFile("../docs/internals/ec2sim.md")
	if err != nil {
		t.Fatal(err)
	}
	code, command := readAll(t, ".", ".go"), readAll(t, "../cmd/ec2sim", ".go")
	_, table, found := strings.Cut(string(page), "| rule | answer | option | source | test |\n|---|---|---|---|---|\n")
	if !found {
		t.Fatal("the page has no table of rules")
	}
	words := regexp.MustCompile("`([^`]*)`")
	rows := 0
	for line := range strings.SplitSeq(table, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		rows++
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 5 {
			t.Errorf("%d cells, want 5: %s", len(cells), line)
			continue
		}
		for _, w := range words.FindAllStringSubmatch(cells[1], -1) {
			if !strings.Contains(code, `"`+w[1]+`"`) {
				t.Errorf("no code answers with %s: %s", w[1], cells[0])
			}
		}
		options := words.FindAllStringSubmatch(cells[2], -1)
		if len(options) == 0 && cells[2] != "always" {
			t.Errorf("neither an option nor always: %s", cells[0])
		}
		for _, w := range options {
			if !strings.Contains(command, `"`+strings.TrimPrefix(w[1], "--")+`"`) {
				t.Errorf("the command has no flag %s: %s", w[1], cells[0])
			}
		}
		if !strings.HasPrefix(cells[3], "https://docs.aws.amazon.com/") || !strings.Contains(code, cells[3]) {
			t.Errorf("no code cites %s: %s", cells[3], cells[0])
		}
		for _, w := range words.FindAllStringSubmatch(cells[4], -1) {
			if !strings.Contains(code, "func "+w[1]+"(t *testing.T)") {
				t.Errorf("there is no test %s: %s", w[1], cells[0])
			}
		}
	}
	if rows < 10 {
		t.Errorf("the table has %d rows, want all of them", rows)
	}
}
