package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEvents: the API packages define every reason for an event, somebody sends each, and
// docs/events.md lists exactly these.
func TestEvents(t *testing.T) {
	text, err := os.ReadFile("../../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			for _, m := range regexp.MustCompile("`([A-Z][A-Za-z]+)`").FindAllStringSubmatch(cells[1], -1) {
				listed[m[1]] = true
			}
		}
	}
	named := used(t, "../../../controller")
	reasons := defined(t)
	if len(reasons) < 20 {
		t.Fatalf("%d reasons are defined, want at least 20", len(reasons))
	}
	for name, reason := range reasons {
		if !named[name] {
			t.Errorf("event reason %s (%s) is defined, and nobody sends it: send or remove it", name, reason)
		}
		if !listed[reason] {
			t.Errorf("docs/events.md lacks %s", reason)
		}
		delete(listed, reason)
	}
	for _, reason := range slices.Sorted(maps.Keys(listed)) {
		t.Errorf("docs/events.md lists %s, which no API package defines", reason)
	}
	for reason := range sent(t, "../../../controller") {
		t.Errorf("reason %s is spelt out where it is sent: define it in an events.go of the API packages", reason)
	}
}

// defined are the constants of the API packages that name reasons.
func defined(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, path := range []string{"../../../api/karpenter/v1/events.go", "../../../api/aws/v1/events.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				if value, ok := spec.Values[0].(*ast.BasicLit); ok {
					out[spec.Names[0].Name] = unquote(t, value)
				}
			}
			return true
		})
	}
	if len(out) < 30 {
		t.Fatalf("only %d reasons were found", len(out))
	}
	return out
}

// each parses the Go files below a folder, tests left out.
func each(t *testing.T, root string, visit func(ast.Node) bool) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "templates") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err == nil {
			ast.Inspect(file, visit)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// used are the names selected from packages.
func used(t *testing.T, root string) map[string]bool {
	t.Helper()
	named := map[string]bool{}
	each(t, root, func(n ast.Node) bool {
		if n, ok := n.(*ast.SelectorExpr); ok {
			named[n.Sel.Name] = true
		}
		return true
	})
	return named
}

// sent are the reasons that calls of Eventf spell out.
func sent(t *testing.T, root string) map[string]bool {
	t.Helper()
	const reason = 3 // regarding, related, type, reason, …
	out := map[string]bool{}
	each(t, root, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) <= reason {
			return true
		}
		if fun, ok := call.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "Eventf" {
			if value, ok := call.Args[reason].(*ast.BasicLit); ok {
				out[unquote(t, value)] = true
			}
		}
		return true
	})
	return out
}

func unquote(t *testing.T, l *ast.BasicLit) string {
	t.Helper()
	s, err := strconv.Unquote(l.Value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
