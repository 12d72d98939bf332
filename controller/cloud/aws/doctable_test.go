package aws_test

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateTables = flag.Bool("update-tables", false, "write the tables into docs/aws.md")

const awsPage = "../../../docs/aws.md"

// docTable is a table of docs/aws.md that a test writes. Its last column names tests.
type docTable struct {
	// head are the names of the columns.
	head []string
	rows []docRow
}

// docRow is what is said of one thing.
type docRow struct {
	// cells are the columns but the last one.
	cells []string
	// tests are names of tests, separated by spaces.
	tests string
	// mentions are words of which one of the tests' files must contain each; none asks
	// nothing of them.
	mentions []string
}

// testFiles maps the names of the repository's tests of AWS, nodes and suites to the text
// of the files that they are in.
var testFiles = sync.OnceValues(func() (map[string]string, error) {
	named := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	out := map[string]string{}
	for _, root := range []string{"../../../controller", "../../../simulator", "../../../test/suite", "../../../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range named.FindAllSubmatch(text, -1) {
				out[string(m[1])] += string(text)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
})

// check holds a table against the page, or writes it there.
func (d *docTable) check(t *testing.T) {
	t.Helper()
	files, err := testFiles()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, row := range d.rows {
		var tests []string
		seen := map[string]bool{}
		for test := range strings.FieldsSeq(row.tests) {
			tests = append(tests, "`"+test+"`")
			file, ok := files[test]
			if !ok {
				t.Errorf("%s: there is no test %s", row.cells[0], test)
			}
			for _, word := range row.mentions {
				seen[word] = seen[word] || strings.Contains(file, word)
			}
		}
		if len(tests) == 0 {
			t.Errorf("%s: no test shows it", row.cells[0])
		}
		for _, word := range row.mentions {
			if !seen[word] {
				t.Errorf("%s: none of %s mentions %s", row.cells[0], row.tests, word)
			}
		}
		text.WriteString("| " + strings.Join(append(row.cells, strings.Join(tests, ", ")), " | ") + " |\n")
	}
	page, err := os.ReadFile(awsPage)
	if err != nil {
		t.Fatal(err)
	}
	begin := "| " + strings.Join(d.head, " | ") + " |\n" + strings.Repeat("|---", len(d.head)) + "|\n"
	before, rest, found := strings.Cut(string(page), begin)
	old, after, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatalf("%s has no table that begins with %q", awsPage, begin)
	}
	want := strings.TrimSuffix(text.String(), "\n")
	if *updateTables {
		if err := os.WriteFile(awsPage, []byte(before+begin+want+"\n\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, old); diff != "" {
		t.Errorf("%s (-want +got; -update-tables writes it):\n%s", awsPage, diff)
	}
}

// whole fails the test for things without a row and for rows of nothing.
func whole(t *testing.T, what string, want, got []string) {
	t.Helper()
	set := func(in []string) map[string]bool {
		out := map[string]bool{}
		for _, each := range in {
			if out[each] {
				t.Errorf("%s %s is listed twice", what, each)
			}
			out[each] = true
		}
		return out
	}
	if diff := cmp.Diff(maps.Collect(maps.All(set(want))), set(got)); diff != "" {
		t.Errorf("%ss (-there are +have a row):\n%s", what, diff)
	}
}
