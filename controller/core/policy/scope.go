package policy

import (
	"path"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// LabelPluginNamespace is the label by which a NodePool is given to the policies of a
// plugin namespace, its value.
const LabelPluginNamespace = "spokeshave.dev/plugin-namespace"

// Scope says what the policies of a plugin namespace may touch. The administrator sets
// it. The zero value gives them the NodePools with the namespace's label, and no
// failure that stops launches.
type Scope struct {
	// NodePools are name patterns with * and ?, besides the NodePools that have
	// LabelPluginNamespace with the namespace.
	NodePools []string `json:"nodePools,omitempty"`
	// Hooks are the hooks that the policies may answer; empty for rank and
	// consolidate.
	Hooks []Hook `json:"hooks,omitempty"`
	// FailClosed permits rank policies whose failure stops the launches of their
	// NodePools.
	FailClosed bool `json:"failClosed,omitempty"`
}

// Permits reports whether policies in the scope may answer the hook. Ceilings never
// belong to a plugin namespace.
func (s *Scope) Permits(h Hook) bool {
	return h != HookCeiling && (len(s.Hooks) == 0 || slices.Contains(s.Hooks, h))
}

// Has reports whether policies of the namespace may touch the pool.
func (s *Scope) Has(namespace string, p *model.Pool) bool {
	return p.Labels[LabelPluginNamespace] == namespace || slices.ContainsFunc(s.NodePools, func(pattern string) bool {
		ok, err := path.Match(pattern, p.Name)
		return ok && err == nil
	})
}

// Text names the NodePools of the scope, for people.
func (s *Scope) Text(namespace string) string {
	return strings.Join(append(slices.Clone(s.NodePools), LabelPluginNamespace+"="+namespace), ",")
}
