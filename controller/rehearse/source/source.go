package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/rehearse/scenario"
)

const manifestFile = "policy.yaml"

// ErrNone says that a path contains no policy.
var ErrNone = errors.New("want a folder with policy.yaml, or ConfigMaps labelled spokeshave.dev/policy=true")

// Policy is a policy's ConfigMap and where it comes from.
type Policy struct {
	ConfigMap *corev1.ConfigMap
	// At is "file:line", or the policy's folder.
	At string
	// Dir is the folder with the policy's test cases.
	Dir string
}

// Read reads the policies of a path.
func Read(ctx context.Context, path string) ([]Policy, []scenario.Warning, error) {
	dirs, err := folders(path)
	if err != nil {
		return nil, nil, err
	}
	out := make([]Policy, 0, len(dirs))
	for _, dir := range dirs {
		cm, err := folder(ctx, dir)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, Policy{ConfigMap: cm, At: dir, Dir: dir})
	}
	if len(out) > 0 {
		return out, nil, nil
	}
	objects, err := scenario.Read(path)
	if err != nil {
		return nil, nil, err
	}
	if out = Objects(objects); len(out) == 0 {
		return nil, nil, fmt.Errorf("read policies: %s holds no policy: %w", path, ErrNone)
	}
	return out, objects.Warnings, nil
}

// Objects returns the policies among manifests.
func Objects(o *scenario.Objects) []Policy {
	out := make([]Policy, 0, len(o.Policies))
	for _, cm := range o.Policies {
		at := o.Source("ConfigMap " + cm.Namespace + "/" + cm.Name).String()
		file := at[:max(0, strings.LastIndexByte(at, ':'))]
		out = append(out, Policy{ConfigMap: cm, At: at, Dir: filepath.Dir(file)})
	}
	return out
}

// folders returns the policy folders at a path; none when the path holds manifests.
func folders(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read policies: %w", err)
	case !info.IsDir() && filepath.Base(path) == manifestFile:
		return []string{filepath.Dir(path)}, nil
	case !info.IsDir():
		return nil, nil
	}
	if _, err := fs.Stat(os.DirFS(path), manifestFile); err == nil {
		return []string{path}, nil
	}
	below, err := fs.Glob(os.DirFS(path), "*/"+manifestFile)
	if err != nil {
		return nil, fmt.Errorf("read policies: %w", err)
	}
	if len(below) == 0 && hasCode(path) { // the policy's author is told what is missing
		return []string{path}, nil
	}
	out := make([]string, 0, len(below))
	for _, m := range below {
		out = append(out, filepath.Join(path, filepath.Dir(m)))
	}
	slices.Sort(out)
	return out, nil
}

// hasCode reports whether a folder has the code of a policy.
func hasCode(dir string) bool {
	for _, pattern := range []string{"*.rego", "module.wasm", "module.wasm.gz"} {
		if found, err := fs.Glob(os.DirFS(dir), pattern); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

// folder makes the ConfigMap of a policy's folder. A Go program is compiled first, and
// a module is compressed.
func folder(ctx context.Context, dir string) (*corev1.ConfigMap, error) {
	if !isProgram(dir) {
		cm, err := load.Gather(dir)
		if err != nil {
			return nil, err
		}
		if err := unbuilt(dir, cm); err != nil {
			return nil, err
		}
		return cm, load.Compress(cm)
	}
	module, err := build(ctx, dir)
	if err != nil {
		return nil, err
	}
	return load.GatherModule(dir, module)
}
