package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// The VPC resource controller gives pods branch interfaces of their own. EC2 tells
// nobody how many a type carries: this controller's table is where AWS publishes it, in a
// Go file of generated literals. The checksum is the one that the checksum database has.
const (
	vpcModule  = "github.com/aws/amazon-vpc-resource-controller-k8s"
	vpcVersion = "v1.8.2"
	vpcSum     = "h1:S6fvZf7+Xjho4LLo2AdxT3x9yaOJ37Ly/eGQd+ASWi4="
)

// interfaceRecord is a type in vpc.json: ../interfaces.go reads it.
type interfaceRecord struct {
	// Branches is the number of branch interfaces, 0 where there are none.
	Branches int `json:"b,omitempty"`
	// Cards are the interfaces that each network card takes, by its index.
	Cards []int `json:"c"`
}

// interfaces reads the table of the VPC resource controller.
func interfaces() (map[string]interfaceRecord, error) {
	dir, err := downloaded(vpcModule, vpcVersion, vpcSum)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, "pkg", "aws", "vpc", "limits.go"), nil, 0)
	if err != nil {
		return nil, fmt.Errorf("parse limits: %w", err)
	}
	out := map[string]interfaceRecord{}
	for _, element := range table(file, "Limits") {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			return nil, fmt.Errorf("limits: %T is not a pair", element)
		}
		name, err := strconv.Unquote(pair.Key.(*ast.BasicLit).Value)
		if err != nil {
			return nil, fmt.Errorf("limits: %w", err)
		}
		out[name] = interfacesOf(fieldsOf(pair.Value))
	}
	if len(out) < 500 {
		return nil, fmt.Errorf("limits: %d types, which cannot be all", len(out))
	}
	return out, nil
}

// downloaded returns the folder of a module, after a look at its checksum.
func downloaded(module, version, sum string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module+"@"+version)
	cmd.Stderr = os.Stderr
	raw, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("download %s: %w", module, err)
	}
	var found struct{ Dir, Sum string }
	if err := json.Unmarshal(raw, &found); err != nil {
		return "", fmt.Errorf("download %s: %w", module, err)
	}
	if found.Sum != sum {
		return "", fmt.Errorf("download %s: checksum %s, want %s", module, found.Sum, sum)
	}
	return found.Dir, nil
}

// table returns the elements of a composite literal that a variable is set to.
func table(file *ast.File, name string) []ast.Expr {
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range decl.Specs {
			spec, ok := s.(*ast.ValueSpec)
			if ok && spec.Names[0].Name == name {
				return spec.Values[0].(*ast.CompositeLit).Elts
			}
		}
	}
	return nil
}

// fieldsOf returns the fields of a struct literal by name.
func fieldsOf(e ast.Expr) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	for _, element := range e.(*ast.CompositeLit).Elts {
		pair := element.(*ast.KeyValueExpr)
		out[pair.Key.(*ast.Ident).Name] = pair.Value
	}
	return out
}

func interfacesOf(fields map[string]ast.Expr) interfaceRecord {
	var out interfaceRecord
	if trunking, ok := fields["IsTrunkingCompatible"].(*ast.Ident); ok && trunking.Name == "true" {
		out.Branches = number(fields["BranchInterface"])
	}
	cards, ok := fields["NetworkCards"].(*ast.CompositeLit)
	if !ok {
		return out
	}
	for _, element := range cards.Elts {
		card := fieldsOf(element)
		for at := number(card["NetworkCardIndex"]); at >= len(out.Cards); {
			out.Cards = append(out.Cards, 0)
		}
		out.Cards[number(card["NetworkCardIndex"])] = number(card["MaximumNetworkInterfaces"])
	}
	return out
}

// number returns the value of an integer literal, 0 for none.
func number(e ast.Expr) int {
	literal, ok := e.(*ast.BasicLit)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(literal.Value)
	if err != nil {
		return 0
	}
	return n
}
