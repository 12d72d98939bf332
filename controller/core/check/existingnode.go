package check

import (
	"maps"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// proveAssignment proves the pods that the plan puts on a node that exists or is
// being launched, without regard to other nodes.
func (p *proof) proveAssignment(i int) {
	a := &p.plan.Existing[i]
	if a.Node < 0 || int(a.Node) >= len(p.snapshot.Nodes) {
		p.reject(BadReference, "assignment", "node %d does not exist", a.Node)
		return
	}
	n := &p.snapshot.Nodes[a.Node]
	if n.State == model.Deleting {
		p.reject(Accounting, n.Name, "the node is being deleted")
	}
	labels, taints := p.labelsOf(n), p.lastingTaints(n)
	pods := p.specsForPods(a.Pods)
	for _, pod := range pods {
		if !labels.selectedBy(pod) {
			p.reject(Selector, n.Name, "the labels are not what a pod of namespace %s asks for", pod.Namespace)
		}
		p.proveTolerated(n.Name, pod, taints)
	}
	inUse, portsInUse := p.usedOn(a.Node, &labels, taints)
	p.provePortsFree(n.Name, pods, portsInUse)
	for name, more := range useOf(pods) {
		if more > 0 && more+inUse[name] > n.Allocatable[name] {
			p.reject(Resources, n.Name, "pods request %d of %s, and %d of %d are in use", more, name, inUse[name], n.Allocatable[name])
		}
	}
}

// usedOn is what the pods that stay on a node request, together with the
// DaemonSet pods that are still to start there, and the host ports of both.
func (p *proof) usedOn(node int32, labels *labelView, taints []model.Taint) (sum model.Resources, portsInUse [][]model.HostPort) {
	sum = model.Resources{}
	take := func(pod *model.PodSpec) {
		addRequests(sum, pod)
		portsInUse = append(portsInUse, pod.HostPorts)
	}
	started := map[int]bool{}
	for _, i := range p.podsStaying(node) {
		pod := &p.snapshot.Pods[i]
		take(&p.snapshot.Specs[pod.Spec])
		for d := range p.snapshot.Daemons {
			if pod.Daemon && createdBy(pod, &p.snapshot.Daemons[d]) {
				started[d] = true
			}
		}
	}
	for d := range p.snapshot.Daemons {
		pod := &p.snapshot.Daemons[d].Spec
		if !started[d] && untoleratedBy(pod, taints) == nil && labels.selectedBy(pod) {
			take(pod)
		}
	}
	return sum, portsInUse
}

// podsStaying lists the pods that run on a node and that the plan does not place anew.
func (p *proof) podsStaying(node int32) []int32 {
	if p.boundPods == nil {
		p.boundPods = make([][]int32, len(p.snapshot.Nodes))
		for i := range p.snapshot.Pods {
			pod := p.podAt(int32(i))
			if pod != nil && pod.Node >= 0 && int(pod.Node) < len(p.snapshot.Nodes) && !p.replaced[int32(i)] {
				p.boundPods[pod.Node] = append(p.boundPods[pod.Node], int32(i))
			}
		}
	}
	return p.boundPods[node]
}

// longestGenerated is how many bytes of its owner's name a generated pod name keeps.
const longestGenerated = 57

// createdBy says whether the pod's name is one that the DaemonSet gives its
// pods: its own name, cut where it is too long, a dash and five characters.
func createdBy(pod *model.Pod, d *model.DaemonSet) bool {
	dash := strings.LastIndexByte(pod.Name, '-')
	return dash >= 0 && pod.Namespace == d.Namespace && pod.Name[:dash] == d.Name[:min(len(d.Name), longestGenerated)]
}

// lastingTaints are the taints that a node keeps. One that is starting loses its
// NodePool's startup taints and those of the node lifecycle.
func (p *proof) lastingTaints(n *model.Node) []model.Taint {
	if n.State != model.InFlight && n.State != model.Registered {
		return n.Taints
	}
	removed := map[model.Taint]bool{}
	if pool := p.poolAt(n.Pool); pool != nil {
		for _, t := range pool.StartupTaints {
			removed[model.Taint{Key: t.Key, Effect: t.Effect}] = true
		}
	}
	var out []model.Taint
	for _, t := range n.Taints {
		switch t.Key {
		case "karpenter.sh/unregistered", "node.cloudprovider.kubernetes.io/uninitialized",
			"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.kubernetes.io/network-unavailable":
			continue
		}
		if strings.HasPrefix(t.Key, "readiness.k8s.io/") { // a node readiness rule removes it
			continue
		}
		if !removed[model.Taint{Key: t.Key, Effect: t.Effect}] {
			out = append(out, t)
		}
	}
	return out
}

// labelsOf are a node's labels. What a node that is being launched does not say
// yet follows from its NodeClaim and instance type.
func (p *proof) labelsOf(n *model.Node) labelView {
	l := labelView{values: maps.Clone(n.Labels)}
	if l.values == nil {
		l.values = map[string]string{}
	}
	setDefault := func(key, value string) {
		if _, set := l.values[key]; !set && value != "" {
			l.values[key] = value
		}
	}
	setDefault(hostnameKey, n.Name)
	setDefault("topology.kubernetes.io/zone", n.Zone)
	setDefault("karpenter.sh/capacity-type", string(n.CapacityType))
	setDefault("node.kubernetes.io/instance-type", n.InstanceType)
	if pool := p.poolAt(n.Pool); pool != nil {
		setDefault("karpenter.sh/nodepool", pool.Name)
	}
	if n.State != model.InFlight {
		return l
	}
	if t := p.typeNamed(n.Pool, n.InstanceType); t != nil {
		for key, value := range t.Labels {
			setDefault(key, value)
		}
		setDefault("kubernetes.io/arch", t.Arch)
		setDefault("kubernetes.io/os", t.OS)
	}
	return l
}
