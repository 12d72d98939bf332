package policy

import (
	"path"

	"spokeshave.dev/controller/core/model"
)

// Match restricts a policy to some NodePools. A pool must satisfy all fields. The
// zero value matches every pool.
type Match struct {
	// NodePools are name patterns with * and ?. One of them must match; an empty
	// list matches every name.
	NodePools []string
	// Selector lists requirements on the NodePool's labels. All must hold.
	Selector []model.Requirement
	// Scope is what the administrator permits to policies of Namespace; nil permits
	// everything. The policy's author cannot change it.
	Scope     *Scope
	Namespace string
}

// Pool reports whether the policy applies to the pool. Questions about the whole
// cluster, which have no pool, are put to every policy.
func (m *Match) Pool(p *model.Pool) bool {
	if m.Scope != nil && !m.Scope.Has(m.Namespace, p) {
		return false
	}
	named := len(m.NodePools) == 0
	for _, pattern := range m.NodePools {
		ok, err := path.Match(pattern, p.Name)
		named = named || ok && err == nil
	}
	if !named {
		return false
	}
	return model.MeetAll(p.Labels, m.Selector)
}
