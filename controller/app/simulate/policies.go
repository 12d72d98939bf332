package simulate

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/app/engine"
	"spokeshave.dev/controller/policy"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/scenario"
)

// Found is a policy's ConfigMap and where it comes from.
type Found struct {
	ConfigMap *corev1.ConfigMap
	// At is file:line, or the policy's folder.
	At string
}

// fromObjects are the policies among the manifests.
func fromObjects(o *scenario.Objects) []Found {
	out := make([]Found, 0, len(o.Policies))
	for _, cm := range o.Policies {
		out = append(out, Found{cm, o.Source("ConfigMap " + cm.Namespace + "/" + cm.Name).String()})
	}
	return out
}

// ReadPolicies reads the policies of a path: a folder with policy.yaml beside
// the sources, a folder of such folders, or manifests with ConfigMaps.
func ReadPolicies(path string) ([]Found, []scenario.Warning, error) {
	folders, err := policyFolders(path)
	if err != nil {
		return nil, nil, err
	}
	var out []Found
	for _, dir := range folders {
		cm, err := load.Pack(dir)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, Found{cm, dir})
	}
	if len(out) > 0 {
		return out, nil, nil
	}
	objects, err := scenario.Read(path)
	if err != nil {
		return nil, nil, err
	}
	if out = fromObjects(objects); len(out) == 0 {
		return nil, nil, fmt.Errorf("read policies: %s holds no policy: want a folder with policy.yaml, or ConfigMaps labelled spokeshave.dev/policy=true", path)
	}
	return out, objects.Warnings, nil
}

const (
	manifestFile = "policy.yaml"
	// namespace is where policies without one belong.
	namespace = "spokeshave"
)

func policyFolders(path string) ([]string, error) {
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
	out := make([]string, 0, len(below))
	for _, m := range below {
		out = append(out, filepath.Join(path, filepath.Dir(m)))
	}
	slices.Sort(out)
	return out, nil
}

// compile makes the policies of their ConfigMaps. Every
// policy counts as a guardrail: whoever simulates has chosen them. done gives
// up what they hold.
func compile(ctx context.Context, in []Found, now time.Time) (out []policy.Policy, done func() error, err error) {
	engines := engine.All()
	loaders := make([]*load.Loader, 0, len(in))
	done = func() error {
		for i, l := range loaders {
			if _, err := l.Delete(ctx, load.Key{Namespace: in[i].ConfigMap.Namespace, Name: in[i].ConfigMap.Name}); err != nil {
				return err
			}
		}
		return nil
	}
	seen := map[load.Key]string{}
	for _, f := range in {
		if f.ConfigMap.Namespace == "" {
			f.ConfigMap.Namespace = namespace
		}
		key := load.Key{Namespace: f.ConfigMap.Namespace, Name: f.ConfigMap.Name}
		if other, ok := seen[key]; ok {
			return nil, done, fmt.Errorf("%s: policy %s/%s stands at %s already", f.At, key.Namespace, key.Name, other)
		}
		seen[key] = f.At
		l := load.New(load.Config{Namespace: f.ConfigMap.Namespace, Engines: engines, Now: func() time.Time { return now }})
		if _, err := l.Apply(ctx, f.ConfigMap); err != nil {
			return nil, done, fmt.Errorf("%s: %w", f.At, err)
		}
		loaders = append(loaders, l)
		out = append(out, l.Policies()...)
	}
	return out, done, nil
}

// inOrder sorts policies as the loader does.
func inOrder(all []policy.Policy) []policy.Policy {
	slices.SortStableFunc(all, func(a, b policy.Policy) int {
		x, y := a.Info(), b.Info()
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
	})
	return all
}
