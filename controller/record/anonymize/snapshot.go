package anonymize

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Snapshot returns a copy of s with new names. The second result maps an old name to
// the new one, for files that belong to the snapshot; do not publish the mapping.
func Snapshot(s *model.Snapshot) (model.Snapshot, func(string) string, error) {
	var out model.Snapshot
	raw, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(raw, &out) // a deep copy
	}
	if err != nil {
		return out, nil, fmt.Errorf("copy snapshot: %w", err)
	}
	n := &names{seen: map[string]bool{}, numeric: map[string]bool{}}
	n.snapshot(&out) // the second pass knows the numeric keys that the first has found
	n.seen = map[string]bool{}
	n.snapshot(&out)
	n.number()
	n.snapshot(&out)
	// Spent is searched by name and so must be sorted by name.
	slices.SortFunc(out.Spent, func(a, b model.Spent) int { return cmp.Compare(a.Scope, b.Scope) })
	return out, n.name, nil
}

func (n *names) snapshot(s *model.Snapshot) {
	s.Cluster = n.name(s.Cluster)
	for i := range s.Pools {
		n.pool(&s.Pools[i])
	}
	for i := range s.Catalogs {
		c := &s.Catalogs[i]
		c.NodeClass = n.name(c.NodeClass)
		for k := range c.Types {
			t := &c.Types[k]
			t.Labels, t.Capacity, t.Allocatable = n.labels(t.Labels), n.resources(t.Capacity), n.resources(t.Allocatable)
			for o := range t.Offerings {
				n.reservation(t.Offerings[o].Reservation)
			}
		}
	}
	for i := range s.Nodes {
		n.node(&s.Nodes[i])
	}
	for i := range s.Specs {
		n.spec(&s.Specs[i])
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		p.UID, p.Namespace, p.Name, p.Workload = n.name(p.UID), n.name(p.Namespace), n.name(p.Name), n.workload(p.Workload)
		p.Announced = n.owner(p.Announced)
		if p.Held != nil {
			p.Held = &model.Reason{Code: model.HeldBack, Pool: n.name(p.Held.Pool), Message: "held back"} // the text contains names
		}
	}
	for i := range s.Daemons {
		d := &s.Daemons[i]
		d.Namespace, d.Name = n.name(d.Namespace), n.name(d.Name)
		n.spec(&d.Spec)
	}
	if s.SpentDoubt != "" {
		s.SpentDoubt = "not certain" // the text contains names
	}
	for i := range s.Spent {
		s.Spent[i].Scope = n.scope(s.Spent[i].Scope)
	}
	for i := range s.Budgets {
		b := &s.Budgets[i]
		b.Namespace, b.Name = n.name(b.Namespace), n.name(b.Name)
		n.selector(&b.Selector)
	}
	for i := range s.Departed {
		d := &s.Departed[i]
		d.Claim, d.Pool = n.name(d.Claim), n.name(d.Pool)
	}
}

func (n *names) pool(p *model.Pool) {
	p.Name, p.UID, p.NodeClass = n.name(p.Name), n.name(p.UID), n.name(p.NodeClass)
	p.Labels, p.NodeLabels = n.labels(p.Labels), n.labels(p.NodeLabels)
	p.Limits, p.Usage = n.resources(p.Limits), n.resources(p.Usage)
	n.requirements(p.Requirements)
	n.taints(p.Taints)
	n.taints(p.StartupTaints)
	if p.NotReady != "" {
		p.NotReady = "not ready" // the message contains names
	}
}

// reservation renames the fields that become label values as those labels.
func (n *names) reservation(r *model.Reservation) {
	if r == nil {
		return
	}
	r.ID = n.value("karpenter.k8s.aws/capacity-reservation-id", r.ID)
	r.Type = n.value("karpenter.k8s.aws/capacity-reservation-type", r.Type)
	r.Interruptible = n.value("karpenter.k8s.aws/capacity-reservation-interruptible", r.Interruptible)
}

func (n *names) node(d *model.Node) {
	d.Name, d.Claim, d.PoolName = n.name(d.Name), n.name(d.Claim), n.name(d.PoolName)
	d.Labels, d.Allocatable, d.PoolLabels = n.labels(d.Labels), n.resources(d.Allocatable), n.labels(d.PoolLabels)
	n.taints(d.Taints)
	n.all(d.Replaces)
	if d.Command != nil {
		d.Command.ID = n.name(d.Command.ID)
		n.all(d.Command.Nodes)
		n.all(d.Command.Replacements)
	}
}

func (n *names) spec(p *model.PodSpec) {
	p.Namespace = n.name(p.Namespace)
	p.Labels, p.NodeSelector, p.Requests = n.labels(p.Labels), n.labels(p.NodeSelector), n.resources(p.Requests)
	for i := range p.OwnAffinity {
		n.requirements(p.OwnAffinity[i])
	}
	for i := range p.Affinity {
		n.requirements(p.Affinity[i])
	}
	for i := range p.Preferred {
		n.requirements(p.Preferred[i].Term)
	}
	for i := range p.Tolerations {
		t := &p.Tolerations[i]
		if t.Compare == model.Gt || t.Compare == model.Lt {
			n.numeric[t.Key] = true
		}
		t.Value = n.value(t.Key, t.Value)
		t.Key = n.key(t.Key)
	}
	for i := range p.HostPorts {
		if ip := &p.HostPorts[i].IP; !publicIP(*ip) {
			*ip = n.name(*ip)
		}
	}
	for i := range p.Spread {
		p.Spread[i].Key = n.key(p.Spread[i].Key)
		n.selector(&p.Spread[i].Selector)
	}
	n.terms(p.PodAffinity)
	n.terms(p.PodAntiAffinity)
	n.weighted(p.PreferredPods)
	n.weighted(p.PreferredApart)
}
