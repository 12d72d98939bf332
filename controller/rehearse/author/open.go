package author

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/rehearse/source"
)

// Namespace is the controller's own. It is used for policies that name none.
const Namespace = "spokeshave"

// Source is a policy that was read from files.
type Source struct{ source.Policy }

// Name is the policy's name.
func (s *Source) Name() string { return s.ConfigMap.Name }

// Open reads the policies of a path: a policy's folder, a folder of such
// folders, or manifests with ConfigMaps. Go programs are built.
func Open(ctx context.Context, path string) ([]Source, error) {
	found, _, err := source.Read(ctx, path)
	if err != nil {
		return nil, err
	}
	out := make([]Source, 0, len(found))
	for _, f := range found {
		if f.ConfigMap.Namespace == "" {
			f.ConfigMap.Namespace = Namespace
		}
		out = append(out, Source{f})
	}
	return out, nil
}

// Naming is a new namespace and name for a policy. An empty field keeps the present
// one.
type Naming struct{ Namespace, Name string }

// Rename gives the policy another name or namespace.
func (s *Source) Rename(n Naming) error {
	s.ConfigMap.Namespace = cmp.Or(n.Namespace, s.ConfigMap.Namespace)
	s.ConfigMap.Name = cmp.Or(n.Name, s.ConfigMap.Name)
	if wrong := validation.IsDNS1123Subdomain(s.ConfigMap.Name); wrong != nil {
		return fmt.Errorf("%s: %q cannot be a ConfigMap's name, give another with --name: %s", s.At, s.ConfigMap.Name, strings.Join(wrong, "; "))
	}
	return nil
}

// Finding is the result of checking a policy.
type Finding struct {
	Policy string        `json:"policy"`
	At     string        `json:"at"`
	Engine string        `json:"engine,omitempty"`
	Hooks  []policy.Hook `json:"hooks,omitempty"`
	Hash   string        `json:"hash"`
	// Size is the ConfigMap's, in bytes as the API server counts them.
	Size int `json:"size"`
	// Reason is why the controller would reject it, "" if it would not.
	Reason string `json:"reason,omitempty"`
	// Notes name rules that run slowly.
	Notes []string `json:"notes,omitempty"`
}

// Find checks a policy as a controller in the namespace would; Reason is the
// controller's message. Only policies in the controller's namespace may answer every
// hook.
func (s *Source) Find(ctx context.Context, controllerNamespace string, now time.Time) Finding {
	cm := s.ConfigMap.DeepCopy()
	found := Finding{Policy: cm.Namespace + "/" + cm.Name, At: s.At, Hash: load.Hash(cm), Size: source.Size(cm)}
	if err := source.CheckSize(cm); err != nil {
		found.Reason = err.Error()
		return found
	}
	l := load.New(load.Config{Namespace: controllerNamespace, Engines: engine.All(), Now: func() time.Time { return now }})
	_, err := l.Apply(ctx, cm)
	status := l.Status()[0]
	if _, gone := l.Delete(ctx, load.Key{Namespace: cm.Namespace, Name: cm.Name}); err == nil {
		err = gone
	}
	found.Engine, found.Hooks, found.Notes = status.Engine, status.Hooks, status.Notes
	if err != nil {
		found.Reason = err.Error()
	}
	return found
}

// Compile compiles the policy. A config that is not nil replaces the policy's own
// configuration, and then the policy's own tests are left out.
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
