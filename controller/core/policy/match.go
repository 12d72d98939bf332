package policy

import (
	"path"

	"spokeshave.dev/controller/core/model"
)

// Match restricts a policy to some NodePools; both parts must hold. The zero
// value matches every pool.
type Match struct {
	// NodePools are name patterns with * and ?, of which one must match.
	NodePools []string
	// Selector is matched against the NodePool's labels, all of it.
	Selector []model.Requirement
}

// Pool says whether the policy applies to the pool. Cluster-wide questions,
// which have no pool, are asked of every policy.
func (m *Match) Pool(p *model.Pool) bool {
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
