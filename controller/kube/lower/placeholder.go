package lower

import (
	"cmp"
	"fmt"
	"slices"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// placeholderNamespace is the namespace of placeholders. Kubernetes allows no namespace
// of this name, so it cannot clash with one.
const placeholderNamespace = "karpenter.sh/static"

const staticCapacityOff = "the NodePool is static (spec.replicas), which needs the feature gate StaticCapacity"

// mostNewReplicas is how many nodes of a static pool one decision may launch. Others follow.
const mostNewReplicas = 1000

// placeholders adds one pod for each replica of a static pool, up to mostNewReplicas more than it has nodes. They are placed on the
// pool's existing nodes first, with nodes that a command is about to remove last; the
// rest are pending.
func (b *builder) placeholders() {
	for at := range b.out.Pools {
		p := &b.out.Pools[at]
		if p.Replicas == nil || p.NotReady != "" {
			continue
		}
		live := b.liveNodes(int32(at))
		spec := int32(len(b.out.Specs))
		b.out.Specs = append(slices.Clip(b.out.Specs), placeholder(p.Name))
		for k := range min(*p.Replicas, int64(len(live)+mostNewReplicas)) {
			node := int32(-1)
			if int(k) < len(live) {
				node = live[k]
			}
			b.out.Pods = append(b.out.Pods, model.Pod{
				UID: fmt.Sprintf("%s/%s-%d", placeholderNamespace, p.Name, k), Namespace: placeholderNamespace,
				Name: fmt.Sprintf("%s-%d", p.Name, k), Spec: spec, Node: node, Created: b.nodePools[at].CreationTimestamp.UTC(),
			})
		}
	}
}

// liveNodes returns the indices of the pool's nodes that are not being deleted; those with a
// command come last.
func (b *builder) liveNodes(pool int32) []int32 {
	var out []int32
	for i := range b.out.Nodes {
		n := &b.out.Nodes[i]
		if n.Pool == pool && n.Claim != "" && n.State != model.Deleting {
			out = append(out, int32(i))
		}
	}
	leaving := func(i int32) int {
		if b.out.Nodes[i].Command != nil {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(x, y int32) int { return cmp.Compare(leaving(x), leaving(y)) })
	return out
}

// placeholder returns the spec of a pool's placeholders. It requests no resources, and
// one host port that only placeholders use, so that no node holds two.
func placeholder(pool string) model.PodSpec {
	return model.PodSpec{
		Namespace: placeholderNamespace, Requests: model.Resources{},
		NodeSelector: map[string]string{karpv1.LabelNodePool: pool},
		Tolerations:  []model.Toleration{{Key: model.Placeholder, Exists: true}, {Exists: true}},
		HostPorts:    []model.HostPort{{Protocol: model.Placeholder, Port: 1}},
	}
}
