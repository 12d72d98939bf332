package v1

// Defaults that the API server applies. They are repeated here for manifests
// that never see one, such as those given to `spokeshave simulate`.
const (
	DefaultExpireAfter      NillableDuration = "720h"
	DefaultConsolidateAfter NillableDuration = "0s"
	DefaultBudgetNodes                       = "10%"
)

// SetDefaults fills the fields that the API server would have filled.
func (p *NodePool) SetDefaults() {
	if p.Spec.Template.Spec.ExpireAfter == "" {
		p.Spec.Template.Spec.ExpireAfter = DefaultExpireAfter
	}
	d := &p.Spec.Disruption
	if d.ConsolidateAfter == "" {
		d.ConsolidateAfter = DefaultConsolidateAfter
	}
	if d.ConsolidationPolicy == "" {
		d.ConsolidationPolicy = ConsolidateWhenEmptyOrUnderutilized
	}
	if d.Budgets == nil {
		d.Budgets = []Budget{{Nodes: DefaultBudgetNodes}}
	}
	for i := range d.Budgets {
		if d.Budgets[i].Nodes == "" {
			d.Budgets[i].Nodes = DefaultBudgetNodes
		}
	}
}

// SetDefaults fills the fields that the API server would have filled.
func (c *NodeClaim) SetDefaults() {
	if c.Spec.ExpireAfter == "" {
		c.Spec.ExpireAfter = DefaultExpireAfter
	}
}
