package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// generalWords are Kubernetes' own nouns and a verb, which say nothing about how a
// plan is made or proven.
var generalWords = []string{"add", "all", "bound", "domain", "node", "selector", "spec", "taint", "term"}

// TestNoSharedNames: the checker and the solver share no names besides those of
// the data model, so that neither was written from the other. What counts is what
// the packages declare: types, functions, methods, fields, constants, variables.
// The checker's exported names are its interface, which speaks of the solver's
// questions in the same words (Headroom, Denied, Limits).
func TestNoSharedNames(t *testing.T) {
	model, solver := declared(t, "../model"), declared(t, "../solver")
	if len(solver) < 100 || len(model) < 50 {
		t.Fatalf("only %d names found in the solver and %d in the model", len(solver), len(model))
	}
	ours := declared(t, ".")
	if len(ours) < 100 {
		t.Fatalf("only %d names found in the checker", len(ours))
	}
	for name, file := range ours {
		if ast.IsExported(name) || model[strings.ToUpper(name[:1])+name[1:]] != "" || slices.Contains(generalWords, name) {
			continue
		}
		if in := solver[name]; in != "" {
			t.Errorf("%s of %s is a name in %s, too", name, file, in)
		}
		if in := solver[strings.ToUpper(name[:1])+name[1:]]; in != "" {
			t.Errorf("%s of %s is a name in %s, too", name, file, in)
		}
	}
}

// TestImportsOnlyTheModel: the checker shares no code with the solver either.
func TestImportsOnlyTheModel(t *testing.T) {
	files := 0
	each(t, ".", func(file string, f *ast.File) {
		files++
		for _, i := range f.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			if strings.Contains(path, ".") && path != "spokeshave.dev/controller/core/model" {
				t.Errorf("%s imports %s", file, path)
			}
		}
	})
	if files < 5 {
		t.Errorf("%d files were read", files)
	}
}

// declared are the names that the packages of a folder declare, with the file of each.
func declared(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	each(t, folder, func(file string, f *ast.File) {
		note := func(ids ...*ast.Ident) {
			for _, id := range ids {
				if len(id.Name) > 1 || unicode.IsUpper(rune(id.Name[0])) {
					out[id.Name] = file
				}
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				note(d.Name)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						note(s.Names...)
					case *ast.TypeSpec:
						note(s.Name)
					}
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					note(field.Names...)
				}
			}
			return true
		})
	})
	return out
}

// each parses the source files of a folder and those below it, tests left out.
func each(t *testing.T, folder string, do func(file string, f *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err == nil {
			do(path, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
