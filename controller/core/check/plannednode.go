package check

import (
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// provePlannedNode proves a planned node without regard to other nodes: each
// option is for sale at its price and allowed, and each holds all the pods.
func (p *proof) provePlannedNode(i int) {
	n, where := &p.plan.Nodes[i], p.titleOf(i)
	pool := p.poolAt(n.Pool)
	if pool == nil {
		p.reject(BadReference, where, "pool %d does not exist", n.Pool)
		return
	}
	if pool.NotReady != "" {
		p.reject(PoolRequirements, where, "the pool is not ready: %s", pool.NotReady)
	}
	if len(n.Options) == 0 {
		p.reject(Offering, where, "there is no option")
	}
	if len(n.Pods) == 0 {
		p.reject(Accounting, where, "no pod needs the node")
	}
	pods := p.specsForPods(n.Pods)
	p.provePortsFree(where, pods, nil)
	for _, pod := range pods {
		p.proveTolerated(where, pod, pool.Taints)
	}
	for key := range n.Labels {
		if !p.mayPick(pool, key) {
			p.reject(PoolRequirements, where, "label %s is not for the plan to pick", key)
		}
	}
	picked, podUse := picksOf(n), useOf(pods)
	for k := range n.Options {
		p.proveOption(where, n, picked, &n.Options[k], pods, podUse)
		if k > 0 && n.Options[k].Effective < n.Options[k-1].Effective {
			p.reject(Offering, where, "options are not in order of effective cost")
		}
	}
	p.proveMinValues(where, n, picked)
	p.proveRequestSum(where, n, picked, podUse)
}

func useOf(pods []*model.PodSpec) model.Resources {
	sum := model.Resources{}
	for _, pod := range pods {
		addRequests(sum, pod)
	}
	return sum
}

// proveTolerated proves that taints do not keep the pod off, and that the model
// expresses all that the pod requires.
func (p *proof) proveTolerated(where string, pod *model.PodSpec, taints []model.Taint) {
	if t := untoleratedBy(pod, taints); t != nil {
		p.reject(Taints, where, "taint %s:%s is not tolerated by a pod of namespace %s", t.Key, t.Effect, pod.Namespace)
	}
	if len(pod.Unsupported) > 0 {
		p.reject(Selector, where, "a pod is placed in spite of %s", strings.Join(pod.Unsupported, ", "))
	}
}

// proveOption proves one option of a planned node with these pods, which request
// use together.
func (p *proof) proveOption(where string, n *model.PlannedNode, picked string, o *model.Option, pods []*model.PodSpec, podUse model.Resources) {
	node := p.launchedAs(n, picked, o)
	reject := func(kind Kind, format string, args ...any) {
		p.reject(kind, where+": "+o.InstanceType+" "+o.Zone+" "+string(o.CapacityType), format, args...)
	}
	if node.defect != "" {
		reject(node.brokenRule, "%s", node.defect)
		return
	}
	if node.price != o.Price {
		reject(Offering, "the price is %s, not %s", node.price, o.Price)
	}
	for _, pod := range pods {
		if !node.labels.selectedBy(pod) {
			reject(Selector, "the labels are not what a pod of namespace %s asks for", pod.Namespace)
		}
		for _, d := range node.daemons {
			if portsOverlap(pod.HostPorts, d.HostPorts) {
				reject(Ports, "a DaemonSet uses a pod's host port")
			}
		}
	}
	for name, amount := range podUse {
		if amount > 0 && amount+node.daemonUse[name] > node.allocatable[name] {
			reject(Resources, "pods request %d of %s and DaemonSets %d, of %d", amount, name, node.daemonUse[name], node.allocatable[name])
		}
	}
	for _, namespace := range p.deniedTo(n.Pool, o, pods) {
		reject(Refused, "a ceiling policy denied it to pods of namespace %s", namespace)
	}
	if p.given.Excluded != nil && p.given.Excluded(n.Pool, *o) {
		reject(Excluded, "a rank policy excluded it")
	}
}

// deniedTo returns a namespace with one of the pods for each denial that forbids it the
// option.
func (p *proof) deniedTo(pool int32, o *model.Option, pods []*model.PodSpec) []string {
	var out []string
	for i := range p.given.Denied {
		d := &p.given.Denied[i]
		at := slices.IndexFunc(pods, func(pod *model.PodSpec) bool { return forbids(d, pod.Namespace, pool, o) })
		if at >= 0 {
			out = append(out, pods[at].Namespace)
		}
	}
	return out
}

// proveMinValues proves that the options have as many values of each label as
// the pool's minValues ask for.
func (p *proof) proveMinValues(where string, n *model.PlannedNode, picked string) {
	if p.snapshot.Settings.RelaxMinValues {
		return
	}
	for _, r := range p.snapshot.Pools[n.Pool].Requirements {
		if r.MinValues == 0 {
			continue
		}
		distinct := map[string]bool{}
		for k := range n.Options {
			if value, present := p.launchedAs(n, picked, &n.Options[k]).labels.values[r.Key]; present {
				distinct[value] = true
			}
		}
		if len(distinct) < r.MinValues {
			p.reject(MinValues, where, "the options have %d values of %s, the pool wants %d", len(distinct), r.Key, r.MinValues)
		}
	}
}

// proveRequestSum proves that PlannedNode.Requests, which goes onto the NodeClaim,
// is what the pods and the DaemonSets of the first option request, at least. Pod
// slots are no request of a pod's own.
func (p *proof) proveRequestSum(where string, n *model.PlannedNode, picked string, use model.Resources) {
	if len(n.Options) == 0 {
		return
	}
	daemons := p.launchedAs(n, picked, &n.Options[0]).daemonUse
	for name, amount := range use {
		if want := amount + daemons[name]; n.Requests[name] < want && name != model.PodSlots {
			p.reject(Requests, where, "the node requests %d of %s, its pods and DaemonSets %d", n.Requests[name], name, want)
		}
	}
}
