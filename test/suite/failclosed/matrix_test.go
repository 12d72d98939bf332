// Package failclosed tests the table in docs/security.md that says what follows when a
// part fails: every cell is a case, with a fault of the real part.
package failclosed

import (
	"os"
	"slices"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/test/kit/brokenpolicy"
)

// TestMain makes this test binary the process in which policies run.
func TestMain(m *testing.M) {
	engine.Child()
	os.Exit(m.Run())
}

const (
	page    = "../../../docs/security.md"
	heading = "## When something fails"
	own     = "spokeshave" // the controller's namespace
	team    = "team"       // a plugin namespace
)

// The words of the table's cells.
const (
	ignored = "ignored"        // as without the policy
	launch  = "stops launches" // nothing is launched
	keep    = "keeps nodes"    // no node is removed
	both    = "stops both"     // nothing is launched and no node is removed
	last    = "last version"   // the last good version holds
	caps    = "last caps"      // the caps of the decision before hold
	none    = "no decision"    // nothing is decided until the fault is over
)

// columns returns the kinds of policies by column of the table.
func columns() map[string]brokenpolicy.Kind {
	return map[string]brokenpolicy.Kind{
		"rank": {Hook: policy.HookRank}, "rank, `Fail`": {Hook: policy.HookRank, Failure: policy.Fail},
		"consolidate": {Hook: policy.HookConsolidate}, "consolidate, `Ignore`": {Hook: policy.HookConsolidate, Failure: policy.Ignore},
		"ceiling": {Hook: policy.HookCeiling}, "ceiling, `Ignore`": {Hook: policy.HookCeiling, Failure: policy.Ignore},
	}
}

// result is what is decided in a cluster where two pods wait, each for a node of its own,
// and in one with an empty node.
type result struct {
	launched int
	removed  bool
}

// expected returns what is decided by the word of a cell.
func expected(t *testing.T, word string, k brokenpolicy.Kind) result {
	t.Helper()
	switch word {
	case ignored:
		return result{launched: 2, removed: true}
	case launch:
		return result{launched: 0, removed: true}
	case caps: // there is room for one node under them
		return result{launched: 1, removed: true}
	case keep:
		return result{launched: 2, removed: false}
	case both:
		return result{launched: 0, removed: false}
	case last: // the good version refuses what it is asked about
		if k.Hook == policy.HookConsolidate {
			return result{launched: 2, removed: false}
		}
		return result{launched: 0, removed: true}
	}
	t.Fatalf("%q is no word of the table", word)
	return result{}
}

// rows have by row of the table the ways in which a policy of a kind fails. Each of them
// must do what the cell says.
type rows map[string]func(brokenpolicy.Kind) []setting

// TestTable: each row names a test of this package, and every kind has a column.
func TestTable(t *testing.T) {
	names, all := table(t)
	for column := range columns() {
		if !slices.Contains(names, column) {
			t.Errorf("the table lacks the column %q", column)
		}
	}
	tests := []string{"`TestMatrix`", "`TestProcess`", "`TestLedger`", "`TestWithheld`"}
	for row, cells := range all {
		if !slices.Contains(tests, cells["test"]) {
			t.Errorf("%s: %s is none of %s", row, cells["test"], strings.Join(tests, ", "))
		}
	}
}

// TestMatrix: what follows when a policy cannot be loaded, or fails when it is asked.
func TestMatrix(t *testing.T) {
	prove(t, "TestMatrix", unloadable(), faults(), plugins())
}

// prove checks the cells of the rows that name the test. Each of those rows must be in
// one of the parts, and there must be no others.
func prove(t *testing.T, test string, parts ...rows) {
	t.Helper()
	_, all := table(t)
	of := func(row string) func(brokenpolicy.Kind) []setting {
		for _, part := range parts {
			if f := part[row]; f != nil {
				return f
			}
		}
		return nil
	}
	for row, cells := range all {
		if cells["test"] != "`"+test+"`" {
			continue
		}
		settings := of(row)
		if settings == nil {
			t.Errorf("%s: %s has no such case", row, test)
			continue
		}
		for column, k := range columns() {
			for _, in := range settings(k) {
				t.Run(row+"/"+column+"/"+in.name, func(t *testing.T) {
					in.kind = k
					if got, why := in.outcome(t); got != expected(t, cells[column], k) {
						t.Errorf("got %+v; the table says %q, which is %+v; reasons %q", got, cells[column], expected(t, cells[column], k), why)
					}
				})
			}
		}
	}
	for _, part := range parts {
		for row := range part {
			if all[row]["test"] != "`"+test+"`" {
				t.Errorf("the table lacks the row %q with %s", row, test)
			}
		}
	}
}

// table returns the columns of the page's table, and its cells by row and column.
func table(t *testing.T) (names []string, rows map[string]map[string]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", page, heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	rows = map[string]map[string]string{}
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == "what fails" { // in both tables the same columns
			if names != nil && !slices.Equal(names, cells) {
				t.Errorf("the tables have the columns %q and %q", names, cells)
			}
			names = cells
			continue
		}
		row := map[string]string{}
		for i, name := range names[1:] {
			row[name] = cells[i+1]
		}
		rows[cells[0]] = row
	}
	return names, rows
}
