// Package notices finds the licences of what is linked into programs, refuses those that a
// release must not have, and writes the notices that have to travel with it.
//
// It reads the licence files beside the packages that are linked, in Go's module cache. A
// module whose packages are not linked, such as a tool's or a test's, does not count.
package notices

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"spokeshave.dev/tools/release/program"
)

// Module is a module of which packages are linked, with its licences.
type Module struct {
	Path, Version string
	// Licences are the SPDX identifiers of its licence files, sorted.
	Licences []string
	// Files are its licence files and notices, by path within the module.
	Files []File
}

// File is a licence file or a notice.
type File struct {
	Name, Text string
	// Licences are what it was recognised as; none for a notice.
	Licences []string
}

// listed is a package as "go list -json" prints it.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version, Dir string }
	}
}

// Linked finds the licences of the modules that are linked into the programs on any of the
// platforms, sorted by path. Go's standard library, which is in each, is the module "std".
// The error names every module whose licence is missing, not recognised or forbidden.
func Linked(ctx context.Context, source string, programs []string, platforms []v1.Platform) ([]Module, error) {
	folders := map[string]map[string]bool{} // of packages, by module
	modules := map[string]*Module{}
	roots := map[string]string{}
	for _, p := range platforms {
		packages, err := list(ctx, source, programs, p)
		if err != nil {
			return nil, err
		}
		for _, pkg := range packages {
			m, root := module(pkg)
			if m == nil {
				continue
			}
			if modules[m.Path] == nil {
				modules[m.Path], roots[m.Path], folders[m.Path] = m, root, map[string]bool{}
			}
			folders[m.Path][pkg.Dir] = true
		}
	}
	std, root, err := standard(ctx, source)
	if err != nil {
		return nil, err
	}
	modules[std.Path], roots[std.Path], folders[std.Path] = std, root, map[string]bool{root: true}
	var out []Module
	var wrong []error
	for path, m := range modules {
		if err := m.read(roots[path], folders[path]); err != nil {
			wrong = append(wrong, err)
			continue
		}
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(wrong, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return out, errors.Join(wrong...)
}

// list returns the packages that are linked into the programs.
func list(ctx context.Context, source string, programs []string, p v1.Platform) ([]listed, error) {
	args := append([]string{"list", "-deps", "-json=ImportPath,Dir,Standard,Module"}, programs...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = source, program.Environment(p)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list what %s is made of for %s: %w\n%s", strings.Join(programs, " "), p, err, stderr.Bytes())
	}
	var out []listed
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var one listed
		if err := dec.Decode(&one); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		out = append(out, one)
	}
}

// module is the module of a package and its folder, nil for the product's own and for the
// standard library.
func module(p listed) (*Module, string) {
	if p.Standard || p.Module == nil || p.Module.Main {
		return nil, ""
	}
	m := &Module{Path: p.Module.Path, Version: p.Module.Version}
	if r := p.Module.Replace; r != nil {
		return m, r.Dir
	}
	return m, p.Module.Dir
}

// standard is Go's standard library and runtime.
func standard(ctx context.Context, source string) (*Module, string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "-json", "GOROOT", "GOVERSION")
	cmd.Dir = source
	text, err := cmd.Output()
	if err != nil {
		return nil, "", fmt.Errorf("ask for Go's folder: %w", err)
	}
	var env struct{ GOROOT, GOVERSION string }
	if err := json.Unmarshal(text, &env); err != nil {
		return nil, "", fmt.Errorf("read Go's folder: %w", err)
	}
	return &Module{Path: "std", Version: strings.TrimPrefix(env.GOVERSION, "go")}, env.GOROOT, nil
}

var (
	licenceName = regexp.MustCompile(`(?i)^(un)?licen[sc]e([-._].*)?$|^copying([-._].*)?$|^(mit|bsd|apache|mpl)[-._]?licen[sc]e.*$`)
	noticeName  = regexp.MustCompile(`(?i)^notices?(\.(txt|md))?$|^(third[-_]?party|copyright).*(\.txt|\.md)?$`)
	source      = regexp.MustCompile(`\.(go|s|json|ya?ml|html)$`)
)

// read finds the licence files and notices of a module: in the folders of the packages and
// in those above them, up to the module's.
func (m *Module) read(root string, folders map[string]bool) error {
	look := map[string]bool{}
	for dir := range folders {
		for ; len(dir) >= len(root); dir = filepath.Dir(dir) {
			look[dir] = true
		}
	}
	for dir := range look {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		for _, e := range entries {
			licence := licenceName.MatchString(e.Name())
			if !e.Type().IsRegular() || source.MatchString(e.Name()) || !licence && !noticeName.MatchString(e.Name()) {
				continue
			}
			if err := m.add(root, filepath.Join(dir, e.Name()), licence); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(m.Licences)
	m.Licences = slices.Compact(m.Licences)
	if len(m.Licences) == 0 {
		return fmt.Errorf("%s@%s: no licence file in %s: without a licence it must not be passed on", m.Path, m.Version, root)
	}
	return nil
}

// add reads a file of the module.
func (m *Module) add(root, path string, licence bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	f := File{Name: filepath.ToSlash(name), Text: strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))}
	if licence {
		if f.Licences, err = recognise(f.Text); err != nil {
			return fmt.Errorf("%s@%s: %s: %w", m.Path, m.Version, f.Name, err)
		}
		m.Licences = append(m.Licences, f.Licences...)
	}
	m.Files = append(m.Files, f)
	return nil
}
