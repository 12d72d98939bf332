// Package arch checks docs/internals/architecture.md against the code.
package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

const module = "spokeshave.dev/"

// TestImports fails when a package has no row in the table, a row has no
// package, or an import is not in its row. The longest matching row wins.
func TestImports(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/internals/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(doc), "\n## Who may import whom\n")
	if !found {
		t.Fatal("docs/internals/architecture.md has no table of who may import whom")
	}
	rows := map[string][]string{}
	cell := regexp.MustCompile("`([^`]+)`")
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|(.*)\\|$").FindAllStringSubmatch(table, -1) {
		rows[m[1]] = []string{}
		for _, a := range cell.FindAllStringSubmatch(m[2], -1) {
			rows[m[1]] = append(rows[m[1]], a[1])
		}
	}
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		rel := strings.TrimPrefix(p.ImportPath, module)
		row := longest(rows, rel)
		if row == "" {
			t.Errorf("%s has no row in docs/internals/architecture.md", rel)
			continue
		}
		used[row] = true
		for _, imp := range p.Imports {
			if dep, ours := strings.CutPrefix(imp, module); ours && longest(rows, dep) != row && !allowed(rows[row], dep) {
				t.Errorf("%s imports %s: not in its row", rel, dep)
			}
		}
	}
	for row := range rows {
		if !used[row] {
			t.Errorf("docs/internals/architecture.md names %s, which does not exist", row)
		}
	}
}

func longest(rows map[string][]string, pkg string) (best string) {
	for row := range rows {
		if (pkg == row || strings.HasPrefix(pkg, row+"/")) && len(row) > len(best) {
			best = row
		}
	}
	return best
}

func allowed(allow []string, dep string) bool {
	for _, a := range allow {
		if a == "*" || dep == a || strings.HasPrefix(dep, a+"/") {
			return true
		}
	}
	return false
}

// TestImportsOfSolver fails when a package of the solver has no row in the table of
// docs/internals/solver.md, or imports one that is not below it there.
func TestImportsOfSolver(t *testing.T) {
	const solver = module + "controller/core/"
	doc, err := os.ReadFile("../../../docs/internals/solver.md")
	if err != nil {
		t.Fatal(err)
	}
	rank := map[string]int{}
	for i, m := range regexp.MustCompile("(?m)^\\| `(solver[^`]*)` \\|").FindAllStringSubmatch(string(doc), -1) {
		rank[solver+m[1]] = i + 1
	}
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./controller/core/solver/...")
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		packages := strings.Fields(line)
		from := packages[0]
		if rank[from] == 0 {
			t.Errorf("%s has no row in docs/internals/solver.md", from)
		}
		for _, to := range packages[1:] {
			if strings.HasPrefix(to, solver+"solver") && rank[to] <= rank[from] {
				t.Errorf("%s imports %s, which is not below it in docs/internals/solver.md", from, to)
			}
		}
	}
}
