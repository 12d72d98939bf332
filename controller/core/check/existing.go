package check

import (
	"maps"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// existing proves the pods placed on nodes that are there or on their way.
func (v *verifier) existing() {
	used := map[int32]bool{}
	for i := range v.plan.Existing {
		a := &v.plan.Existing[i]
		if a.Node < 0 || int(a.Node) >= len(v.s.Nodes) {
			v.report(BadReference, "assignment", "node %d does not exist", a.Node)
			continue
		}
		n := &v.s.Nodes[a.Node]
		if used[a.Node] {
			v.report(Accounting, n.Name, "the node is listed twice")
		}
		used[a.Node] = true
		v.assignment(a, n)
	}
}

func (v *verifier) assignment(a *model.Assignment, n *model.Node) {
	if n.State == model.Deleting {
		v.report(Accounting, n.Name, "the node is being deleted")
	}
	labels := v.nodeLabels(n)
	taints := v.lasting(n)
	specs := v.specs(a.Pods)
	need := model.Resources{}
	for _, s := range specs {
		demand(need, s)
		if !labels.admits(s) {
			v.report(Selector, n.Name, "not what a pod of namespace %s asks for", s.Namespace)
		}
		if t, yes := repels(taints, s); yes {
			v.report(Taints, n.Name, "taint %s:%s is not tolerated", t.Key, t.Effect)
		}
		if len(s.Unsupported) > 0 {
			v.report(Selector, n.Name, "placed in spite of %s", strings.Join(s.Unsupported, ", "))
		}
	}
	there, ports := v.residents(a.Node, labels, taints)
	v.company(n.Name, specs, ports)
	for name, amount := range need {
		if amount > 0 && amount+there[name] > n.Allocatable[name] {
			v.report(Resources, n.Name, "%d of %s needed, %d of %d taken", amount, name, there[name], n.Allocatable[name])
		}
	}
}

// residents sums what runs on the node and the DaemonSets still to come.
func (v *verifier) residents(node int32, labels labelSet, taints []model.Taint) (model.Resources, [][]model.HostPort) {
	sum := model.Resources{}
	var ports [][]model.HostPort
	live := func(s *model.PodSpec) {
		demand(sum, s)
		ports = append(ports, s.HostPorts)
	}
	running := map[int]bool{}
	for _, i := range v.runs(node) {
		p := v.pod(i)
		live(v.spec(i))
		for d := range v.s.Daemons {
			if p.Daemon && owns(&v.s.Daemons[d], p) {
				running[d] = true
			}
		}
	}
	for d := range v.s.Daemons {
		s := &v.s.Daemons[d].Spec
		if _, kept := repels(taints, s); !kept && !running[d] && labels.admits(s) {
			live(s)
		}
	}
	return sum, ports
}

// runs lists the pods on a node that stay there.
func (v *verifier) runs(node int32) []int32 {
	if v.byNode == nil {
		v.byNode = map[int32][]int32{}
		for i := range v.s.Pods {
			if p := v.pod(int32(i)); p != nil && !v.moving[int32(i)] {
				v.byNode[p.Node] = append(v.byNode[p.Node], int32(i))
			}
		}
	}
	return v.byNode[node]
}

// owns says whether the pod is named as the DaemonSet names its pods: its own
// name, cut to 57 bytes, and a random word.
func owns(d *model.DaemonSet, p *model.Pod) bool {
	dash := strings.LastIndexByte(p.Name, '-')
	if dash < 0 || p.Namespace != d.Namespace {
		return false
	}
	return p.Name[:dash] == d.Name || len(d.Name) > 57 && p.Name[:dash] == d.Name[:57]
}

// lasting are the taints that stay: a starting node loses those of its start.
func (v *verifier) lasting(n *model.Node) []model.Taint {
	starting := n.State == model.InFlight || n.State == model.Registered
	var out []model.Taint
	for _, t := range n.Taints {
		if starting && (v.startup(n, t) || t.Key == "karpenter.sh/unregistered" ||
			t.Key == "node.kubernetes.io/not-ready" || t.Key == "node.kubernetes.io/unreachable" ||
			t.Key == "node.kubernetes.io/network-unavailable" || t.Key == "node.cloudprovider.kubernetes.io/uninitialized") {
			continue
		}
		out = append(out, t)
	}
	return out
}

func (v *verifier) startup(n *model.Node, t model.Taint) bool {
	if n.Pool < 0 || int(n.Pool) >= len(v.s.Pools) {
		return false
	}
	for _, s := range v.s.Pools[n.Pool].StartupTaints {
		if s.Key == t.Key && s.Effect == t.Effect {
			return true
		}
	}
	return false
}

// nodeLabels are the node's labels; what a node that is still coming does not
// say yet follows from its instance type.
func (v *verifier) nodeLabels(n *model.Node) labelSet {
	l := labelSet{values: map[string]string{}}
	set := func(key, value string) {
		if _, there := l.values[key]; !there && value != "" {
			l.values[key] = value
		}
	}
	maps.Copy(l.values, n.Labels)
	set(hostname, n.Name)
	set("topology.kubernetes.io/zone", n.Zone)
	set("karpenter.sh/capacity-type", string(n.CapacityType))
	set("node.kubernetes.io/instance-type", n.InstanceType)
	if n.Pool >= 0 && int(n.Pool) < len(v.s.Pools) {
		set("karpenter.sh/nodepool", v.s.Pools[n.Pool].Name)
	}
	if t := v.instanceType(n.Pool, n.InstanceType); t != nil && n.State == model.InFlight {
		for k := range t.Labels {
			set(k, t.Labels[k])
		}
		set("kubernetes.io/arch", t.Arch)
		set("kubernetes.io/os", t.OS)
	}
	return l
}
