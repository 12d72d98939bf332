package lower

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// moves lists the pods that are not on the node where they are planned to be: pods for
// which a node keeps room, and pods on nodes of a command whose replacements are being
// launched.
func (b *builder) moves(unbound []plannedPod) {
	for _, e := range unbound {
		if to := b.out.Pods[e.index].Node; to != e.boundTo && to >= 0 {
			b.out.Moves = append(b.out.Moves, model.Move{Pod: int32(e.index), From: e.boundTo, To: to})
		}
	}
	targets := b.replacementNodes()
	if len(targets) == 0 {
		return
	}
	for i := range b.out.Pods {
		p := &b.out.Pods[i]
		if p.Node < 0 || b.out.Nodes[p.Node].Command == nil || p.Daemon || p.Ending || p.Final {
			continue
		}
		if to, ok := targets[p.Key()]; ok && slices.Contains(b.out.Nodes[p.Node].Command.Replacements, b.out.Nodes[to].Claim) {
			b.out.Moves = append(b.out.Moves, model.Move{Pod: int32(i), From: p.Node, To: to})
		}
	}
	slices.SortFunc(b.out.Moves, func(x, y model.Move) int { return cmp.Compare(x.Pod, y.Pod) })
}

// replacementNodes returns the nodes onto which replacements under way plan pods, by
// namespace/name of the pods. Pods of nodes that are being deleted are not listed: pods
// has placed those already.
func (b *builder) replacementNodes() map[string]int32 {
	out, seen := map[string]int32{}, map[int32]bool{}
	for i := range b.out.Nodes {
		n := &b.out.Nodes[i]
		if n.Command == nil || n.State == model.Deleting {
			continue
		}
		for _, claim := range n.Command.Replacements { // the same for all nodes of a command
			at, ok := b.claimAt[claim]
			if !ok || seen[at] || b.out.Nodes[at].State == model.Deleting {
				continue
			}
			seen[at] = true
			for _, key := range PlannedPods(b.claims[at]) {
				out[key] = at
			}
		}
	}
	return out
}
