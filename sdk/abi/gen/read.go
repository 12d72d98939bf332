package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"slices"
	"strings"
)

// format is what the languages share.
type format struct {
	constants []constant
	rows      []row
}

// constant is a number of the format.
type constant struct {
	name, value string
	// doc is its comment, group that of the constants declared with it.
	doc, group string
}

// row is a struct whose memory is its place on the wire.
type row struct {
	name, doc string
	size      int64
	fields    []field
}

// field is one of a row's. A field without a name is padding.
type field struct {
	name   string
	bits   int // 64 is a float, less an unsigned integer
	offset int64
	size   int64
	doc    string
}

// rowNames are the structs that are rows, with their names in the SDKs.
func rowNames() map[string]string {
	return map[string]string{
		"PoolRow": "PoolRow", "RankRow": "Offering", "CandidateRow": "Candidate", "ScopeRow": "Spend", "LaunchRow": "Launch",
		"RankOut": "RankOut", "ConsolidateOut": "ConsolidateOut", "CeilingOut": "CeilingOut",
	}
}

func read(dir string) (*format, error) {
	set := token.NewFileSet()
	packages, err := parser.ParseDir(set, dir, func(i fs.FileInfo) bool { //nolint:staticcheck // one package without build tags
		return !strings.HasSuffix(i.Name(), "_test.go")
	}, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("parse sdk/abi: %w", err)
	}
	var sources []*ast.File
	for _, f := range packages["abi"].Files {
		sources = append(sources, f)
	}
	slices.SortFunc(sources, func(a, b *ast.File) int {
		return strings.Compare(set.Position(a.Pos()).Filename, set.Position(b.Pos()).Filename)
	})
	config := types.Config{Importer: importer.ForCompiler(set, "source", nil), Sizes: types.SizesFor("gc", "amd64")}
	pkg, err := config.Check("spokeshave.dev/sdk/abi", set, sources, nil)
	if err != nil {
		return nil, fmt.Errorf("check sdk/abi: %w", err)
	}
	f := &format{}
	for _, file := range sources {
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				f.declare(pkg, config.Sizes, g)
			}
		}
	}
	return f, nil
}

func (f *format) declare(pkg *types.Package, sizes types.Sizes, d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			for _, id := range s.Names {
				c, ok := pkg.Scope().Lookup(id.Name).(*types.Const)
				if ok && id.IsExported() && c.Type().Underlying().(*types.Basic).Info()&types.IsInteger != 0 {
					f.constants = append(f.constants, constant{name: id.Name, value: c.Val().ExactString(), doc: s.Doc.Text(), group: d.Doc.Text()})
				}
			}
		case *ast.TypeSpec:
			if name, ok := rowNames()[s.Name.Name]; ok {
				f.rows = append(f.rows, newRow(name, pkg.Scope().Lookup(s.Name.Name).Type(), sizes, d, s))
			}
		}
	}
}

func newRow(name string, t types.Type, sizes types.Sizes, d *ast.GenDecl, s *ast.TypeSpec) row {
	st := t.Underlying().(*types.Struct)
	r := row{name: name, doc: strings.Join(strings.Fields(d.Doc.Text()), " "), size: sizes.Sizeof(t)}
	r.doc = strings.Replace(r.doc, s.Name.Name, name, 1)
	docs := map[string]string{}
	for _, f := range s.Type.(*ast.StructType).Fields.List {
		for _, id := range f.Names {
			docs[id.Name] = strings.TrimSpace(f.Comment.Text())
		}
	}
	fields := make([]*types.Var, 0, st.NumFields())
	for v := range st.Fields() {
		fields = append(fields, v)
	}
	for i, at := range sizes.Offsetsof(fields) {
		v := fields[i]
		size := sizes.Sizeof(v.Type())
		f := field{name: v.Name(), bits: int(8 * size), offset: at, size: size, doc: docs[v.Name()]}
		if f.name == "_" {
			f.name = ""
		}
		r.fields = append(r.fields, f)
	}
	return r
}
