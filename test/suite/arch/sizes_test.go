package arch

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mostLines   = 400
	mostFields  = 15
	mostMethods = 20
)

// wide are types that are above the bounds and give no reason themselves. The comments of
// sdk/abi are copied into the SDKs of other languages.
var wide = map[string]string{
	"sdk/abi.CandidateRow":             "the layout of the record in docs/spec/policy.md",
	"sdk/abi.LaunchRow":                "the layout of the record in docs/spec/policy.md",
	"sdk/abi.RankRow":                  "the layout of the record in docs/spec/policy.md",
	"controller/core/solver/lp.Master": "the restricted master's steps share its basis: each changes it, and the next one reads it",
}

// TestSizes fails for a source file above 400 lines, and for a type above 15
// fields or 20 methods whose doc comment gives no reason for it in a line that
// starts with "Size:". It fails as well for such a line on a type that is not
// large. Test files, generated files and the types of the custom resources are
// not counted.
func TestSizes(t *testing.T) {
	lines, types := []int{}, map[string]*typeSize{}
	root := "../../.."
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		if entry.IsDir() {
			if rel == "api" || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && name != root {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if ast.IsGenerated(file) {
			return nil
		}
		n := files.File(file.FileStart).LineCount()
		if n > mostLines {
			t.Errorf("%s has %d lines; the most is %d", rel, n, mostLines)
		}
		lines = append(lines, n)
		for _, decl := range file.Decls {
			measure(types, path.Dir(rel), decl)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, size := range types {
		large := size.fields > mostFields || size.methods > mostMethods
		if why := wide[name]; why != "" {
			if !large {
				t.Errorf("%s has %d fields and %d methods: it needs no reason for its size (%s)", name, size.fields, size.methods, why)
			}
			continue
		}
		switch {
		case large && size.reason == "":
			t.Errorf(`%s has %d fields and %d methods; above %d and %d a line "Size: why" belongs in its doc comment`, name, size.fields, size.methods, mostFields, mostMethods)
		case !large && size.reason != "":
			t.Errorf("%s has %d fields and %d methods: its doc comment needs no reason for its size", name, size.fields, size.methods)
		}
	}
	for name := range wide {
		if types[name] == nil {
			t.Errorf("%s, which may be wide, does not exist", name)
		}
	}
	if len(lines) == 0 {
		t.Fatal("no files found")
	}
	slices.Sort(lines)
	t.Logf("%d files, median %d lines, longest %d", len(lines), lines[len(lines)/2], lines[len(lines)-1])
}

// typeSize is what is known of one type. The reason is the rest of the line of
// its doc comment that starts with "Size:".
type typeSize struct {
	fields, methods int
	reason          string
}

// measure adds what a declaration says of the types of the package in dir.
func measure(types map[string]*typeSize, dir string, decl ast.Decl) {
	at := func(name string) *typeSize {
		name = dir + "." + name
		types[name] = cmp.Or(types[name], &typeSize{})
		return types[name]
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv != nil {
			at(receiver(decl.Recv.List[0].Type)).methods++
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			spec, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			size := at(spec.Name.Name)
			size.reason = reason(spec.Doc, decl.Doc)
			if body, ok := spec.Type.(*ast.StructType); ok {
				size.fields = body.Fields.NumFields()
			}
		}
	}
}

func reason(docs ...*ast.CommentGroup) string {
	for _, doc := range docs {
		for line := range strings.Lines(doc.Text()) {
			if why, ok := strings.CutPrefix(line, "Size:"); ok {
				return strings.TrimSpace(why)
			}
		}
	}
	return ""
}

// receiver is the name of a method's type, without pointer and type parameters.
func receiver(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiver(expr.X)
	case *ast.IndexExpr:
		return receiver(expr.X)
	case *ast.IndexListExpr:
		return receiver(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}
