package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// target is one fuzz function.
type target struct {
	pkg  string
	name string
	// dir is the package's folder.
	dir string
}

// String names the target as package/Name.
func (t target) String() string { return t.pkg + "/" + t.name }

// targets finds the fuzz functions of the module at source by reading its test
// files, which is quicker than having every test binary list its own.
func targets(ctx context.Context, source string) ([]target, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = source
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w\n%s", err, stderr.Bytes())
	}
	var found []target
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir           string
			TestGoFiles, XTestGoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			names, err := functions(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			for _, n := range names {
				found = append(found, target{p.ImportPath, n, p.Dir})
			}
		}
	}
}

// functions are the fuzz functions of a file.
func functions(path string) ([]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	pattern := regexp.MustCompile(`^Fuzz(\P{Ll}|$)`)
	var names []string
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && pattern.MatchString(fn.Name.Name) {
			names = append(names, fn.Name.Name)
		}
	}
	return names, nil
}

// run fuzzes one target and returns what go test wrote.
func run(ctx context.Context, source string, t target, each time.Duration) (string, error) {
	// An input that is new is made smaller only a little: by default that takes up
	// to a minute each, and a slow target does nothing else.
	cmd := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$",
		"-fuzztime", each.String(), "-fuzzminimizetime", "10x", t.pkg)
	cmd.Dir = source
	out, err := cmd.CombinedOutput()
	if err = verdict(string(out), err); err != nil {
		return string(out), fmt.Errorf("fuzz %s: %w", t, err)
	}
	return string(out), nil
}

// onlyTime is what a target writes that failed for nothing but the end of its time.
var onlyTime = regexp.MustCompile(`(?m)^--- FAIL: \w+ \([0-9.]+s\)\n +context deadline exceeded\nFAIL$`)

// verdict is the error of a target that ended with err and wrote out. Before Go 1.27 a fuzz
// target whose time ends now and then fails with "context deadline exceeded", although no
// input failed (https://go.dev/issue/75804): that is no error. An input that fails is
// named by what the target writes, or belongs to the seeds.
func verdict(out string, err error) error {
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.Exited() && onlyTime.MatchString(out) &&
		strings.Count(out, "--- FAIL") == 1 {
		return nil
	}
	return err
}

// summary is the last progress line's figures, such as "execs: 1204 …".
func summary(out string) string {
	all := regexp.MustCompile(`execs: .*`).FindAllString(out, -1)
	if len(all) == 0 {
		return "ok"
	}
	return "ok, " + strings.TrimSpace(all[len(all)-1])
}
