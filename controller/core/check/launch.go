package check

import (
	"fmt"
	"maps"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// launchChoice names one way to launch a node. picked is PlannedNode.Labels as text.
type launchChoice struct {
	pool           int32
	typeName, zone string
	buyAs          model.CapacityType
	picked         string
}

// launchedNode is what a launch gives: labels, allocatable resources, and the
// DaemonSet pods that will run there.
type launchedNode struct {
	labels      labelView
	allocatable model.Resources
	price       model.Price
	// daemons run there, and use that much together.
	daemons   []*model.PodSpec
	daemonUse model.Resources
	// defect, when set, says why such a node cannot be launched; brokenRule is the
	// rule that this breaks.
	brokenRule Kind
	defect     string
}

// picksOf is the text by which launchChoice tells chosen labels apart.
func picksOf(n *model.PlannedNode) string {
	if len(n.Labels) == 0 {
		return ""
	}
	return fmt.Sprint(n.Labels) // maps print in the order of their keys
}

// launchedAs is the node that an option of a planned node gives.
func (p *proof) launchedAs(n *model.PlannedNode, picked string, o *model.Option) *launchedNode {
	key := launchChoice{n.Pool, o.InstanceType, o.Zone, o.CapacityType, picked}
	out, ok := p.launched[key]
	if !ok {
		out = p.deriveLaunch(&key, n.Labels)
		p.launched[key] = out
	}
	return out
}

// typeNamed is the instance type of a pool's catalogue, nil when it has none of
// the name.
func (p *proof) typeNamed(pool int32, name string) *model.InstanceType {
	of := p.poolAt(pool)
	if of == nil || of.Catalog < 0 || int(of.Catalog) >= len(p.snapshot.Catalogs) {
		return nil
	}
	types := p.snapshot.Catalogs[of.Catalog].Types
	for i := range types {
		if types[i].Name == name {
			return &types[i]
		}
	}
	return nil
}

func (p *proof) deriveLaunch(c *launchChoice, picks map[string]string) *launchedNode {
	t := p.typeNamed(c.pool, c.typeName)
	if t == nil {
		return &launchedNode{brokenRule: Offering, defect: "the pool's catalogue has no such instance type"}
	}
	var sold *model.Offering
	for i := range t.Offerings {
		if o := &t.Offerings[i]; o.Zone == c.zone && o.CapacityType == c.buyAs {
			sold = o
		}
	}
	if sold == nil || !sold.Available {
		return &launchedNode{brokenRule: Offering, defect: "it is not for sale"}
	}
	pool := &p.snapshot.Pools[c.pool]
	out := &launchedNode{
		labels: p.labelsOfLaunch(pool, t, sold, picks), allocatable: t.Allocatable, price: sold.Price, daemonUse: model.Resources{},
	}
	for i := range pool.Requirements {
		if r := &pool.Requirements[i]; !out.labels.meetsExpression(r) {
			return &launchedNode{brokenRule: PoolRequirements, defect: fmt.Sprintf("the pool requires %s %s %s", r.Key, r.Operator, strings.Join(r.Values, ","))}
		}
	}
	for i := range p.snapshot.Daemons {
		d := &p.snapshot.Daemons[i].Spec
		if untoleratedBy(d, pool.Taints) == nil && out.labels.selectedBy(d) {
			addRequests(out.daemonUse, d)
			out.daemons = append(out.daemons, d)
		}
	}
	return out
}

// labelsOfLaunch are the labels that the node will carry. Where several sources
// name one label, the later wins: instance type, offering, catalogue, the labels
// that the plan picks, the NodePool's template, the NodePool itself.
func (p *proof) labelsOfLaunch(pool *model.Pool, t *model.InstanceType, o *model.Offering, picks map[string]string) labelView {
	l := labelView{values: make(map[string]string, len(t.Labels)+len(pool.NodeLabels)+len(picks)+12), unnamed: true}
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
	set("topology.kubernetes.io/region", p.snapshot.Catalogs[pool.Catalog].Region)
	maps.Copy(l.values, picks)
	maps.Copy(l.values, pool.NodeLabels)
	set("karpenter.sh/nodepool", pool.Name)
	set("karpenter.k8s.aws/ec2nodeclass", pool.NodeClass)
	return l
}

// mayPick says whether a plan may pick the value of a label for the pool's nodes:
// a requirement of the pool names it, its template does not set it, and it is a
// label of the user's own, which neither Kubernetes nor Karpenter nor an
// instance type of the catalogue sets.
func (p *proof) mayPick(pool *model.Pool, key string) bool {
	required := false
	for i := range pool.Requirements {
		required = required || pool.Requirements[i].Key == key
	}
	if _, set := pool.NodeLabels[key]; set || !required || wellKnownLabel(key) {
		return false
	}
	if pool.Catalog < 0 || int(pool.Catalog) >= len(p.snapshot.Catalogs) {
		return true
	}
	types := p.snapshot.Catalogs[pool.Catalog].Types
	for i := range types {
		if _, set := types[i].Labels[key]; set {
			return false
		}
	}
	return true
}

// wellKnownLabel says whether Kubernetes ("Well-Known Labels, Annotations and
// Taints") or Karpenter sets the label.
func wellKnownLabel(key string) bool {
	switch key {
	case hostnameKey, "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "topology.k8s.aws/zone-id",
		"node.kubernetes.io/instance-type", "node.kubernetes.io/windows-build", "kubernetes.io/arch", "kubernetes.io/os":
		return true
	}
	prefix, _, found := strings.Cut(key, "/")
	return found && (strings.HasSuffix("."+prefix, ".karpenter.sh") || strings.HasSuffix("."+prefix, ".karpenter.k8s.aws"))
}
