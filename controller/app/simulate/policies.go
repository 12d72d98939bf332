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

// found is a policy's ConfigMap and where it comes from.
type found struct {
	configMap *corev1.ConfigMap
	at        string // file:line, or the policy's folder
}

// fromObjects are the policies among the manifests.
func fromObjects(o *scenario.Objects) []found {
	out := make([]found, 0, len(o.Policies))
	for _, cm := range o.Policies {
		out = append(out, found{cm, o.Source("ConfigMap " + cm.Namespace + "/" + cm.Name).String()})
	}
	return out
}

// fromPath are the policies of a path: a folder with policy.yaml beside the
// sources, a folder of such folders, or manifests with ConfigMaps.
func fromPath(path string) ([]found, []scenario.Warning, error) {
	folders, err := policyFolders(path)
	if err != nil {
		return nil, nil, err
	}
	var out []found
	for _, dir := range folders {
		cm, err := load.Pack(dir)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, found{cm, dir})
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

// compile makes the policies of their ConfigMaps, in pipeline order. Every
// policy counts as a guardrail: whoever simulates has chosen them. done gives
// up what they hold.
func compile(ctx context.Context, in []found, now time.Time) (out []policy.Policy, done func() error, err error) {
	engines := engine.All()
	loaders := make([]*load.Loader, 0, len(in))
	done = func() error {
		for i, l := range loaders {
			if _, err := l.Delete(ctx, load.Key{Namespace: in[i].configMap.Namespace, Name: in[i].configMap.Name}); err != nil {
				return err
			}
		}
		return nil
	}
	seen := map[load.Key]string{}
	for _, f := range in {
		if f.configMap.Namespace == "" {
			f.configMap.Namespace = namespace
		}
		key := load.Key{Namespace: f.configMap.Namespace, Name: f.configMap.Name}
		if other, ok := seen[key]; ok {
			return nil, done, fmt.Errorf("%s: policy %s/%s stands at %s already", f.at, key.Namespace, key.Name, other)
		}
		seen[key] = f.at
		l := load.New(load.Config{Namespace: f.configMap.Namespace, Engines: engines, Now: func() time.Time { return now }})
		if _, err := l.Apply(ctx, f.configMap); err != nil {
			return nil, done, fmt.Errorf("%s: %w", f.at, err)
		}
		loaders = append(loaders, l)
		out = append(out, l.Policies()...)
	}
	slices.SortStableFunc(out, func(a, b policy.Policy) int {
		x, y := a.Info(), b.Info()
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
	})
	return out, done, nil
}
