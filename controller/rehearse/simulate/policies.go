package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/rehearse/source"
)

// namespace is used for policies that name none.
const namespace = "spokeshave"

// Compile compiles the policies of ConfigMaps and returns them in pipeline order. Every
// policy counts as a guardrail, because the user has chosen it. done releases the
// policies.
func Compile(ctx context.Context, in []source.Policy, now time.Time) (out []policy.Policy, done func() error, err error) {
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
	return inOrder(out), done, nil
}

// inOrder sorts policies in the loader's order.
func inOrder(all []policy.Policy) []policy.Policy {
	slices.SortStableFunc(all, func(a, b policy.Policy) int {
		x, y := a.Info(), b.Info()
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
	})
	return all
}
