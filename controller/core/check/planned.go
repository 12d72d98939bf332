package check

import (
	"fmt"
	"maps"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// launch names one way to launch a node; chosen writes PlannedNode.Labels.
type launch struct {
	pool         int32
	typ, zone    string
	capacityType model.CapacityType
	chosen       string
}

// blueprint is what a launched node will be: labels, room, DaemonSets.
type blueprint struct {
	labels  labelSet
	alloc   model.Resources
	price   model.Price
	daemons model.Resources
	ports   [][]model.HostPort
	// broken says why such a node cannot be launched at all.
	kind   Kind
	broken string
}

func (v *verifier) instanceType(pool int32, name string) *model.InstanceType {
	if pool < 0 || int(pool) >= len(v.s.Pools) {
		return nil
	}
	c := v.s.Pools[pool].Catalog
	if c < 0 || int(c) >= len(v.s.Catalogs) {
		return nil
	}
	types := v.s.Catalogs[c].Types
	for i := range types {
		if types[i].Name == name {
			return &types[i]
		}
	}
	return nil
}

// planned proves one planned node: every option holds every pod.
func (v *verifier) planned(i int) {
	n, where := &v.plan.Nodes[i], v.name(i)
	if n.Pool < 0 || int(n.Pool) >= len(v.s.Pools) {
		v.report(BadReference, where, "pool %d does not exist", n.Pool)
		return
	}
	pool := &v.s.Pools[n.Pool]
	if pool.NotReady != "" {
		v.report(PoolRequirements, where, "the pool is not ready: %s", pool.NotReady)
	}
	if len(n.Options) == 0 {
		v.report(Offering, where, "there is no option")
	}
	if len(n.Pods) == 0 {
		v.report(Accounting, where, "no pod needs the node")
	}
	specs := v.specs(n.Pods)
	v.company(where, specs, nil)
	for _, s := range specs {
		if t, yes := repels(pool.Taints, s); yes {
			v.report(Taints, where, "taint %s:%s keeps a pod of namespace %s away", t.Key, t.Effect, s.Namespace)
		}
		if len(s.Unsupported) > 0 {
			v.report(Selector, where, "placed in spite of %s", strings.Join(s.Unsupported, ", "))
		}
	}
	l := &load{node: n, specs: specs, sum: model.Resources{}}
	for _, s := range specs {
		demand(l.sum, s)
	}
	for key := range n.Labels {
		if !v.defines(pool, key) {
			v.report(PoolRequirements, where, "label %s is not the pool's to choose", key)
		}
	}
	for k, o := range n.Options {
		v.option(where, l, o)
		if k > 0 && o.Effective < n.Options[k-1].Effective {
			v.report(Offering, where, "options are not in order of effective cost")
		}
	}
	v.variety(where, n)
}

func (v *verifier) specs(pods []int32) []*model.PodSpec {
	out := make([]*model.PodSpec, 0, len(pods))
	for _, i := range pods {
		if v.pod(i) != nil {
			out = append(out, v.spec(i))
		}
	}
	return out
}

// company proves that the pods can share a node as far as ports go, and that
// none collides with the ports taken already.
func (v *verifier) company(where string, specs []*model.PodSpec, taken [][]model.HostPort) {
	for _, s := range specs {
		if len(s.HostPorts) == 0 {
			continue
		}
		for _, other := range taken {
			if collide(s.HostPorts, other) {
				v.report(Ports, where, "host port %d is taken twice", s.HostPorts[0].Port)
			}
		}
		taken = append(taken, s.HostPorts)
	}
}

// load is what a planned node carries.
type load struct {
	node  *model.PlannedNode
	specs []*model.PodSpec
	sum   model.Resources
}

// option proves one option of a node.
func (v *verifier) option(where string, l *load, o model.Option) {
	n := l.node
	chosen := fmt.Sprint(n.Labels) // maps print in order of their keys
	b := v.blueprint(launch{n.Pool, o.InstanceType, o.Zone, o.CapacityType, chosen}, n.Labels)
	what := o.InstanceType + " " + o.Zone + " " + string(o.CapacityType)
	if b.broken != "" {
		v.report(b.kind, where, "%s: %s", what, b.broken)
		return
	}
	if b.price != o.Price {
		v.report(Offering, where, "%s costs %s, not %s", what, b.price, o.Price)
	}
	v.pods(where+": "+what, l, b)
	for name, need := range l.sum {
		if need > 0 && need+b.daemons[name] > b.alloc[name] {
			v.report(Resources, where, "%s: %d of %s needed, DaemonSets take %d of %d",
				what, need, name, b.daemons[name], b.alloc[name])
		}
	}
	for _, d := range v.c.Denied {
		if d.Pool == n.Pool && (d.InstanceType == "" || d.InstanceType == o.InstanceType) &&
			(d.Zone == "" || d.Zone == o.Zone) && (d.CapacityType == "" || d.CapacityType == o.CapacityType) {
			v.report(Refused, where, "%s was denied", what)
		}
	}
	if v.c.Excluded != nil && v.c.Excluded(n.Pool, o) {
		v.report(Excluded, where, "%s was dropped by a rank policy", what)
	}
}

// variety proves that the options keep the pool's minValues.
func (v *verifier) variety(where string, n *model.PlannedNode) {
	if v.s.Settings.RelaxMinValues {
		return
	}
	for _, r := range v.s.Pools[n.Pool].Requirements {
		different := map[string]bool{}
		for _, o := range n.Options {
			b := v.blueprint(launch{n.Pool, o.InstanceType, o.Zone, o.CapacityType, fmt.Sprint(n.Labels)}, n.Labels)
			if value, ok := b.labels.values[r.Key]; ok {
				different[value] = true
			}
		}
		if len(different) < r.MinValues {
			v.report(MinValues, where, "the options have %d values of %s, the pool wants %d", len(different), r.Key, r.MinValues)
		}
	}
}

// pods proves that each pod may run on such a node.
func (v *verifier) pods(where string, l *load, b *blueprint) {
	for _, s := range l.specs {
		if !b.labels.admits(s) {
			v.report(Selector, where, "not what a pod of namespace %s asks for", s.Namespace)
		}
		for _, ports := range b.ports {
			if collide(s.HostPorts, ports) {
				v.report(Ports, where, "a DaemonSet holds a host port")
			}
		}
	}
}

// blueprint derives the node that a launch gives, once for each launch.
func (v *verifier) blueprint(l launch, chosen map[string]string) *blueprint {
	if b, ok := v.nodes[l]; ok {
		return b
	}
	b := v.derive(l, chosen)
	v.nodes[l] = b
	return b
}

func (v *verifier) derive(l launch, chosen map[string]string) *blueprint {
	t := v.instanceType(l.pool, l.typ)
	if t == nil {
		return &blueprint{kind: Offering, broken: "the pool's catalogue has no such instance type"}
	}
	var sold *model.Offering
	for i := range t.Offerings {
		if t.Offerings[i].Zone == l.zone && t.Offerings[i].CapacityType == l.capacityType {
			sold = &t.Offerings[i]
		}
	}
	if sold == nil || !sold.Available {
		return &blueprint{kind: Offering, broken: "not sold"}
	}
	pool := &v.s.Pools[l.pool]
	b := &blueprint{alloc: t.Allocatable, price: sold.Price, daemons: model.Resources{}}
	b.labels = v.labels(pool, t, sold, chosen)
	for _, r := range pool.Requirements {
		if !b.labels.meets(r) {
			return &blueprint{kind: PoolRequirements, broken: "the pool requires " + r.Key + " " + string(r.Operator) + " " + strings.Join(r.Values, ",")}
		}
	}
	for i := range v.s.Daemons {
		d := &v.s.Daemons[i].Spec
		if _, kept := repels(pool.Taints, d); !kept && b.labels.admits(d) {
			demand(b.daemons, d)
			b.ports = append(b.ports, d.HostPorts)
		}
	}
	return b
}

// labels are those that the node will carry: its type's, its offering's, the
// ones chosen for the pool's own keys, its template's.
func (v *verifier) labels(pool *model.Pool, t *model.InstanceType, o *model.Offering, chosen map[string]string) labelSet {
	l := labelSet{values: map[string]string{}, anonymous: true}
	set := func(key, value string) {
		if value != "" {
			l.values[key] = value
		}
	}
	set("node.kubernetes.io/instance-type", t.Name)
	set("kubernetes.io/arch", t.Arch)
	set("kubernetes.io/os", t.OS)
	maps.Copy(l.values, t.Labels)
	set("topology.kubernetes.io/zone", o.Zone)
	set("topology.k8s.aws/zone-id", o.ZoneID)
	set("karpenter.sh/capacity-type", string(o.CapacityType))
	if r := o.Reservation; r != nil {
		set("karpenter.k8s.aws/capacity-reservation-id", r.ID)
		set("karpenter.k8s.aws/capacity-reservation-type", r.Type)
		set("karpenter.k8s.aws/capacity-reservation-interruptible", r.Interruptible)
	}
	set("topology.kubernetes.io/region", v.s.Catalogs[pool.Catalog].Region)
	maps.Copy(l.values, chosen)
	maps.Copy(l.values, pool.NodeLabels)
	set("karpenter.sh/nodepool", pool.Name)
	set("karpenter.k8s.aws/ec2nodeclass", pool.NodeClass)
	return l
}

// defines says whether the pool's requirements let it choose the label.
func (v *verifier) defines(pool *model.Pool, key string) bool {
	if _, fixed := pool.NodeLabels[key]; fixed || !v.own(pool, key) {
		return false
	}
	for _, r := range pool.Requirements {
		if r.Key == key {
			return true
		}
	}
	return false
}

// own says whether a label belongs to the user: neither Kubernetes nor
// Karpenter nor any instance type of the catalogue gives it.
func (v *verifier) own(pool *model.Pool, key string) bool {
	switch key {
	case hostname, "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "topology.k8s.aws/zone-id",
		"node.kubernetes.io/instance-type", "node.kubernetes.io/windows-build", "kubernetes.io/arch", "kubernetes.io/os":
		return false
	}
	domain, _, found := strings.Cut(key, "/")
	if found && (strings.HasSuffix("."+domain, ".karpenter.sh") || strings.HasSuffix("."+domain, ".karpenter.k8s.aws")) {
		return false
	}
	if pool.Catalog < 0 || int(pool.Catalog) >= len(v.s.Catalogs) {
		return true
	}
	for i := range v.s.Catalogs[pool.Catalog].Types {
		if _, ok := v.s.Catalogs[pool.Catalog].Types[i].Labels[key]; ok {
			return false
		}
	}
	return true
}
