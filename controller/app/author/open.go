package author

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/app/engine"
	"spokeshave.dev/controller/app/simulate"
	"spokeshave.dev/controller/policy"
	"spokeshave.dev/controller/policy/load"
)

// Namespace is the controller's own, where a policy without one belongs.
const Namespace = "spokeshave"

// Source is a policy as it stands in files.
type Source struct {
	// At is its folder, or file:line of its ConfigMap.
	At        string
	ConfigMap *corev1.ConfigMap
	// Dir is where its cases are.
	Dir string
}

// Name is the policy's name.
func (s *Source) Name() string { return s.ConfigMap.Name }

// Open reads the policies of a path: a policy's folder, a folder of such
// folders, or manifests with ConfigMaps.
func Open(path string) ([]Source, error) {
	found, _, err := simulate.ReadPolicies(path)
	if err != nil {
		return nil, err
	}
	out := make([]Source, 0, len(found))
	for _, f := range found {
		s := Source{At: f.At, ConfigMap: f.ConfigMap, Dir: f.At}
		if file, _, ok := strings.Cut(f.At, ".yaml:"); ok {
			s.Dir = filepath.Dir(file)
		}
		if s.ConfigMap.Namespace == "" {
			s.ConfigMap.Namespace = Namespace
		}
		out = append(out, s)
	}
	return out, nil
}

// Vet checks a policy as the controller would whose own namespace is home: the
// error has its words. Only policies there may answer every hook.
func (s *Source) Vet(ctx context.Context, home string, now time.Time) (load.Status, error) {
	cm := s.ConfigMap.DeepCopy()
	l := load.New(load.Config{Namespace: home, Engines: engine.All(), Now: func() time.Time { return now }})
	_, err := l.Apply(ctx, cm)
	status := l.Status()[0]
	if _, gone := l.Delete(ctx, load.Key{Namespace: cm.Namespace, Name: cm.Name}); err == nil {
		err = gone
	}
	return status, err
}

// Compile makes the policy, with a configuration in place of its own unless
// that is nil; then it leaves out the tests that came with its own.
func (s *Source) Compile(ctx context.Context, config json.RawMessage) (policy.Compiled, error) {
	src, err := load.ParseConfigMap(s.ConfigMap)
	if err != nil {
		return nil, fmt.Errorf("load policy %s: %w", s.Name(), err)
	}
	if config != nil {
		src.Config = config
		for name := range src.Files {
			if strings.HasSuffix(name, "_test.rego") {
				delete(src.Files, name)
			}
		}
	}
	eng := engine.All()[src.Info.Engine]
	return eng.Compile(ctx, src)
}
