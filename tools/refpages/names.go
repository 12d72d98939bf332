package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// group is a part of the page about names: the constants whose names begin so.
type group struct{ heading, folder, file, prefix, intro string }

// namesPage is the page about conditions, labels, annotations, taints and finalizers. What
// it says are the comments of the constants.
func namesPage(root string) (string, error) {
	var b strings.Builder
	b.WriteString(`# Conditions, labels, annotations, taints

For people who read objects with kubectl, or write programs that do: the names that the controller writes and reads, and what they
mean. Events are on [a page of their own](../events.md). Made from the constants of ` + "`api/` by `make generate`" + `.

Names with ` + "`karpenter.sh` and `karpenter.k8s.aws` mean what they mean to Karpenter; those with `spokeshave.dev`" + ` are Spokeshave's own.
What the controller writes for itself is not a place for settings: it may change, or be written anew. Labels and annotations of
policies' ConfigMaps are in the [policy specification](../spec/policy.md#1-the-configmap).
`)
	for _, g := range []group{
		{"Conditions of NodePools and NodeClaims", "api/karpenter/v1", "conditions.go", "Condition", "`Ready` of a NodePool needs `ValidationSucceeded` and `NodeClassReady`; that of a NodeClaim `Launched`, `Registered` and `Initialized`."},
		{"Conditions of EC2NodeClasses", "api/aws/v1", "conditions.go", "Condition", ""},
		{"Labels of nodes and NodeClaims", "api/karpenter/v1", "labels.go", "Label", ""},
		{"Labels of EC2 nodes", "api/aws/v1", "labels.go", "Label", "NodePools may have requirements on them."},
		{"Annotations", "api/karpenter/v1", "labels.go", "Annotation", ""},
		{"Annotations of EC2 objects", "api/aws/v1", "labels.go", "Annotation", ""},
		{"Annotations and labels of Spokeshave", "api/karpenter/v1", "spokeshave.go", "", ""},
		{"Taints", "api/karpenter/v1", "taints.go", "TaintKey", ""},
		{"Finalizers", "api/karpenter/v1", "labels.go", "Finalizer", ""},
	} {
		rows, err := g.rows(root)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n## %s\n\n", g.heading)
		if g.intro != "" {
			b.WriteString(g.intro + "\n\n")
		}
		table(&b, append([][]string{{"name", "meaning"}}, rows...))
	}
	return b.String(), nil
}

// rows are the constants of the group, with the comments of them.
func (g *group) rows(root string) ([][]string, error) {
	set := token.NewFileSet()
	texts, err := constants(set, filepath.Join(root, g.folder))
	if err != nil {
		return nil, err
	}
	parsed, err := parser.ParseFile(set, filepath.Join(root, g.folder, g.file), nil, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", g.file, err)
	}
	var rows [][]string
	for _, d := range parsed.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			continue
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			name := spec.Names[0].Name
			doc := spec.Doc.Text()
			switch {
			case !decl.Lparen.IsValid():
				doc = decl.Doc.Text()
			case doc == "":
				doc = spec.Comment.Text()
			}
			if !strings.HasPrefix(name, g.prefix) || !spec.Names[0].IsExported() || name == "Domain" {
				continue
			}
			if doc == "" {
				return nil, fmt.Errorf("%s: %s has no comment", g.file, name)
			}
			if g.prefix == "Condition" {
				doc = strings.ToUpper(doc[:1]) + doc[1:]
			}
			rows = append(rows, []string{code(texts[name]), meaning(name, doc, texts)})
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no constants that begin with %s", g.file, g.prefix)
	}
	return rows, nil
}

// meaning is the comment of a constant without the constant's own name, and with the texts
// of others in place of their names.
func meaning(name, doc string, texts map[string]string) string {
	doc = strings.Join(strings.Fields(doc), " ")
	doc, _, _ = strings.Cut(doc, "; see ")
	for _, lead := range []string{name + ": ", name + " is, ", name + " is ", name + " are ", name + " "} {
		if rest, ok := strings.CutPrefix(doc, lead); ok {
			doc = strings.ToUpper(rest[:1]) + rest[1:]
			break
		}
	}
	names := make([]string, 0, len(texts))
	for n := range texts {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // a name may begin with another
	doc = prose(doc)
	for _, n := range names {
		doc = strings.ReplaceAll(doc, n, "`"+texts[n]+"`")
	}
	return sentence(doc)
}

// constants are the values of the text constants of a package by name.
func constants(set *token.FileSet, dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	out := map[string]string{}
	var open []*ast.ValueSpec
	for _, f := range files {
		parsed, err := parser.ParseFile(set, f, nil, 0)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", f, err)
		}
		for _, d := range parsed.Decls {
			if decl, ok := d.(*ast.GenDecl); ok && decl.Tok == token.CONST {
				for _, s := range decl.Specs {
					open = append(open, s.(*ast.ValueSpec))
				}
			}
		}
	}
	for range 5 { // a constant may be made of others
		for _, s := range open {
			if len(s.Values) == 1 {
				if text, ok := text(s.Values[0], out); ok {
					out[s.Names[0].Name] = text
				}
			}
		}
	}
	return out, nil
}

// text is the value of an expression of text constants.
func text(e ast.Expr, known map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		return constant.StringVal(constant.MakeFromLiteral(e.Value, e.Kind, 0)), true
	case *ast.Ident:
		t, ok := known[e.Name]
		return t, ok
	case *ast.BinaryExpr:
		x, one := text(e.X, known)
		y, two := text(e.Y, known)
		return x + y, one && two
	}
	return "", false
}
