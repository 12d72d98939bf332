package contrast

import (
	"fmt"
	"maps"

	"spokeshave.dev/controller/core/model"
)

const hostname = "kubernetes.io/hostname"

// view is a plan as it will be once it has come true: who is where, and with which
// labels.
type view struct {
	s    *model.Snapshot
	plan *model.Plan
	// at is the place of every pod that has one, by pod. Places are the snapshot's
	// nodes and then the plan's.
	at     map[int32]int
	labels []map[string]string
	asked  []int32
}

func newView(s *model.Snapshot, pods []int32, p *model.Plan) *view {
	v := &view{s: s, plan: p, at: map[int32]int{}, asked: pods}
	for i := range s.Nodes {
		v.labels = append(v.labels, s.Nodes[i].Labels)
	}
	for i := range s.Pods {
		if n := s.Pods[i].Node; n >= 0 && !s.NeedsPlace(&s.Pods[i]) && s.Nodes[n].State != model.InFlight {
			v.at[int32(i)] = int(n)
		}
	}
	for i := range p.Existing {
		for _, pod := range p.Existing[i].Pods {
			v.at[pod] = int(p.Existing[i].Node)
		}
	}
	for i := range p.Nodes {
		for _, pod := range p.Nodes[i].Pods {
			v.at[pod] = len(v.labels)
		}
		v.labels = append(v.labels, v.labelsOf(i))
	}
	return v
}

// labelsOf are the labels of a planned node that is launched as its first option.
func (v *view) labelsOf(i int) map[string]string {
	n := &v.plan.Nodes[i]
	pool := &v.s.Pools[n.Pool]
	out := map[string]string{}
	if len(n.Options) > 0 {
		o := &n.Options[0]
		types := v.s.Catalogs[pool.Catalog].Types
		for t := range types {
			if types[t].Name != o.InstanceType {
				continue
			}
			maps.Copy(out, types[t].Labels)
			out["kubernetes.io/arch"], out["kubernetes.io/os"] = types[t].Arch, types[t].OS
			for _, of := range types[t].Offerings {
				if of.Zone == o.Zone && of.ZoneID != "" {
					out["topology.k8s.aws/zone-id"] = of.ZoneID
				}
			}
		}
		out["topology.kubernetes.io/zone"], out["karpenter.sh/capacity-type"], out["node.kubernetes.io/instance-type"] = o.Zone, string(o.CapacityType), o.InstanceType
	}
	maps.Copy(out, pool.NodeLabels)
	maps.Copy(out, n.Labels)
	out["karpenter.sh/nodepool"], out[hostname] = pool.Name, fmt.Sprintf("new-%d", i)
	return out
}

// placed reports whether the plan has a place for an asked pod.
func (v *view) placed(pod int32) bool { _, ok := v.at[pod]; return ok }

func (v *view) spec(pod int32) *model.PodSpec { return &v.s.Specs[v.s.Pods[pod].Spec] }

func (v *view) summary(other *view) Summary {
	out := Summary{Nodes: len(v.plan.Nodes)}
	for i := range v.plan.Nodes {
		if o := v.plan.Nodes[i].Options; len(o) > 0 {
			out.USD += o[0].Price.USD() + v.s.NodeCost(v.plan.Nodes[i].Pool).USD()
		}
	}
	for _, pod := range v.asked {
		if !v.placed(pod) {
			continue
		}
		out.Placed++
		if other.placed(pod) {
			out.Preferences += v.met(pod)
		}
	}
	return out
}

// met counts the preferences of a placed pod that the end state meets.
func (v *view) met(pod int32) int {
	p, n := v.spec(pod), 0
	labels := v.labels[v.at[pod]]
	for i := range p.Preferred {
		if model.MeetAll(labels, p.Preferred[i].Term) {
			n++
		}
	}
	for i := range p.PreferredPods {
		if v.near(pod, &p.PreferredPods[i].Term) > 0 {
			n++
		}
	}
	for i := range p.PreferredApart {
		if v.near(pod, &p.PreferredApart[i].Term) == 0 {
			n++
		}
	}
	for i := range p.Spread {
		if c := &p.Spread[i]; c.Soft && v.even(pod, c) {
			n++
		}
	}
	return n
}

// near counts the other pods that a term selects in the pod's domain.
func (v *view) near(pod int32, t *model.PodTerm) int {
	domain, ok := v.labels[v.at[pod]][t.Key]
	if !ok {
		return 0
	}
	n := 0
	for other, at := range v.at {
		if d, ok := v.labels[at][t.Key]; ok && d == domain && other != pod && t.Selector.Matches(v.spec(other).Namespace, v.spec(other).Labels) {
			n++
		}
	}
	return n
}

// even reports whether the pod's domain has at most MaxSkew more pods than any domain
// that has a node.
func (v *view) even(pod int32, c *model.Spread) bool {
	domain, ok := v.labels[v.at[pod]][c.Key]
	if !ok {
		return false
	}
	counts := v.counts(c.Key, &c.Selector)
	for _, n := range counts {
		if counts[domain]-n > int(c.MaxSkew) {
			return false
		}
	}
	return true
}

// counts are the selected pods by domain; a domain without any counts 0 if a node
// with pods is in it.
func (v *view) counts(key string, sel *model.PodSelector) map[string]int {
	out := map[string]int{}
	for pod, at := range v.at {
		domain, ok := v.labels[at][key]
		if !ok {
			continue
		}
		out[domain] += 0
		if p := v.spec(pod); sel.Matches(p.Namespace, p.Labels) {
			out[domain]++
		}
	}
	return out
}
