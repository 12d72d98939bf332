package doctor

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write compatibility.json and the golden files anew")

// pageTable returns what the tables of docs/compatibility.md say, without links.
func pageTable(t *testing.T) table {
	t.Helper()
	text, err := os.ReadFile("../../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	var out table
	for _, row := range pageRows(t, string(text), "## The same as in Karpenter", 2) {
		out.Same = append(out.Same, row[0])
	}
	for _, row := range pageRows(t, string(text), "## Different by decision", 4) {
		out.Differences = append(out.Differences, Difference{Subject: row[0], Karpenter: row[1], Here: row[2], Instead: row[3]})
	}
	return out
}

// pageRows returns the rows of the table in a section.
func pageRows(t *testing.T, text, section string, cells int) [][]string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n"+section+"\n")
	if !ok {
		t.Fatalf("docs/compatibility.md has no section %q", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	adr := regexp.MustCompile(` ?\(?\[ADR \d+\]\([^)]*\)\)?`)
	link := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	var out [][]string
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| subject ") {
			continue
		}
		line = link.ReplaceAllString(adr.ReplaceAllString(strings.TrimSpace(line), ""), "$1")
		row := strings.Split(strings.Trim(line, "|"), "|")
		if len(row) != cells {
			t.Fatalf("%q has %d cells, want %d", line, len(row), cells)
		}
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		out = append(out, row)
	}
	return out
}

// TestCompatibility: what doctor says of differences is what docs/compatibility.md says.
// With -update the file that is part of the program is written anew.
func TestCompatibility(t *testing.T) {
	want := pageTable(t)
	if len(want.Same) < 20 || len(want.Differences) < 20 {
		t.Fatalf("the page has %d rows that are the same and %d differences", len(want.Same), len(want.Differences))
	}
	if *update {
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(want); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("compatibility.json", text.Bytes(), 0o644); err != nil { //nolint:gosec // a source file
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, compatibility()); diff != "" {
		t.Errorf("docs/compatibility.md (-) and compatibility.json (+) differ; write it anew: go test ./controller/rehearse/doctor -run TestCompatibility -update\n%s", diff)
	}
}

// TestConcerns: every function that looks for what a difference concerns belongs to a row
// of the page.
func TestConcerns(t *testing.T) {
	subjects := map[string]bool{}
	for _, d := range pageTable(t).Differences {
		subjects[d.Subject] = true
	}
	for subject := range concerns() {
		if !subjects[subject] {
			t.Errorf("docs/compatibility.md has no difference %q", subject)
		}
	}
}
